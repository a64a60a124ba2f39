//===- Custom.h - Operators of the user -------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_CUSTOM_CUSTOM_H
#define NNC_FRONTENDS_TENSORFLOW_CUSTOM_CUSTOM_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Converts a node to a call of the user's C function. The types of the results
/// are those that the node states in its attribute `_output_shapes` and in one
/// of `T`, `dtype` and `out_type`; `isRebound` tells that the user chose other
/// sizes of inputs, with which they do not hold.
void convertCustom(Layer &layer, const CustomFunction &function,
                   bool isRebound);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_CUSTOM_CUSTOM_H
