//===- Results.h - Values added to a module's outputs -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_RESULTS_H
#define NNC_COMPILER_QUANTIZE_RESULTS_H

#include "dialects/nn/Nn.h"

#include <string>

namespace nnc::quantize {

/// Adds values to the results of a function, after its own ones, as outputs
/// with the given names.
void addResults(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> values,
                llvm::ArrayRef<std::string> names);

/// Returns the number of results of a function that are outputs of the model
/// rather than next values of its state.
size_t countOutputs(mlir::func::FuncOp function);

/// Returns true if the output named `output` is the result of a softmax,
/// possibly reshaped.
bool isSoftmax(mlir::func::FuncOp function, llvm::StringRef output);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_RESULTS_H
