//===- Pooling.h - Pools of floats ------------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_POOLING_POOLING_H
#define NNC_FRONTENDS_MXNET_POOLING_POOLING_H

#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Returns the pool of `x` that the attributes of the operator Pooling
/// describe.
mlir::Value pool(Layer &layer, mlir::Value x);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_POOLING_POOLING_H
