//===- Elementwise.h - Elementwise functions of several folders ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_ELEMENTWISE_ELEMENTWISE_H
#define NNC_FRONTENDS_TORCH_ELEMENTWISE_ELEMENTWISE_H

#include "frontends/torch/graph/Node.h"

namespace nnc::torch {

/// Returns log(e^(scale * a) + e^(scale * b)) / scale, of floats.
mlir::Value computeLogAddExp(Node &node, mlir::Value a, mlir::Value b,
                             double scale = 1);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_ELEMENTWISE_ELEMENTWISE_H
