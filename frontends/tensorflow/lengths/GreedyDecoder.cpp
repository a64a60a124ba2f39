//===- GreedyDecoder.cpp - CTCGreedyDecoder -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// The best path, for each sample and each step.
struct DecodedSteps {
  Value labels;   ///< best class: [samples, steps], i64
  Value isInside; ///< true for the steps of a sample's sequence
  Value isKept;   ///< true for steps whose label is in the result
};
} // namespace

static Value differ(Layer &layer, Value a, Value b) {
  return layer.createElementwise("logical_not",
                                 {layer.createElementwise("equal", {a, b})});
}

/// Returns the best class of each step, and whether it is part of the result:
/// it is not the blank and, with `merges`, not that of the step before.
static DecodedSteps decodeSteps(Layer &layer, Value x, Value lengths,
                                int64_t blank, bool merges) {
  int64_t steps = getShape(x)[0], samples = getShape(x)[1];
  Type element = layer.getBuilder().getI64Type();
  DecodedSteps decoded;
  decoded.labels = layer.transpose(
      layer.castTo(layer.create<nn::ArgMaxOp>(x, int64_t(2), /*keepdims=*/false,
                                              /*select_last=*/false),
                   element),
      {1, 0});
  decoded.isInside = layer.createElementwise(
      "less", {makeCounts(layer, steps, element, 1, 2),
               layer.reshape(layer.castTo(lengths, element), {samples, 1})});
  Value isLabel =
      differ(layer, decoded.labels, layer.splat(double(blank), element));
  decoded.isKept =
      layer.createElementwise("logical_and", {isLabel, decoded.isInside});
  if (!merges || !decoded.isKept)
    return decoded;
  Value before =
      join(layer,
           {layer.splat(-1, element, {samples, 1}),
            layer.slice(decoded.labels, {0, 0}, {samples, steps - 1})},
           1);
  decoded.isKept = layer.createElementwise(
      "logical_and", {decoded.isKept, differ(layer, decoded.labels, before)});
  return decoded;
}

std::optional<DecodedShape> getDecodedShape(Value shape) {
  auto parts = shape ? shape.getDefiningOp<nn::ConcatOp>() : nn::ConcatOp();
  if (!parts || parts->getNumOperands() != 2)
    return std::nullopt;
  auto rows = readElements(parts->getOperand(0));
  auto longest = parts->getOperand(1).getDefiningOp<nn::ReduceOp>();
  auto counts = longest && longest.getKind() == nn::ReduceKind::max
                    ? longest.getX().getDefiningOp<nn::ReduceOp>()
                    : nn::ReduceOp();
  auto kept = counts && counts.getKind() == nn::ReduceKind::sum
                  ? counts.getX().getDefiningOp<nn::CastOp>()
                  : nn::CastOp();
  bool fits = kept && rows && rows->ints.size() == 1 &&
              getElement(kept.getX()).isInteger(1) &&
              getRank(kept.getX()) == 2 && getRank(counts.getResult()) == 1 &&
              getNumElements(longest.getResult()) == 1 &&
              getShape(kept.getX())[0] == rows->ints[0] &&
              getShape(counts.getResult())[0] == rows->ints[0];
  if (!fits)
    return std::nullopt;
  return DecodedShape{rows->ints[0], getShape(kept.getX())[1],
                      longest.getResult()};
}

/// Converts CTCGreedyDecoder: the labels of the best path, as a sparse matrix
/// of a row for each sample, and the sum of the negated best inputs.
Value convertCtcGreedyDecoder(Layer &layer) {
  SmallVector<Value> inputs = layer.getTensors(0, 2);
  if (inputs.empty())
    return {};
  Value x = inputs[0], lengths = inputs[1];
  if (getRank(x) != 3 || getNumElements(x) == 0 ||
      getNumElements(lengths) != getShape(x)[1])
    return layer.broken("needs inputs of 3 axes, steps, samples and classes, "
                        "and a length for each sample");
  int64_t steps = getShape(x)[0], samples = getShape(x)[1],
          classes = getShape(x)[2], blank = layer.getInt("blank_index", -1);
  blank += blank < 0 ? classes : 0;
  if (blank < 0 || blank >= classes)
    return layer.broken("has a blank_index that is no class");
  DecodedSteps decoded =
      decodeSteps(layer, x, lengths, blank, layer.getBool("merge_repeated"));
  Value places =
      decoded.isKept ? findPositions(layer, decoded.isKept) : Value();
  if (!places)
    return {};
  Type element = layer.getBuilder().getI64Type();
  Value kept = layer.castTo(decoded.isKept, element);
  // Row and column of each label.
  Value counts = layer.create<nn::CumSumOp>(
      kept, int64_t(1), /*exclusive=*/true, /*reverse=*/false);
  Value row = layer.createElementwise(
      "div", {places, layer.splat(double(steps), element)});
  Value column = layer.create<nn::GatherOp>(
      layer.reshape(counts, {samples * steps}), places, int64_t(0));
  int64_t found = getNumElements(places);
  Lengths &known = layer.getImporter().getLengths();
  LengthExpression size = known.describe(places, 0);
  Value indices = join(
      layer,
      {layer.reshape(row, {found, 1}), layer.reshape(column, {found, 1})}, 1);
  if (indices) {
    known.noteDim(indices, 0, size);
    known.noteDim(indices, 1, 2);
  }
  layer.setResult(1, layer.create<nn::GatherOp>(
                         layer.reshape(decoded.labels, {samples * steps}),
                         places, int64_t(0)));
  Value longest = layer.create<nn::ReduceOp>(
      nn::ReduceKind::max,
      layer.create<nn::ReduceOp>(nn::ReduceKind::sum, kept,
                                 ArrayRef<int64_t>{1}, /*keepdims=*/false),
      ArrayRef<int64_t>{0}, /*keepdims=*/true);
  layer.setResult(
      2, join(layer, {layer.splat(double(samples), element, {1}), longest}, 0));
  Value best = layer.transpose(
      layer.create<nn::ReduceOp>(nn::ReduceKind::max, x, ArrayRef<int64_t>{2},
                                 /*keepdims=*/false),
      {1, 0});
  Value zero = layer.splat(0.0, getElement(x));
  Value sum = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum,
      layer.createElementwise("select", {decoded.isInside, best, zero}),
      ArrayRef<int64_t>{1}, /*keepdims=*/true);
  layer.setResult(3, layer.createElementwise("neg", {sum}));
  return indices;
}

} // namespace nnc::tensorflow
