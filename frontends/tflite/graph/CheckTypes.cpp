//===- CheckTypes.cpp - Types of an operator's results --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/graph/CheckTypes.h"

#include "frontends/tflite/qnn/Quantized.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

/// Returns true if nnc supports the type of result `i`; otherwise reports an
/// error.
static bool checkType(Layer &layer, const OpInfo &op, size_t i) {
  fb::TensorType type = layer.getOutputTensor(i)->type();
  if (type == fb::TensorType::RESOURCE && op.runsSubgraphs())
    return true;
  Type element = layer.getOutputElement(i);
  if (!element) {
    layer.unsupported("has a result of type " + getTypeName(type) +
                      ", which nnc does not handle");
    return false;
  }
  if (isPacked(element)) {
    layer.unsupported("has a result of type " + getTypeName(type) +
                      ", which nnc handles as the type of constants alone");
    return false;
  }
  return true;
}

/// Returns true if the result can hold quantized numbers; otherwise reports an
/// error.
static bool checkQuantized(Layer &layer, const OpInfo &op) {
  StringRef why;
  if (!isQuantizedType(layer.getOutputElement()))
    why = ", where nnc handles INT8, UINT8, INT16 and UINT16";
  else if (!layer.getOutputQuantization())
    why = " without a scale";
  else
    return true;
  layer.unsupported("computes a result of type " +
                    getTypeName(layer.getOutputTensor()->type()) +
                    " from quantized numbers of type " +
                    getTypeName(layer.getInputTensor(op.activations)->type()) +
                    why);
  return false;
}

bool nnc::tflite::checkTypes(Layer &layer, const OpInfo &op) {
  for (size_t i = 0; i < layer.getNumResults(); ++i)
    if (layer.getOutputTensor(i) && !checkType(layer, op, i))
      return false;
  bool isScaled = op.activations >= 0 &&
                  isQuantized(layer.getInput(op.activations),
                              layer.getInputQuantization(op.activations));
  return !isScaled || checkQuantized(layer, op);
}
