//===- Normalization.h - Batch normalization --------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_NORMALIZATION_NORMALIZATION_H
#define NNC_FRONTENDS_MXNET_NORMALIZATION_NORMALIZATION_H

#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Returns the batch normalization of `x` by inputs 1 to 4 of the node, which
/// are scale, bias, mean and variance, and by its attributes. With
/// `hasFixedScale` the scale is 1.
mlir::Value normalizeBatch(Layer &layer, mlir::Value x, bool hasFixedScale);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_NORMALIZATION_NORMALIZATION_H
