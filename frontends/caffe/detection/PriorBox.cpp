//===- PriorBox.cpp - The boxes that SSD starts from ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

namespace {
/// The height and the width of something, in pixels.
struct Extent {
  float height, width;
};
} // namespace

/// Returns the aspect ratios other than 1, each once.
static std::vector<float> getRatios(const schema::PriorBoxParameter &param) {
  std::vector<float> ratios;
  auto add = [&](float ratio) {
    auto isNear = [&](float other) { return std::abs(ratio - other) < 1e-6f; };
    if (!isNear(1) && llvm::none_of(ratios, isNear))
      ratios.push_back(ratio);
  };
  for (float ratio : param.aspect_ratio()) {
    size_t before = ratios.size();
    add(ratio);
    if (param.flip() && ratios.size() > before)
      ratios.push_back(1 / ratio);
  }
  return ratios;
}

/// Returns the sizes of the boxes around each pixel. Caffe's fork rounds the
/// sizes that the file states down to whole pixels.
static std::vector<Extent> getBoxes(const schema::PriorBoxParameter &param) {
  std::vector<float> ratios = getRatios(param);
  std::vector<Extent> boxes;
  for (int i = 0; i < param.min_size_size(); ++i) {
    float least = std::trunc(param.min_size(i));
    boxes.push_back({least, least});
    if (i < param.max_size_size()) {
      float side = std::sqrt(least * std::trunc(param.max_size(i)));
      boxes.push_back({side, side});
    }
    for (float ratio : ratios)
      boxes.push_back({least / std::sqrt(ratio), least * std::sqrt(ratio)});
  }
  return boxes;
}

/// Reports parameters that make no sense, and returns whether all do.
static bool check(Layer &layer, const schema::PriorBoxParameter &param) {
  auto isPositive = [](float size) { return size > 0 && size < 1e9f; };
  int sizes = param.min_size_size(), variances = param.variance_size();
  bool isSound =
      sizes > 0 && llvm::all_of(param.min_size(), isPositive) &&
      llvm::all_of(param.max_size(), isPositive) &&
      llvm::all_of(param.aspect_ratio(), isPositive) &&
      (param.max_size_size() == 0 || param.max_size_size() == sizes) &&
      (variances <= 1 || variances == 4);
  if (!isSound)
    layer.broken("has " + Twine(sizes) + " entries of min_size, " +
                 Twine(param.max_size_size()) + " of max_size and " +
                 Twine(variances) +
                 " of variance; it needs a min_size, all sizes and ratios "
                 "positive, as many entries of max_size or none, and one or "
                 "four variances");
  return isSound;
}

/// Converts PriorBox to a constant: the corners of all boxes in parts of the
/// image, x and y in turn, then their variances.
Value convertPriorBox(Layer &layer) {
  const schema::PriorBoxParameter &param = layer.getParam().prior_box_param();
  Value x = layer.getBottom(0), data = layer.getBottom(1);
  if (!check(layer, param))
    return {};
  if (getRank(x) != 4 || getRank(data) != 4)
    return layer.broken("needs bottoms of four axes, not ones of shapes " +
                        toString(getShape(x)) + " and " +
                        toString(getShape(data)));
  int64_t rows = getShape(x)[2], columns = getShape(x)[3];
  Extent image = {static_cast<float>(getShape(data)[2]),
                  static_cast<float>(getShape(data)[3])};
  if (param.has_img_size())
    image.height = image.width = static_cast<float>(param.img_size());
  if (param.has_img_h() && param.has_img_w())
    image = {static_cast<float>(param.img_h()),
             static_cast<float>(param.img_w())};
  Extent step = {image.height / static_cast<float>(rows),
                 image.width / static_cast<float>(columns)};
  if (param.step() > 0)
    step = {param.step(), param.step()};
  else if (param.step_h() > 0 && param.step_w() > 0)
    step = {param.step_h(), param.step_w()};

  std::vector<Extent> boxes = getBoxes(param);
  int64_t count = static_cast<int64_t>(boxes.size()) * 4;
  bool overflows = llvm::MulOverflow(count, rows, count) ||
                   llvm::MulOverflow(count, columns, count) || count > kMaxDim;
  if (overflows)
    return layer.fail(
        ImportStatus::limit,
        "makes more boxes than nnc handles of a bottom of shape " +
            toString(getShape(x)));
  SmallVector<int64_t> shape = {1, 2, count};
  if (!layer.checkSize(RankedTensorType::get(shape, getElement(x)),
                       /*isMade=*/true))
    return {};
  std::vector<float> values;
  values.reserve(2 * count);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float centerY = (static_cast<float>(row) + param.offset()) * step.height,
            centerX =
                (static_cast<float>(column) + param.offset()) * step.width;
      for (const Extent &box : boxes) {
        values.push_back((centerX - box.width / 2) / image.width);
        values.push_back((centerY - box.height / 2) / image.height);
        values.push_back((centerX + box.width / 2) / image.width);
        values.push_back((centerY + box.height / 2) / image.height);
      }
    }
  if (param.clip())
    for (float &value : values)
      value = std::min(std::max(value, 0.0f), 1.0f);
  for (int64_t i = 0; i < count; ++i)
    values.push_back(
        param.variance_size() == 0
            ? 0.1f
            : param.variance(param.variance_size() == 1 ? 0 : int(i % 4)));
  return layer.constantOf(values, shape);
}

} // namespace nnc::caffe
