//===- Detection.cpp - Boxes of detected objects --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {
namespace {
/// The options of nnc_boxes_nms, in the order of runtime/nnc_boxes.h.
struct Suppression {
  int64_t id, score, coordinates, most, anyClass, background, readsCentres,
      writesCentres, keeps;
  float overlap, minScore;
};
} // namespace

/// Returns the rows of `x`, batches x n x columns, that are selected.
static Value suppress(Layer &layer, Value x, const Suppression &options) {
  if (!x)
    return {};
  if (!getElement(x).isF32())
    return layer.unsupported("selects boxes of another type than float32");
  Builder &builder = layer.getBuilder();
  nn::DescribedAttr rows = describePlain(cast<RankedTensorType>(x.getType()));
  Customs::Call call;
  call.name = layer.getOp().str();
  call.operands = {x};
  call.reads = {rows};
  call.writes = {rows};
  call.attributes = {
      builder.getNamedAttr(
          "ints",
          builder.getDenseI64ArrayAttr(
              {options.id, options.score, options.coordinates, options.most,
               options.anyClass, options.background, options.readsCentres,
               options.writesCentres, options.keeps})),
      builder.getNamedAttr("reals", builder.getDenseF32ArrayAttr(
                                        {options.overlap, options.minScore}))};
  CustomFunction function;
  function.op = call.name;
  function.header = "nnc_boxes.h";
  function.name = "nnc_boxes_nms";
  function.scratch = getShape(x)[1]; // a state for each row
  SmallVector<Value> results =
      layer.getImporter().getCustoms().create(function, call, layer);
  return results.empty() ? Value() : results[0];
}

/// Reads whether boxes are given by their centres.
static std::optional<bool> readFormat(Layer &layer, StringRef attribute) {
  StringRef format = layer.getText(attribute, "corner");
  if (format == "corner" || format == "center")
    return format == "center";
  layer.broken("has " + attribute + " '" + format + "'");
  return std::nullopt;
}

Value convertBoxNms(Layer &layer) {
  Value x = layer.getInput(0);
  auto reads = readFormat(layer, "in_format"),
       writes = readFormat(layer, "out_format");
  if (!reads || !writes)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  int64_t columns = shape.empty() ? 0 : shape.back();
  Suppression options = {layer.getInt("id_index", -1),
                         layer.getInt("score_index", 1),
                         layer.getInt("coord_start", 2),
                         layer.getInt("topk", -1),
                         layer.getBool("force_suppress", false),
                         layer.getInt("background_id", -1),
                         *reads,
                         *writes,
                         /*keeps=*/0,
                         float(layer.getReal("overlap_thresh", 0.5)),
                         float(layer.getReal("valid_thresh", 0))};
  if (shape.size() < 2 || options.id < -1 || options.id >= columns ||
      options.score < 0 || options.score >= columns ||
      options.coordinates < 0 || options.coordinates > columns - 4)
    return layer.broken("has id_index, score_index or coord_start that do not "
                        "fit rows of " +
                        Twine(columns) + " columns");
  int64_t n = shape[shape.size() - 2];
  options.most = options.most < 0 ? n : std::min(options.most, n);
  ArrayRef<int64_t> batches = ArrayRef(shape).drop_back(2);
  x = layer.reshape(x, {product(batches), n, columns});
  if (getNumElements(x) == 0)
    return layer.unsupported("has no boxes");
  return layer.reshape(suppress(layer, x, options), shape);
}

/// Returns the corners of boxes, batches x n x 4, from their offsets, batches x
/// n x 4, to the anchors, 1 x n x 4.
static Value decodeBoxes(Layer &layer, Value offsets, Value anchors,
                         ArrayRef<double> variances, bool clips) {
  auto half = [&](Value x) { return layer.mul(x, layer.scalar(0.5, x)); };
  Value low = layer.slice(anchors, 2, 0, 2),
        high = layer.slice(anchors, 2, 2, 2);
  Value size = layer.createElementwise("sub", {high, low}),
        centre = half(layer.add(low, high));
  auto scaled = [&](int64_t begin) {
    SmallVector<double> pair(variances.begin() + begin,
                             variances.begin() + begin + 2);
    Value factors = layer.constant(frontends::makeAttribute(
        {RankedTensorType::get(2, layer.getF32()), {}, pair}));
    return layer.mul(layer.slice(offsets, 2, begin, 2), factors);
  };
  Value middle = layer.add(layer.mul(scaled(0), size), centre);
  Value reach =
      half(layer.mul(layer.createElementwise("exp", scaled(2)), size));
  SmallVector<Value> corners = {layer.createElementwise("sub", {middle, reach}),
                                layer.add(middle, reach)};
  Value boxes = layer.create<nn::ConcatOp>(ValueRange(corners), int64_t(2));
  if (!clips)
    return boxes;
  boxes = layer.createElementwise("max", {boxes, layer.scalar(0, boxes)});
  return layer.createElementwise("min", {boxes, layer.scalar(1, boxes)});
}

/// Converts _contrib_MultiBoxDetection. Rows of the result are the class, which
/// is -1 for boxes that are none, the score and the corners.
Value convertMultiBoxDetection(Layer &layer) {
  Value scores = layer.getInput(0), offsets = layer.getInput(1),
        anchors = layer.getInput(2);
  ArrayRef<int64_t> shape = getShape(scores);
  SmallVector<double> variances =
      layer.getReals("variances", {0.1, 0.1, 0.2, 0.2});
  double overlap = layer.getReal("nms_threshold", 0.5);
  if (shape.size() != 3 || shape[1] < 2 || variances.size() != 4 ||
      getNumElements(offsets) != shape[0] * shape[2] * 4 ||
      getNumElements(anchors) != shape[2] * 4 || shape[2] == 0)
    return layer.broken("has scores, offsets and anchors of shapes " +
                        toString(shape) + ", " + toString(getShape(offsets)) +
                        " and " + toString(getShape(anchors)));
  if (layer.getInt("background_id", 0) != 0)
    return layer.unsupported("has another background_id than 0");
  if (!(overlap > 0 && overlap <= 1))
    return layer.unsupported("has the nms_threshold " +
                             frontends::toString(overlap) +
                             "; nnc handles 0 to 1");
  int64_t batches = shape[0], classes = shape[1] - 1, n = shape[2];
  Value boxes = decodeBoxes(layer, layer.reshape(offsets, {batches, n, 4}),
                            layer.reshape(anchors, {1, n, 4}), variances,
                            layer.getBool("clip", true));
  // The best class and its score. Class 0 is the background.
  scores = layer.slice(scores, 1, 1, classes);
  Value best = layer.reduce(nn::ReduceKind::max, scores, {1}, false);
  Value id =
      layer.castTo(layer.create<nn::ArgMaxOp>(scores, int64_t(1), false, false),
                   layer.getF32());
  Value counts = layer.createElementwise(
      "greater_equal",
      {best, layer.scalar(layer.getReal("threshold", 0.01), best)});
  best =
      layer.createElementwise("select", {counts, best, layer.scalar(-1, best)});
  SmallVector<Value> parts = {layer.reshape(id, {batches, n, 1}),
                              layer.reshape(best, {batches, n, 1}), boxes};
  Value rows = layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(2));
  int64_t most = layer.getInt("nms_topk", -1);
  return suppress(layer, rows,
                  {/*id=*/0, /*score=*/1, /*coordinates=*/2,
                   most <= 0 ? n : std::min(most, n),
                   layer.getBool("force_suppress", false), /*background=*/-1,
                   /*readsCentres=*/0, /*writesCentres=*/0, /*keeps=*/1,
                   float(overlap), /*minScore=*/-0.5F});
}

/// Converts _contrib_box_iou: the overlaps of all pairs of boxes.
Value convertBoxIou(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  auto isCentred = readFormat(layer, "format");
  if (!isCentred)
    return {};
  if (getRank(a) < 1 || getRank(b) < 1 || getShape(a).back() != 4 ||
      getShape(b).back() != 4)
    return layer.broken("has boxes of shapes " + toString(getShape(a)) +
                        " and " + toString(getShape(b)));
  SmallVector<int64_t> result(getShape(a).drop_back());
  llvm::append_range(result, getShape(b).drop_back());
  auto apply = [&](StringRef op, Value x, Value y) {
    return layer.createElementwise(op, {x, y});
  };
  Value both, areas[2];
  int64_t counts[2] = {product(getShape(a).drop_back()),
                       product(getShape(b).drop_back())};
  Value zero = layer.scalar(0, a);
  for (int64_t axis : {0, 1}) {
    Value begins[2], ends[2];
    for (int64_t side : {0, 1}) {
      Value boxes = layer.reshape(side ? b : a, {counts[side], 4});
      SmallVector<int64_t> column = {counts[side], 1};
      if (side)
        column = {1, counts[side]};
      Value first = layer.reshape(layer.slice(boxes, 1, axis, 1), column),
            second = layer.reshape(layer.slice(boxes, 1, axis + 2, 1), column);
      if (*isCentred) {
        Value half = layer.mul(second, layer.scalar(0.5, second));
        second = layer.add(first, half);
        first = apply("sub", first, half);
      }
      begins[side] = first;
      ends[side] = second;
      Value length = apply("max", apply("sub", second, first), zero);
      areas[side] = axis == 0 ? length : layer.mul(areas[side], length);
    }
    Value length = apply("max",
                         apply("sub", apply("min", ends[0], ends[1]),
                               apply("max", begins[0], begins[1])),
                         zero);
    both = axis == 0 ? length : layer.mul(both, length);
  }
  Value all = apply("sub", layer.add(areas[0], areas[1]), both);
  Value isPositive = apply("greater", all, zero);
  Value divisor = layer.createElementwise(
      "select", {isPositive, all, layer.scalar(1, all)});
  return layer.reshape(apply("div", both, divisor), result);
}

} // namespace nnc::mxnet
