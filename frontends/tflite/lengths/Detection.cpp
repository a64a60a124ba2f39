//===- Detection.cpp - TFLite_Detection_PostProcess -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A custom operator that is part of TFLite. The function in
// runtime/nnc_detection.h computes it; the emitted code calls it like a custom
// function of the user.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/custom/Custom.h"
#include "frontends/tflite/custom/Flex.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// The largest number of detections; no real network has more.
static constexpr int64_t kMaxDetections = 100000;

namespace {
struct DetectionOptions {
  int64_t maxDetections, classesEach, eachClass, isRegular, classes;
  /// The score threshold, the largest overlap, and the scales of y, x, h and w.
  float reals[6];
};
} // namespace

/// Reads the options. Reports what is missing or makes no sense.
static std::optional<DetectionOptions> readOptions(Layer &layer) {
  FlexOptions map(layer);
  DetectionOptions options = {
      map.getInt("max_detections", 1, kMaxDetections),
      map.getInt("max_classes_per_detection", 1, kMaxDetections),
      map.getInt("detections_per_class", 0, INT32_MAX, 100),
      map.getBool("use_regular_nms"),
      map.getInt("num_classes", 1, INT32_MAX),
      {map.getReal("nms_score_threshold", false),
       map.getReal("nms_iou_threshold", false), map.getReal("y_scale", true),
       map.getReal("x_scale", true), map.getReal("h_scale", true),
       map.getReal("w_scale", true)}};
  return map.isSound() ? std::optional(options) : std::nullopt;
}

/// Checks the shapes and element types of the operands.
static bool checkOperands(Layer &layer, const DetectionOptions &options) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (size_t i = 0; i < 3; ++i) {
    Value x = layer.getInput(i);
    if (!x)
      return false;
    shapes.push_back(getShape(x));
    Type element = getElement(x);
    Quantization quantization = layer.getInputQuantization(i);
    bool isByte = element.isInteger(8) && quantization.scales.size() == 1;
    if (!element.isF32() && !isByte) {
      layer.unsupported("reads '" + getText(layer.getInputTensor(i)->name()) +
                        "' of type " + getTypeName(element) +
                        "; nnc needs FLOAT32, or INT8 or UINT8 with a scale");
      return false;
    }
  }
  ArrayRef<int64_t> boxes = shapes[0], scores = shapes[1], anchors = shapes[2];
  bool fits = boxes.size() == 3 && scores.size() == 3 && anchors.size() == 2 &&
              boxes[0] == 1 && scores[0] == 1 && boxes[1] == scores[1] &&
              boxes[1] == anchors[0] && boxes[2] >= 4 && anchors[1] == 4 &&
              boxes[1] > 0 && scores[2] >= options.classes;
  if (!fits)
    layer.broken("has boxes, scores and anchors of shapes " + toString(boxes) +
                 ", " + toString(scores) + " and " + toString(anchors) +
                 " for " + Twine(options.classes) +
                 " classes; needs 1 x n x 4, 1 x n x classes and n x 4");
  return fits;
}

Value convertDetectionPostProcess(Layer &layer) {
  std::optional<DetectionOptions> options = readOptions(layer);
  if (!options || !checkOperands(layer, *options))
    return {};
  if (layer.getNumResults() != 4)
    return layer.broken("has " + Twine(layer.getNumResults()) +
                        " results instead of 4");
  // TFLite infers the shapes of the results; files may state others.
  layer.ignoreStatedShapes();
  Builder &builder = layer.getBuilder();
  Customs::Call call;
  call.name = "TFLite_Detection_PostProcess";
  for (size_t i = 0; i < 3; ++i) {
    call.operands.push_back(layer.getInput(i));
    call.reads.push_back(
        describe(cast<RankedTensorType>(call.operands[i].getType()),
                 layer.getInputQuantization(i)));
  }
  int64_t count = options->maxDetections * options->classesEach;
  const SmallVector<int64_t> shapes[] = {
      {1, count, 4}, {1, count}, {1, count}, {1}};
  for (ArrayRef<int64_t> shape : shapes)
    call.writes.push_back(
        describePlain(RankedTensorType::get(shape, builder.getF32Type())));
  call.attributes = {builder.getNamedAttr(
                         "ints", builder.getDenseI64ArrayAttr(
                                     {options->maxDetections,
                                      options->classesEach, options->eachClass,
                                      options->isRegular, options->classes})),
                     builder.getNamedAttr("reals", builder.getDenseF32ArrayAttr(
                                                       options->reals))};
  CustomFunction function;
  function.op = call.name;
  function.header = "nnc_detection.h";
  function.name = "nnc_detection_postprocess";
  // Each box needs four coordinates, a score, an index and a mark.
  function.scratch = getShape(call.operands[0])[1] * (4 * 4 + 4 + 4 + 1);
  SmallVector<Value> results = layer.getCustoms().create(function, call, layer);
  for (auto [i, result] : llvm::enumerate(results))
    layer.setResult(i, result);
  return results.empty() ? Value() : results[0];
}

} // namespace nnc::tflite
