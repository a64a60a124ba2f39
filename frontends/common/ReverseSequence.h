//===- ReverseSequence.h - The starts of sequences backwards --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H
#define NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns x with the first `lengths[b]` elements of its axis `time` in reverse
/// order for each index b of its axis `batch`, and the others as they are. The
/// lengths are integers; those that are only known at run time are taken for
/// the nearest one that the axis has. Null, and a report, for operands that do
/// not fit.
mlir::Value reverseSequence(LayerBuilder &layer, mlir::Value x,
                            mlir::Value lengths, int64_t time, int64_t batch);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_REVERSESEQUENCE_H
