//===- Ordering.cpp - Best elements and boxes -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

template <class Op> static Value convertArg(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x)) : std::nullopt;
  Type element = layer.getType("output_type", pb::DT_INT64);
  if (!axis || !element)
    return {};
  Value y =
      layer.create<Op>(x, *axis, /*keepdims=*/false, /*select_last=*/false);
  return layer.castTo(y, element);
}

Value convertArgMax(Layer &layer) { return convertArg<nn::ArgMaxOp>(layer); }
Value convertArgMin(Layer &layer) { return convertArg<nn::ArgMinOp>(layer); }

/// Converts TopK and TopKV2: the largest elements along the last axis, and
/// their indices.
Value convertTopK(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t count = layer.getInt("k");
  if (layer.getNumInputs() > 1) {
    auto given = layer.readInts(layer.getInput(1), "a number of elements");
    if (!given)
      return {};
    count = given->size() == 1 ? (*given)[0] : -1;
  }
  if (!x)
    return {};
  int64_t rank = getRank(x);
  if (rank < 1 || count < 0 || count > getShape(x).back())
    return layer.broken("takes " + Twine(count) +
                        " elements of a tensor of shape " +
                        toString(getShape(x)));
  Value indices = layer.create<nn::TopKOp>(x, rank - 1, count,
                                           /*largest=*/true);
  if (!indices)
    return {};
  int64_t rows = product(getShape(x).drop_back()), size = getShape(x).back();
  Type integer = layer.getBuilder().getI64Type();
  Value first =
      layer.createElementwise("mul", {makeCounts(layer, rows, integer, 0, 2),
                                      layer.splat(double(size), integer)});
  Value places = layer.createElementwise(
      "add", {layer.reshape(indices, {rows, count}), first});
  Value values = layer.create<nn::GatherOp>(layer.reshape(x, {rows * size}),
                                            places, int64_t(0));
  Type element = layer.getType("index_type", pb::DT_INT32);
  layer.setResult(1, element ? layer.castTo(indices, element) : Value());
  return layer.reshape(values, getShape(indices));
}

/// Converts NonMaxSuppressionV4 and V5, whose results are padded to their
/// largest number: indices of boxes, for V5 their scores, and their number.
Value convertNonMaxSuppression(Layer &layer) {
  Value boxes = layer.getInput(0), scores = layer.getInput(1),
        overlap = layer.getInput(3), least = layer.getInput(4);
  auto limit = layer.readInts(layer.getInput(2), "a number of boxes");
  if (!boxes || !scores || !overlap || !least || !limit)
    return {};
  bool isSoft = layer.getOp() == "NonMaxSuppressionV5";
  if (!layer.getBool("pad_to_max_output_size"))
    return layer.unsupported("gives as many boxes as it finds; nnc handles "
                             "pad_to_max_output_size=True "
                             "(tf.image.non_max_suppression_padded)");
  if (isSoft) {
    auto sigma = layer.readReals(layer.getInput(5), "soft_nms_sigma");
    if (!sigma)
      return {};
    if (sigma->size() != 1 || (*sigma)[0] != 0)
      return layer.unsupported("suppresses softly, which nnc does not handle");
  }
  int64_t count = getRank(boxes) == 2 ? getShape(boxes)[0] : 0;
  if (count == 0 || getShape(boxes)[1] != 4 ||
      getNumElements(scores) != count || limit->size() != 1 ||
      (*limit)[0] < 1 || (*limit)[0] > 1 << 20)
    return layer.broken("has boxes and scores of shapes " +
                        toString(getShape(boxes)) + " and " +
                        toString(getShape(scores)) +
                        ", or a wrong number of results");
  int64_t most = std::min(count, (*limit)[0]), size = (*limit)[0];
  Type integer = layer.getBuilder().getI64Type(), real = getElement(boxes);
  Value found = layer.create<nn::SuppressOp>(
      layer.reshape(boxes, {1, count, 4}),
      layer.reshape(layer.castTo(scores, real), {1, 1, count}),
      layer.splat(double(most), integer, {1}),
      layer.reshape(layer.castTo(overlap, real), {1}),
      layer.reshape(layer.castTo(least, real), {1}), most,
      /*centered=*/false);
  Value number = layer.castTo(layer.reshape(layer.slice(found, {0}, {1}), {}),
                              layer.getBuilder().getI32Type());
  // The box of each triple (batch, class, box); zeros follow the last one.
  Value indices = layer.castTo(layer.slice(found, {3}, {most}, {3}),
                               layer.getBuilder().getI32Type());
  if (isSoft) {
    Value picked = layer.create<nn::GatherOp>(layer.reshape(scores, {count}),
                                              indices, int64_t(0));
    Value isFound = layer.createElementwise(
        "less", {makeCounts(layer, most, layer.getBuilder().getI32Type(), 0, 1),
                 number});
    picked = layer.createElementwise(
        "select", {isFound, picked,
                   picked ? layer.splat(0.0, getElement(picked)) : picked});
    layer.setResult(1, padWith(layer, picked, {0, size - most}, 0));
  }
  layer.setResult(isSoft ? 2 : 1, number);
  return padWith(layer, indices, {0, size - most}, 0);
}

} // namespace nnc::tensorflow
