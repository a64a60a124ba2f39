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

/// Returns the name of the output that addObserved() adds for value number
/// `number` (qnn::listValues).
std::string getObservedName(size_t number);

/// Adds the values with these numbers to the results of a function, after its
/// own results.
void addObserved(mlir::func::FuncOp function, llvm::ArrayRef<size_t> numbers);

/// Returns the numbers of the values of a plan whose ranges have to be
/// observed: all except for those that take the range of another value.
llvm::SmallVector<size_t> listObserved(mlir::func::FuncOp function,
                                       const Plan &plan);

/// Replaces the last `count` results of a function, which are float tensors, by
/// the values that integer layers read: rounded by the quantization and
/// dequantization that follow. Float layers read the tensors themselves.
void returnDequantized(mlir::func::FuncOp function, size_t count);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_OBSERVEDMODULE_H
