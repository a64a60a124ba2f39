//===- Ordering.cpp - Best elements and boxes -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/lengths/Lengths.h"
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

/// Converts NonMaxSuppression, V2 to V5: indices of boxes, for V5 their scores,
/// and for V4 and V5 their number. Where the node pads its results, they have
/// their largest length; otherwise as many elements as are found.
Value convertNonMaxSuppression(Layer &layer) {
  Value boxes = layer.getInput(0), scores = layer.getInput(1);
  auto limit = layer.readInts(layer.getInput(2), "a number of boxes");
  StringRef op = layer.getOp();
  bool hasScores = op == "NonMaxSuppressionV5",
       pads = layer.getBool("pad_to_max_output_size");
  if (!boxes || !scores || !limit)
    return {};
  if (hasScores) {
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
  Type integer = layer.getBuilder().getI64Type(), real = getElement(boxes);
  auto getThreshold = [&](size_t i, double otherwise) {
    return layer.getNumInputs() > i
               ? layer.reshape(layer.castTo(layer.getInput(i), real), {1})
               : layer.splat(otherwise, real, {1});
  };
  int64_t most = std::min(count, (*limit)[0]), size = (*limit)[0];
  Value found = layer.create<nn::SuppressOp>(
      layer.reshape(boxes, {1, count, 4}),
      layer.reshape(layer.castTo(scores, real), {1, 1, count}),
      layer.splat(double(most), integer, {1}),
      getThreshold(3, layer.getReal("iou_threshold", 0.5)),
      getThreshold(4, -std::numeric_limits<double>::infinity()), most,
      /*centered=*/false);
  Value number = layer.castTo(layer.reshape(layer.slice(found, {0}, {1}), {}),
                              layer.getBuilder().getI32Type());
  // nn.suppress gives the number of kept boxes and then, for each of them, the
  // indices of its batch, class and box, of which every third one is read.
  Value indices = layer.castTo(layer.slice(found, {3}, {most}, {3}),
                               layer.getBuilder().getI32Type());
  Value picked =
      hasScores ? layer.create<nn::GatherOp>(layer.reshape(scores, {count}),
                                             indices, int64_t(0))
                : Value();
  if (hasScores || op == "NonMaxSuppressionV4")
    layer.setResult(hasScores ? 2 : 1, number);
  if (!pads)
    return cutSuppressed(layer, found, indices, picked, most,
                         hasScores ? std::optional<size_t>(1) : std::nullopt);
  if (hasScores) {
    Value isFound = layer.createElementwise(
        "less", {makeCounts(layer, most, layer.getBuilder().getI32Type(), 0, 1),
                 number});
    picked = layer.createElementwise(
        "select", {isFound, picked,
                   picked ? layer.splat(0.0, getElement(picked)) : picked});
    layer.setResult(1, padWith(layer, picked, {0, size - most}, 0));
  }
  return padWith(layer, indices, {0, size - most}, 0);
}

} // namespace nnc::tensorflow
