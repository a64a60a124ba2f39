//===- DetectionOutput.cpp - The detections of SSD ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

namespace {
/// The import of one DetectionOutput. A candidate is one of the best boxes of a
/// class in an image; `each` candidates of a class follow one another, the best
/// first, and classes and images likewise.
class Detections {
public:
  explicit Detections(Layer &layer)
      : layer(layer), param(layer.getParam().detection_output_param()) {}
  Value build();

private:
  bool readShapes();
  Value decode();
  void chooseCandidates(Value corners);
  Value suppress();
  Value list(Value kept);

  Value binary(StringRef op, Value a, Value b) {
    return layer.createElementwise(op, {a, b});
  }
  /// Returns the integers 0 to count - 1, times `step`.
  Value count(int64_t count, int64_t step = 1);
  /// Returns a vector of i64.
  Value vectorOf(ArrayRef<int64_t> values) { return layer.constant(values); }
  Value number(int64_t value) {
    return layer.splat(static_cast<double>(value),
                       layer.getBuilder().getI64Type());
  }

  Layer &layer;
  const schema::DetectionOutputParameter &param;
  int64_t images = 0, boxes = 0, classes = 0;
  int64_t each = 0;  ///< candidates of a class in an image
  int64_t total = 0; ///< candidates of all classes in all images
  /// The classes that are not the background.
  SmallVector<int64_t> labels;
  Value scores, corners; ///< of all candidates: total, and total x 4
};
} // namespace

Value Detections::count(int64_t count, int64_t step) {
  SmallVector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i * step);
  return vectorOf(values);
}

/// Checks the bottoms, and reads the numbers of boxes, classes and images.
bool Detections::readShapes() {
  Value location = layer.getBottom(0), confidence = layer.getBottom(1),
        prior = layer.getBottom(2);
  ArrayRef<int64_t> priors = getShape(prior);
  classes = param.num_classes();
  if (classes < 1) {
    layer.broken("has num_classes 0");
    return false;
  }
  if (param.nms_param().eta() != 1) {
    layer.unsupported("has an eta other than 1");
    return false;
  }
  int64_t sets = param.share_location() ? 1 : classes;
  images = getRank(location) ? getShape(location)[0] : 0;
  boxes = priors.size() == 3 ? priors[2] / 4 : 0;
  bool fits = images > 0 && boxes > 0 && priors[0] == 1 && priors[1] == 2 &&
              priors[2] % 4 == 0 && getRank(confidence) > 0 &&
              getNumElements(location) == images * boxes * sets * 4 &&
              getShape(confidence)[0] == images &&
              getNumElements(confidence) / images % boxes == 0 &&
              getNumElements(confidence) / images / boxes == classes;
  if (!fits) {
    layer.broken("has bottoms of shapes " + toString(getShape(location)) +
                 ", " + toString(getShape(confidence)) + " and " +
                 toString(priors) + " for " + Twine(classes) +
                 " classes; it needs " + Twine(sets * 4) +
                 " numbers and one for each class for each box, and boxes of "
                 "shape 1x2xN");
    return false;
  }
  for (int64_t i = 0; i < std::min<int64_t>(classes, kMaxReadElements); ++i)
    if (i != param.background_label_id())
      labels.push_back(i);
  int64_t most = param.nms_param().top_k();
  each = most > 0 ? std::min(most, boxes) : boxes;
  total = images * int64_t(labels.size()) * each;
  if (classes > kMaxReadElements || labels.empty()) {
    layer.unsupported("has " + Twine(classes) + " classes; nnc handles " +
                      Twine(kMaxReadElements));
    return false;
  }
  return layer.checkSize(
      RankedTensorType::get({3 * total + 1}, layer.getBuilder().getI64Type()),
      /*isMade=*/true);
}

/// Returns the corners of the boxes, images x sets x boxes x 4, from where the
/// network locates them relative to the prior ones. All classes share one set,
/// or each has its own.
Value Detections::decode() {
  using Prior = schema::PriorBoxParameter;
  int64_t sets = 1;
  Value location = layer.getBottom(0);
  if (param.share_location()) {
    location = layer.reshape(location, {images, 1, boxes, 4});
  } else {
    sets = labels.size();
    location = layer.create<nn::GatherOp>(
        layer.reshape(location, {images, boxes, classes, 4}), vectorOf(labels),
        int64_t(2));
    location = layer.transpose(location, {0, 2, 1, 3});
  }
  if (!location)
    return {};
  Value prior = layer.reshape(layer.getBottom(2), {2, boxes, 4});
  Value priors = layer.take(prior, 0, 0), variances = layer.take(prior, 0, 1);
  if (!param.variance_encoded_in_target())
    location = binary("mul", location, variances);
  auto half = [&](Value x, bool isSecond) {
    return layer.slice(
        x, isSecond ? ArrayRef<int64_t>{0, 2} : ArrayRef<int64_t>{0, 0},
        {boxes, 2});
  };
  Value low = half(priors, false), high = half(priors, true);
  Value size = binary("sub", high, low);
  SmallVector<int64_t> first = {0, 0, 0, 0}, second = {0, 0, 0, 2},
                       sizes = {images, sets, boxes, 2};
  Value a = layer.slice(location, first, sizes),
        b = layer.slice(location, second, sizes);
  Value from, to;
  if (param.code_type() == Prior::CENTER_SIZE) {
    Value center = layer.withNumber("mul", binary("add", low, high), 0.5);
    center = binary("add", binary("mul", a, size), center);
    Value extent = layer.withNumber(
        "mul", binary("mul", layer.createElementwise("exp", b), size), 0.5);
    from = binary("sub", center, extent);
    to = binary("add", center, extent);
  } else {
    bool isRelative = param.code_type() == Prior::CORNER_SIZE;
    from = binary("add", isRelative ? binary("mul", a, size) : a, low);
    to = binary("add", isRelative ? binary("mul", b, size) : b, high);
  }
  return from && to
             ? layer.create<nn::ConcatOp>(ValueRange({from, to}), int64_t(3))
             : Value();
}

/// Picks the best boxes of each class.
void Detections::chooseCandidates(Value all) {
  int64_t count = labels.size();
  Value confidence =
      layer.reshape(layer.getBottom(1), {images, boxes, classes});
  confidence = layer.create<nn::GatherOp>(
      layer.transpose(confidence, {0, 2, 1}), vectorOf(labels), int64_t(1));
  Value best = layer.create<nn::TopKOp>(confidence, int64_t(2), each,
                                        /*largest=*/true);
  // Places among the confidences of all images, and among all boxes, of which
  // there are as many as confidences where each class has its own.
  Value rows =
      layer.reshape(this->count(images * count, boxes), {images, count, 1});
  Value firsts = param.share_location()
                     ? layer.reshape(this->count(images, boxes), {images, 1, 1})
                     : rows;
  scores = layer.create<nn::GatherOp>(
      layer.reshape(confidence, {images * count * boxes}),
      layer.reshape(binary("add", best, rows), {total}), int64_t(0));
  corners = layer.create<nn::GatherOp>(
      layer.reshape(all, {getNumElements(all) / 4, 4}),
      layer.reshape(binary("add", best, firsts), {total}), int64_t(0));
}

/// Returns the scores of the candidates, of which those that overlap with
/// better ones or are below the threshold are the least float.
Value Detections::suppress() {
  Type real = getElement(scores);
  int64_t groups = images * int64_t(labels.size());
  double least = param.has_confidence_threshold()
                     ? param.confidence_threshold()
                     : std::numeric_limits<float>::lowest();
  // A box whose second corner lies in front of the first overlaps with none.
  SmallVector<int64_t> pair = {total, 2};
  Value from = layer.slice(corners, {0, 0}, pair),
        to = binary("max", from, layer.slice(corners, {0, 2}, pair));
  if (!to)
    return {};
  Value sound = layer.create<nn::ConcatOp>(ValueRange({from, to}), int64_t(1));
  Value chosen = layer.create<nn::SuppressOp>(
      layer.reshape(sound, {groups, each, 4}),
      layer.reshape(scores, {groups, 1, each}), vectorOf({each}),
      layer.splat(param.nms_param().nms_threshold(), real, {1}),
      layer.splat(least, real, {1}), each, /*centered=*/false);
  // The places of the chosen ones; those of the other rows are out of range.
  Value number = layer.slice(chosen, {0}, {1});
  Value triples =
      layer.reshape(layer.slice(chosen, {1}, {3 * total}), {total, 3});
  Value places = binary(
      "add", binary("mul", layer.take(triples, 1, 0), this->number(each)),
      layer.take(triples, 1, 2));
  Value isChosen = binary("less", count(total), number);
  places = layer.createElementwise("select",
                                   {isChosen, places, this->number(total)});
  Value marks = layer.create<nn::ScatterOp>(
      nn::ScatterKind::replace, layer.splat(0, real, {total}), places,
      layer.splat(1, real, {total}));
  return layer.createElementwise(
      "select", {layer.withNumber("greater", marks, 0.5), scores,
                 layer.splat(std::numeric_limits<float>::lowest(), real)});
}

/// Returns the rows of the result of the candidates with these scores: for each
/// image those with the best scores, ordered by their class.
Value Detections::list(Value kept) {
  Type real = getElement(scores);
  int64_t own = int64_t(labels.size()) * each,
          rows = param.keep_top_k() >= 0
                     ? std::min<int64_t>(param.keep_top_k(), own)
                     : own;
  if (rows == 0)
    return layer.broken("keeps no detections (keep_top_k: 0)");
  Value scoresOf = layer.reshape(kept, {images, own});
  Value best = layer.create<nn::TopKOp>(scoresOf, int64_t(1), rows,
                                        /*largest=*/true);
  Value firsts = layer.reshape(count(images, own), {images, 1});
  auto pick = [&](Value from, Value places) {
    return layer.create<nn::GatherOp>(
        from, layer.reshape(places, {images * rows}), int64_t(0));
  };
  // Candidates are ordered by class and then by score, so that their places
  // sort them. Those that were suppressed go last.
  Value isKept =
      layer.withNumber("greater", pick(kept, binary("add", best, firsts)),
                       std::numeric_limits<float>::lowest());
  Value keys = layer.createElementwise(
      "select", {isKept, layer.reshape(best, {images * rows}), number(own)});
  Value order = layer.create<nn::TopKOp>(layer.reshape(keys, {images, rows}),
                                         int64_t(1), rows, /*largest=*/false);
  order = binary("add", order, layer.reshape(count(images, rows), {images, 1}));
  keys = pick(keys, order);
  isKept = binary("less", keys, number(own));
  Value places =
      layer.reshape(binary("add", layer.reshape(keys, {images, rows}), firsts),
                    {images * rows});

  SmallVector<int64_t> imageOf, column = {images * rows, 1};
  for (int64_t i = 0; i < images * rows; ++i)
    imageOf.push_back(i / rows);
  Value label = layer.create<nn::GatherOp>(
      vectorOf(labels), binary("div", keys, number(each)), int64_t(0));
  Value columns[] = {
      layer.reshape(layer.castTo(vectorOf(imageOf), real), column),
      layer.reshape(layer.castTo(label, real), column),
      layer.reshape(layer.create<nn::GatherOp>(kept, places, int64_t(0)),
                    column),
      layer.create<nn::GatherOp>(corners, places, int64_t(0))};
  Value table = layer.create<nn::ConcatOp>(ValueRange(columns), int64_t(1));
  table = layer.createElementwise(
      "select", {layer.reshape(isKept, column), table, layer.splat(-1, real)});
  return layer.reshape(table, {1, 1, images * rows, 7});
}

Value Detections::build() {
  if (!readShapes())
    return {};
  Value all = decode();
  if (!all)
    return {};
  chooseCandidates(all);
  if (!scores || !corners)
    return {};
  Value kept = suppress();
  return kept ? list(kept) : Value();
}

/// Converts DetectionOutput to a table of detections: image, class, score and
/// corners. Rows behind the last detection are -1.
Value convertDetectionOutput(Layer &layer) { return Detections(layer).build(); }

} // namespace nnc::caffe
