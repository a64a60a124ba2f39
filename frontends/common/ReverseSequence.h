//===- ReverseSequence.h - Reversal of sequences of given lengths ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H
#define NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns `x` with the first `lengths[b]` elements of its axis `time` in
/// reverse order for each index b of its axis `batch`, and all other elements
/// unchanged. The lengths are integers. Lengths that are only known at run time
/// are clamped to the size of the axis. Returns null after an error if the
/// operands do not fit.
mlir::Value reverseSequence(LayerBuilder &layer, mlir::Value x,
                            mlir::Value lengths, int64_t time, int64_t batch);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H
