//===- Ordering.cpp - Largest elements and sorted ones --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns the input of the node, flattened if its attribute `axis` is "None",
/// and sets `axis`. Returns null after an error.
static Value readOperand(Layer &layer, int64_t otherwise, int64_t &axis) {
  Value x = layer.getInput(0);
  bool isFlat = !layer.has("axis") && layer.getNode().attributes.count("axis");
  if (isFlat || getRank(x) == 0)
    x = layer.reshape(x, {getNumElements(x)});
  auto given = layer.getAxis("axis", isFlat ? 0 : otherwise, getRank(x));
  axis = given.value_or(0);
  return given ? x : Value();
}

template <class Op> static Value findExtreme(Layer &layer) {
  Value x = layer.getInput(0);
  // Graphs before MXNet 0.9.5 state -1 where they mean all axes.
  bool isOld =
      layer.getImporter().getVersion() < 905 && layer.getText("axis") == "-1";
  bool isFlat = !layer.has("axis") || isOld;
  int64_t rank = getRank(x);
  if (isFlat)
    x = layer.reshape(x, {getNumElements(x)});
  auto axis =
      isFlat ? std::optional<int64_t>(0) : layer.getAxis("axis", 0, getRank(x));
  if (!axis)
    return {};
  bool keepdims = layer.getBool("keepdims", false);
  Value y = layer.create<Op>(x, *axis, keepdims, /*select_last=*/false);
  if (y && isFlat && keepdims)
    y = layer.reshape(y, SmallVector<int64_t>(rank, 1));
  bool isNumpy = layer.getOp().starts_with("_np");
  if (y && getRank(y) == 0 && !isNumpy)
    y = layer.reshape(y, {1});
  return isNumpy ? y : layer.castTo(y, layer.getF32());
}

Value convertArgMax(Layer &layer) { return findExtreme<nn::ArgMaxOp>(layer); }
Value convertArgMin(Layer &layer) { return findExtreme<nn::ArgMinOp>(layer); }

Value convertArgMaxChannel(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 2)
    return layer.broken("needs an input with channels");
  return layer.castTo(layer.create<nn::ArgMaxOp>(x, int64_t(1), false, false),
                      getElement(x));
}

/// Converts topk. Its results are indices, values, both, or a mask of ones.
Value convertTopk(Layer &layer) {
  int64_t axis = 0;
  Value x = readOperand(layer, -1, axis);
  if (!x)
    return {};
  int64_t size = getShape(x)[axis], k = layer.getInt("k", 1);
  k = k < 1 ? size : k;
  if (k > size || size == 0)
    return layer.broken("wants " + Twine(k) + " of " + Twine(size) +
                        " elements");
  StringRef kind = layer.getText("ret_typ", "indices");
  Type type = layer.getDtype("dtype", layer.getF32());
  if (!type)
    return {};
  Value indices =
      layer.create<nn::TopKOp>(x, axis, k, !layer.getBool("is_ascend", false));
  if (kind == "indices")
    return layer.castTo(indices, type);
  if (kind == "value" || kind == "both") {
    layer.setResult(1, kind == "both" ? layer.castTo(indices, type) : Value());
    Value values = gatherElements(layer, x, indices, axis);
    if (kind == "value")
      layer.takeResults();
    return values;
  }
  if (kind != "mask")
    return layer.broken("has the ret_typ '" + kind + "'");
  // An element is in the mask if it is one of those that were found.
  Value steps = makeSteps(layer, size, 1, axis, getRank(x));
  Value mask;
  for (int64_t i = 0; i < k; ++i) {
    Value isIt = layer.createElementwise(
        "equal", {layer.slice(indices, axis, i, 1), steps});
    mask = i == 0 ? isIt : layer.createElementwise("logical_or", {mask, isIt});
  }
  mask = layer.castTo(mask, getElement(x));
  return layer.reshape(mask, getShape(layer.getInput(0)));
}

static Value sort(Layer &layer, bool isOfIndices) {
  int64_t axis = 0;
  Value x = readOperand(layer, -1, axis);
  if (!x || getShape(x)[axis] == 0)
    return x;
  Value indices = layer.create<nn::TopKOp>(x, axis, getShape(x)[axis],
                                           !layer.getBool("is_ascend", true));
  if (!isOfIndices)
    return gatherElements(layer, x, indices, axis);
  Type type = layer.getDtype("dtype", layer.getF32());
  return type ? layer.castTo(indices, type) : Value();
}

Value convertSort(Layer &layer) { return sort(layer, false); }
Value convertArgsort(Layer &layer) { return sort(layer, true); }

} // namespace nnc::mxnet
