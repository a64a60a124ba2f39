//===- Functions.h - Elementwise functions of several ops -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_ELEMENTWISE_FUNCTIONS_H
#define NNC_FRONTENDS_TENSORFLOW_ELEMENTWISE_FUNCTIONS_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns the angle of the point (x, y).
mlir::Value computeAtan2(Layer &layer, mlir::Value y, mlir::Value x);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_ELEMENTWISE_FUNCTIONS_H
