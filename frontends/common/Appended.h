//===- Appended.h - Tensors that grow from run to run of a loop -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// Exporters write what a loop collects as a tensor that is carried, to whose
// end each run appends. Its shape differs from run to run. In nn.loop what is
// appended is collected, and joined once behind the loop.
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

/// Returns what a run appends along `axis` if `next` is a concat of `argument`,
/// which nothing else reads, and other values; else null.
mlir::Value takeAppended(LayerBuilder &builder, mlir::Value argument,
                         mlir::Value next, int64_t axis);

/// Returns what all runs append, one behind the other: `parts` has the runs as
/// its first axis, in front of those of which `axis` is one.
mlir::Value joinRuns(LayerBuilder &builder, mlir::Value parts, int64_t axis);

/// Returns `init` with what all runs append behind it.
mlir::Value joinAppended(LayerBuilder &builder, mlir::Value init,
                         mlir::Value parts, int64_t axis);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_APPENDED_H
