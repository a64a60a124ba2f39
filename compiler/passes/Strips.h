//===- Strips.h - Where a function may be computed in strips ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_STRIPS_H
#define NNC_COMPILER_PASSES_STRIPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// A part of a function that nnc-patch can compute in strips, with the options
/// of that pass.
struct StripRegion {
  unsigned first, last; ///< numbers of ops
  int64_t axis, rows;   ///< of the result
  /// An estimate of the bytes that the function takes with strips of one row.
  int64_t leastBytes;
};

/// Returns the regions that may bring a function, before any pass, into `limit`
/// bytes, the smallest first: outside of them each convolution and pool has
/// room for its operand and result, and inside for what the region reads and
/// its result. Layers that write over their operand may need less.
llvm::SmallVector<StripRegion> findStripRegions(mlir::func::FuncOp function,
                                                int64_t limit);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_STRIPS_H
