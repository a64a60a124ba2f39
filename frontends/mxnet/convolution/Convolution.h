//===- Convolution.h - Convolutions of floats -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_CONVOLUTION_CONVOLUTION_H
#define NNC_FRONTENDS_MXNET_CONVOLUTION_CONVOLUTION_H

#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Returns the convolution of `x` and `w` that the node's attributes describe,
/// plus `bias` unless it is null. Operands have the layout that the node
/// states.
mlir::Value convolve(Layer &layer, mlir::Value x, mlir::Value w,
                     mlir::Value bias);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_CONVOLUTION_CONVOLUTION_H
