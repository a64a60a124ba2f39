//===- Sequences.cpp - Sequences of given lengths -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"
#include "frontends/mxnet/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Reads the axis of steps, 0 or 1; the other one is that of sequences.
/// Returns nullopt after an error.
static std::optional<int64_t> readTime(Layer &layer) {
  int64_t axis = layer.getInt("axis", 0);
  if ((axis == 0 || axis == 1) && getRank(layer.getInput(0)) >= 2)
    return axis;
  layer.broken("has steps along axis " + Twine(axis) +
               " of an input of shape " +
               toString(getShape(layer.getInput(0))));
  return std::nullopt;
}

/// Returns the lengths, i64, of the sequences; null if all steps belong to
/// them, or after an error, which sets `failed`.
static Value readLengths(Layer &layer, int64_t time, bool &failed) {
  Value x = layer.getInput(0), lengths = layer.getInput(1);
  failed = false;
  if (!layer.getBool("use_sequence_length", false))
    return {};
  failed =
      !lengths || getShape(lengths) != ArrayRef<int64_t>(getShape(x)[1 - time]);
  if (failed)
    return layer.broken("needs a length for each of " +
                        Twine(getShape(x)[1 - time]) + " sequences");
  return layer.castTo(lengths, layer.getI64());
}

Value convertSequenceMask(Layer &layer) {
  Value x = layer.getInput(0);
  auto time = readTime(layer);
  bool failed = !time;
  Value lengths = time ? readLengths(layer, *time, failed) : Value();
  if (failed || !lengths)
    return failed ? Value() : x;
  int64_t rank = getRank(x);
  SmallVector<int64_t> shape(rank, 1);
  shape[1 - *time] = getShape(x)[1 - *time];
  Value isIn = layer.createElementwise(
      "less", {makeSteps(layer, getShape(x)[*time], 1, *time, rank),
               layer.reshape(lengths, shape)});
  return layer.createElementwise(
      "select", {isIn, x, layer.scalar(layer.getReal("value", 0), x)});
}

Value convertSequenceLast(Layer &layer) {
  Value x = layer.getInput(0);
  auto time = readTime(layer);
  bool failed = !time;
  Value lengths = time ? readLengths(layer, *time, failed) : Value();
  if (failed)
    return {};
  int64_t steps = getShape(x)[*time], rank = getRank(x);
  SmallVector<int64_t> shape(getShape(x));
  shape.erase(shape.begin() + *time);
  if (!lengths)
    return steps == 0
               ? layer.broken("has no steps")
               : layer.reshape(layer.slice(x, *time, steps - 1, 1), shape);
  Value last =
      layer.createElementwise("sub", {lengths, layer.splat(1, layer.getI64())});
  last = bringIntoRange(layer, last, steps, false);
  SmallVector<int64_t> column(rank, 1);
  column[1 - *time] = getShape(x)[1 - *time];
  return layer.reshape(
      gatherElements(layer, x, layer.reshape(last, column), *time), shape);
}

Value convertSequenceReverse(Layer &layer) {
  Value x = layer.getInput(0);
  auto time = readTime(layer);
  bool failed = !time;
  Value lengths = time ? readLengths(layer, *time, failed) : Value();
  if (failed)
    return {};
  int64_t steps = getShape(x)[*time];
  if (!lengths)
    return steps == 0 ? x : layer.slice(x, *time, steps - 1, steps, -1);
  return frontends::reverseSequence(layer, x, lengths, *time, 1 - *time);
}

} // namespace nnc::mxnet
