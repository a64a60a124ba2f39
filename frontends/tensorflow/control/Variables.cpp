//===- Variables.cpp - Variables of a model -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

Value convertVarHandle(Layer &layer) {
  layer.setPassed(0, {Passed::variable, {}, layer.getNode().name()});
  return {};
}

/// Converts VariableV2 of TensorFlow 1, which is read as a tensor.
Value convertVariable(Layer &layer) {
  return layer.getImporter().readVariable(layer.getNode().name());
}

/// Returns the current value of the variable that is input 0; null after an
/// error.
static Value read(Layer &layer) {
  const Passed &variable = layer.getPassed(0);
  if (variable.kind != Passed::variable)
    return layer.broken("needs a variable as input 0");
  return layer.getImporter().readVariable(variable.name);
}

Value convertReadVariable(Layer &layer) { return read(layer); }

static Value assign(Layer &layer, Value value) {
  if (layer.getPassed(0).kind != Passed::variable)
    return layer.broken("needs a variable as input 0");
  layer.getImporter().assignVariable(layer.getPassed(0).name, value, layer);
  return {};
}

Value convertAssign(Layer &layer) { return assign(layer, layer.getInput(1)); }

Value convertAssignAdd(Layer &layer) {
  return assign(
      layer, layer.createElementwise("add", {read(layer), layer.getInput(1)}));
}

Value convertAssignSub(Layer &layer) {
  return assign(
      layer, layer.createElementwise("sub", {read(layer), layer.getInput(1)}));
}

} // namespace nnc::tensorflow
