//===- Strips.h - Where a function may be computed in strips ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_STRIPS_H
#define NNC_COMPILER_PASSES_STRIPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// A part of a function that nnc-patch can compute in strips. `first`, `last`
/// and `axis` are the options of that pass.
struct StripRegion {
  unsigned first, last; ///< numbers of the first and the last op
  int64_t axis, rows;   ///< axis of the result of op `last`, and its size
  /// The estimated bytes of the values of the function in use with strips of
  /// one row.
  int64_t leastBytes;
};

/// Returns the regions of an imported function with which it may keep to
/// `limit` bytes, those with the fewest convolutions and pools first. A region
/// qualifies if the operand and the result of the whole region fit, and those
/// of each convolution and pool outside of it. Layers that write over their
/// operand may need less.
llvm::SmallVector<StripRegion> findStripRegions(mlir::func::FuncOp function,
                                                int64_t limit);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_STRIPS_H
