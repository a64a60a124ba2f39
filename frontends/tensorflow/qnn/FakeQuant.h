//===- FakeQuant.h - Quantized numbers in graphs of floats ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_QNN_FAKEQUANT_H
#define NNC_FRONTENDS_TENSORFLOW_QNN_FAKEQUANT_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns `w` with its axes in another order, or in another shape. Weights
/// that a FakeQuant operator quantizes are moved as integers, so that they
/// stand beside the layer that reads them.
mlir::Value transposeWeights(Layer &layer, mlir::Value w,
                             llvm::ArrayRef<int64_t> order);
mlir::Value reshapeWeights(Layer &layer, mlir::Value w,
                           llvm::ArrayRef<int64_t> shape);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_QNN_FAKEQUANT_H
