//===- CombinedSuppression.cpp - Best boxes of all classes ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// The boxes that a sample of a batch has after suppression in each class.
struct Candidates {
  Value boxes, scores, classes; ///< for each candidate
  Value isFound;                ///< bools; the first ones are true
  Value number;                 ///< an i64, how many are true
};
/// The parameters of a suppression, which all samples share.
struct Suppression {
  int64_t most;           ///< candidates of a class
  Value overlap, least;   ///< thresholds
  bool hasBoxesOfClasses; ///< each class has its own boxes
};
} // namespace

/// Returns the candidates of a sample with the boxes classes or 1 x boxes x 4
/// and the scores classes x boxes.
static Candidates suppress(Layer &layer, Value boxes, Value scores,
                           const Suppression &how) {
  int64_t classes = getShape(scores)[0], count = getShape(scores)[1];
  Type index = layer.getBuilder().getI64Type();
  // Classes with boxes of their own are batches of one class.
  Sizes shape = {1, classes, count};
  if (how.hasBoxesOfClasses)
    std::swap(shape[0], shape[1]);
  Value found = layer.create<nn::SuppressOp>(
      boxes, layer.reshape(scores, shape),
      layer.splat(double(how.most), index, {1}), how.overlap, how.least,
      how.most, /*centered=*/false);
  int64_t all = classes * how.most;
  Candidates result;
  result.number = layer.reshape(layer.slice(found, {0}, {1}), {});
  auto take = [&](int64_t part) {
    return layer.slice(found, {1 + part}, {all}, {3});
  };
  Value ofClass = take(how.hasBoxesOfClasses ? 0 : 1), box = take(2);
  auto flatten = [&](Value first) {
    return layer.createElementwise(
        "add", {layer.createElementwise(
                    "mul", {first, layer.splat(double(count), index)}),
                box});
  };
  Value places = flatten(ofClass);
  result.scores = layer.create<nn::GatherOp>(
      layer.reshape(scores, {classes * count}), places, int64_t(0));
  result.boxes = layer.create<nn::GatherOp>(
      layer.reshape(boxes, {getNumElements(boxes) / 4, 4}),
      how.hasBoxesOfClasses ? places : box, int64_t(0));
  result.classes = layer.castTo(ofClass, getElement(scores));
  result.isFound = layer.createElementwise(
      "less", {makeCounts(layer, all, index, 0, 1), result.number});
  return result;
}

/// Converts CombinedNonMaxSuppression: for each sample the boxes with the best
/// scores, of all classes, after the suppression in each class.
Value convertCombinedSuppression(Layer &layer) {
  Value boxes = layer.getInput(0), scores = layer.getInput(1),
        overlap = layer.getInput(4), least = layer.getInput(5);
  auto perClass = layer.readInts(layer.getInput(2), "a number of boxes"),
       total = layer.readInts(layer.getInput(3), "a number of boxes");
  if (!boxes || !scores || !overlap || !least || !perClass || !total)
    return {};
  ArrayRef<int64_t> shape = getShape(boxes), scored = getShape(scores);
  bool fits = shape.size() == 4 && shape[3] == 4 && scored.size() == 3 &&
              getNumElements(scores) > 0 && getNumElements(boxes) > 0 &&
              scored.take_front(2) == shape.take_front(2) &&
              (shape[2] == 1 || shape[2] == scored[2]) &&
              perClass->size() == 1 && total->size() == 1 &&
              (*perClass)[0] >= 1 && (*total)[0] >= 1 &&
              (*perClass)[0] <= 1 << 20 && (*total)[0] <= 1 << 20;
  if (!fits)
    return layer.broken("has boxes and scores of shapes " + toString(shape) +
                        " and " + toString(scored) +
                        ", or a wrong number of results");
  Type real = getElement(scores), index = layer.getBuilder().getI64Type();
  int64_t samples = shape[0], count = shape[1], classes = scored[2];
  Suppression how{std::min((*perClass)[0], count),
                  layer.reshape(layer.castTo(overlap, real), {1}),
                  layer.reshape(layer.castTo(least, real), {1}), shape[2] > 1};
  int64_t size = (*total)[0], all = classes * how.most;
  if (layer.getBool("pad_per_class"))
    size = std::min(size, (*perClass)[0] * classes);
  int64_t kept = std::min(size, all);
  SmallVector<Value> results[4];
  for (int64_t sample = 0; sample < samples; ++sample) {
    Value own = layer.reshape(
              layer.slice(boxes, {sample, 0, 0, 0}, {1, count, shape[2], 4}),
              {count, shape[2], 4}),
          ownScores = layer.reshape(
              layer.slice(scores, {sample, 0, 0}, {1, count, classes}),
              {count, classes});
    Candidates found = suppress(layer, layer.transpose(own, {1, 0, 2}),
                                layer.transpose(ownScores, {1, 0}), how);
    Value ranked = layer.createElementwise(
        "select",
        {found.isFound, found.scores,
         layer.splat(-std::numeric_limits<double>::infinity(), real)});
    Value best = layer.create<nn::TopKOp>(ranked, int64_t(0), kept,
                                          /*largest=*/true);
    Value number = layer.createElementwise(
        "min", {found.number, layer.splat(double(size), index)});
    Value isIn = layer.createElementwise(
        "less", {makeCounts(layer, kept, index, 0, 1), number});
    // Zeros follow the last box.
    auto finish = [&](Value x, int64_t width) {
      x = layer.create<nn::GatherOp>(x, best, int64_t(0));
      Sizes sizes = {kept}, pads = {0, size - kept}, result = {1, size};
      if (width > 1) {
        sizes.push_back(1);
        result.push_back(width);
        pads = {0, 0, size - kept, 0};
      }
      if (!x)
        return x;
      x = layer.createElementwise("select", {layer.reshape(isIn, sizes), x,
                                             layer.splat(0.0, getElement(x))});
      return layer.reshape(padWith(layer, x, pads, 0), result);
    };
    Value corners = finish(found.boxes, 4);
    if (corners && layer.getBool("clip_boxes", true))
      corners = layer.createElementwise(
          "min", {layer.createElementwise(
                      "max", {corners, layer.splat(0.0, getElement(corners))}),
                  layer.splat(1.0, getElement(corners))});
    results[0].push_back(corners);
    results[1].push_back(finish(found.scores, 1));
    results[2].push_back(finish(found.classes, 1));
    results[3].push_back(layer.castTo(layer.reshape(number, {1}),
                                      layer.getBuilder().getI32Type()));
  }
  for (size_t i = 0; i < 4; ++i) {
    if (llvm::is_contained(results[i], Value()))
      return {};
    layer.setResult(i,
                    samples == 1 ? results[i][0] : join(layer, results[i], 0));
  }
  return layer.getResults()[0].value;
}

} // namespace nnc::tensorflow
