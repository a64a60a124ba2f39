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

/// Returns true if the converter of an operator may rely on the types that the
/// model states for its results; otherwise reports an error. Converters infer
/// the types of most results, which are compared with the stated types
/// afterwards, but they round quantized numbers to the type that the model
/// states.
bool checkTypes(Layer &layer, const OpInfo &op);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_CHECKTYPES_H
