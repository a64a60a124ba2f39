//===- StridedSlice.h - Strided slices with masks -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_STRIDEDSLICE_H
#define NNC_FRONTENDS_COMMON_STRIDEDSLICE_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The operands and attributes of StridedSlice, with which TensorFlow and
/// TFLite write x[i, a:b:c, ..., None]. Each list has an entry for each item
/// between the brackets; bit i of a mask is about entry i.
struct StridedSlice {
  llvm::SmallVector<int64_t> begins, ends, strides;
  int64_t beginMask = 0;     ///< there is no begin
  int64_t endMask = 0;       ///< there is no end
  int64_t ellipsisMask = 0;  ///< the entry is an ellipsis
  int64_t newAxisMask = 0;   ///< the entry adds an axis of one element
  int64_t shrinkMask = 0;    ///< the entry is an index, whose axis is removed
  bool endsAreSizes = false; ///< an end counts from its begin
  /// An index whose bit is set in `beginMask` is 0, as in TFLite; TensorFlow
  /// ignores that bit.
  bool masksIndices = false;

  /// Returns true if bit `entry` of a mask is set.
  static bool has(int64_t mask, size_t entry) {
    return (mask >> entry & 1) != 0;
  }
};

/// The elements that a strided slice takes.
struct SlicePlaces {
  llvm::SmallVector<int64_t> starts, sizes, steps; ///< for each axis
  /// The shape of the result, with the axes that are added and without those
  /// that are removed.
  llvm::SmallVector<int64_t> shape;

  /// Returns true if the slice takes every element of a tensor of shape `from`,
  /// in their order.
  bool areAll(llvm::ArrayRef<int64_t> from) const;
};

/// Returns the elements that `slice` takes of a tensor of shape `from`, or
/// nullopt after an error of `layer`.
std::optional<SlicePlaces> resolveSlice(LayerBuilder &layer,
                                        llvm::ArrayRef<int64_t> from,
                                        const StridedSlice &slice);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_STRIDEDSLICE_H
