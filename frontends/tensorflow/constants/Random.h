//===- Random.h - Types of random numbers -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_CONSTANTS_RANDOM_H
#define NNC_FRONTENDS_TENSORFLOW_CONSTANTS_RANDOM_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns the type of the random numbers that a layer draws: floats of the
/// shape in input 0. Returns null after an error.
mlir::RankedTensorType readDrawnType(Layer &layer);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_CONSTANTS_RANDOM_H
