//===- Appended.h - Tensors that grow from run to run of a loop -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// Exporters write the values that a loop collects as a loop-carried tensor to
// which each iteration appends, so that its shape changes with every iteration.
// In nn.loop the loop collects the appended parts, and they are concatenated
// once behind the loop.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_APPENDED_H
#define NNC_FRONTENDS_COMMON_APPENDED_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns the type of the argument of a loop's body in place of a tensor that
/// grows along `axis` in each iteration and begins as `init`. It has size 1
/// along `axis`, so that no op of the body reads a tensor without elements.
mlir::RankedTensorType getAppendedType(mlir::RankedTensorType init,
                                       int64_t axis);

/// Returns the value that an iteration appends along `axis`, if `next` is a
/// concat of `argument` and other values and nothing else reads `argument`;
/// otherwise null.
mlir::Value takeAppended(LayerBuilder &builder, mlir::Value argument,
                         mlir::Value next, int64_t axis);

/// Returns the parts that all iterations append, concatenated along `axis`.
/// Axis 0 of `parts` counts the iterations; `axis` is counted without it.
mlir::Value joinRuns(LayerBuilder &builder, mlir::Value parts, int64_t axis);

/// Returns `init` followed along `axis` by the parts that all iterations
/// append.
mlir::Value joinAppended(LayerBuilder &builder, mlir::Value init,
                         mlir::Value parts, int64_t axis);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_APPENDED_H
