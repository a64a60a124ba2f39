//===- Regions.cpp - Regions of interest and prior boxes ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Checks that `rois` has rows of an image's number and two corners.
static bool checkRois(Layer &layer, Value x, Value rois) {
  if (getRank(x) == 4 && getRank(rois) == 2 && getShape(rois)[1] == 5)
    return true;
  layer.broken("has images of shape " + toString(getShape(x)) +
               " and regions of shape " + toString(getShape(rois)) +
               "; it needs 4 axes, and rows of 5 numbers");
  return false;
}

Value convertRoiPooling(Layer &layer) {
  Value x = layer.getInput(0), rois = layer.getInput(1);
  SmallVector<int64_t> sizes = layer.getSizes("pooled_size", 2, 1, 1);
  if (layer.hasFailed() || !checkRois(layer, x, rois))
    return {};
  return layer.create<nn::MaxRoiPoolOp>(
      x, layer.castTo(rois, getElement(x)), sizes,
      APFloat(layer.getReal("spatial_scale", 1)));
}

Value convertRoiAlign(Layer &layer) {
  Value x = layer.getInput(0), rois = layer.getInput(1);
  SmallVector<int64_t> sizes = layer.getSizes("pooled_size", 2, 1, 1);
  if (layer.hasFailed() || !checkRois(layer, x, rois))
    return {};
  if (layer.getBool("position_sensitive", false))
    return layer.unsupported("is position_sensitive");
  Value images = layer.reshape(layer.slice(rois, 1, 0, 1), {getShape(rois)[0]});
  return layer.create<nn::RoiAlignOp>(
      nn::RoiMode::avg, x,
      layer.castTo(layer.slice(rois, 1, 1, 4), getElement(x)),
      layer.castTo(images, layer.getI64()), sizes,
      std::max<int64_t>(layer.getInt("sample_ratio", -1), 0),
      APFloat(layer.getReal("spatial_scale", 1)),
      layer.getBool("aligned", false));
}

/// Converts _contrib_MultiBoxPrior: boxes around the centres of the elements of
/// an image, which its size alone decides. Boxes have all sizes with the first
/// ratio, then the first size with the other ratios.
Value convertMultiBoxPrior(Layer &layer) {
  Value x = layer.getInput(0);
  SmallVector<double> sizes = layer.getReals("sizes", {1.0}),
                      ratios = layer.getReals("ratios", {1.0}),
                      steps = layer.getReals("steps", {-1.0, -1.0}),
                      offsets = layer.getReals("offsets", {0.5, 0.5});
  if (getRank(x) != 4 || sizes.empty() || ratios.empty() || steps.size() != 2 ||
      offsets.size() != 2 ||
      llvm::any_of(ratios, [](double ratio) { return !(ratio > 0); }))
    return layer.broken("has sizes, ratios, steps or offsets that do not fit "
                        "an input of shape " +
                        toString(getShape(x)));
  int64_t rows = getShape(x)[2], columns = getShape(x)[3];
  int64_t each = sizes.size() + ratios.size() - 1, count = 0;
  if (llvm::MulOverflow(rows * columns, each, count) || count > 1 << 22)
    return layer.fail(ImportStatus::limit, "has more than 2^22 boxes");
  double stepY = steps[0] > 0 ? steps[0] : 1.0 / double(rows),
         stepX = steps[1] > 0 ? steps[1] : 1.0 / double(columns);
  double aspect = double(rows) / double(columns);
  bool clips = layer.getBool("clip", false);
  std::vector<float> boxes;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double y = (double(row) + offsets[0]) * stepY,
             x0 = (double(column) + offsets[1]) * stepX;
      for (int64_t i = 0; i < each; ++i) {
        bool isSize = i < int64_t(sizes.size());
        double size = isSize ? sizes[i] : sizes[0];
        double root =
            std::sqrt(isSize ? ratios[0] : ratios[i - sizes.size() + 1]);
        double w = size * aspect * root / 2, h = size / root / 2;
        for (double edge : {x0 - w, y - h, x0 + w, y + h})
          boxes.push_back(float(clips ? std::clamp(edge, 0.0, 1.0) : edge));
      }
    }
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({1, count, 4}, layer.getF32()),
      ArrayRef<float>(boxes)));
}

} // namespace nnc::mxnet
