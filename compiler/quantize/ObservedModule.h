//===- ObservedModule.h - Values of a module as further outputs -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_OBSERVEDMODULE_H
#define NNC_COMPILER_QUANTIZE_OBSERVEDMODULE_H

#include "compiler/quantize/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace nnc::quantize {

/// Returns the name that a value has as an output of a module that observes it,
/// by its number (qnn::listValues).
std::string getObservedName(size_t number);

/// Makes a function return the values of these numbers behind its own results.
void addObserved(mlir::func::FuncOp function, llvm::ArrayRef<size_t> numbers);

/// Returns the numbers of the values of a plan whose ranges have to be known:
/// all but those that have the range of another value.
llvm::SmallVector<size_t> listObserved(mlir::func::FuncOp function,
                                       const Plan &plan);

/// Lets a function whose last `count` results are float tensors return them as
/// integer layers read them, rounded by the quantization and dequantization
/// that follow. Float layers read the same tensors without that.
void returnDequantized(mlir::func::FuncOp function, size_t count);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_OBSERVEDMODULE_H
