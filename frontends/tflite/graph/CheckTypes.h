//===- CheckTypes.h - Types of an operator's results ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_GRAPH_CHECKTYPES_H
#define NNC_FRONTENDS_TFLITE_GRAPH_CHECKTYPES_H

#include "frontends/tflite/Ops.h"
#include "frontends/tflite/graph/Layer.h"

namespace nnc::tflite {

/// Whether the types that the model states for an operator's results are such
/// that its converter may rely on them; reports why not. Converters compute the
/// types of most results, which are compared with those afterwards, but round
/// quantized numbers to the type that the model states.
bool checkTypes(Layer &layer, const OpInfo &op);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_CHECKTYPES_H
