//===- Results.h - Values that a run of a module shows ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_RESULTS_H
#define NNC_COMPILER_QUANTIZE_RESULTS_H

#include "dialects/nn/Nn.h"

#include <string>

namespace nnc::quantize {

/// Adds values to the results of a function, behind its own ones, as outputs of
/// these names.
void addResults(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> values,
                llvm::ArrayRef<std::string> names);

/// Returns how many results of a function are outputs of the model, not the
/// next values of its state.
size_t countOutputs(mlir::func::FuncOp function);

/// Whether the output of that name is the result of a softmax, perhaps in
/// another shape.
bool isSoftmax(mlir::func::FuncOp function, llvm::StringRef output);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_RESULTS_H
