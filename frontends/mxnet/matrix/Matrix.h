//===- Matrix.h - Fully connected layers ------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_MATRIX_MATRIX_H
#define NNC_FRONTENDS_MXNET_MATRIX_MATRIX_H

#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Returns the fully connected layer of `x`, with the weight `w`, units x
/// inputs, and `bias` unless it is null.
mlir::Value connect(Layer &layer, mlir::Value x, mlir::Value w,
                    mlir::Value bias);

/// Returns the matrix product of `a` and `b`.
mlir::Value multiply(Layer &layer, mlir::Value a, mlir::Value b,
                     bool transposeA = false, bool transposeB = false);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_MATRIX_MATRIX_H
