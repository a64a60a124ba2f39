//===- Quotients.h - Numbers of windows along axes that vary ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_QUOTIENTS_H
#define NNC_COMPILER_SIZES_QUOTIENTS_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Adds to the finder the numbers of windows of the convolutions and pools in
/// imported modules, the first of which has the largest sizes, where a stride
/// does not divide the length of an axis: (size + 1) / 2, for example. They
/// follow from strides and padding, because a few samples cannot tell how such
/// a number is rounded.
void noteQuotients(llvm::ArrayRef<mlir::ModuleOp> modules,
                   ExpressionFinder &finder);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_QUOTIENTS_H
