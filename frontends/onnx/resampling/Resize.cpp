//===- Resize.cpp - Resize and Upsample -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ResampleAxis.h"
#include "frontends/onnx/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

namespace {
/// The new size and the scale of every axis.
struct Sizes {
  SmallVector<double> scales;
  SmallVector<int64_t> sizes;
  /// The regions of the axes that tf_crop_and_resize resizes, in [0, 1].
  SmallVector<double> starts, ends;

  /// Returns true if the axis is resized. A scale other than 1 moves the
  /// coordinates even if the size stays the same.
  bool isResized(Value x, size_t axis) const {
    return scales[axis] != 1 || sizes[axis] != getShape(x)[axis];
  }
};

struct Interpolation {
  nn::ResizeMode mode;
  /// nullopt if nn.resize does not support the coordinate transformation.
  std::optional<nn::ResizeCoordinates> coordinates;
  nn::ResizeNearest nearest;
  bool antialias = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Returns the scales, which are attributes (Upsample 1 and 7) or an operand;
/// the list is empty if there are none.
static std::optional<SmallVector<double>> getScales(Node &node) {
  bool isUpsample = node.getOp() == "Upsample";
  if (isUpsample && node.getVersion() == 1)
    return SmallVector<double>{1, 1, node.getFloat("height_scale"),
                               node.getFloat("width_scale")};
  if (isUpsample && node.getVersion() < 9) {
    const auto &scales = node.find("scales")->floats();
    return SmallVector<double>(scales.begin(), scales.end());
  }
  size_t position = isUpsample || node.getVersion() < 11 ? 1 : 2;
  // An empty operand counts as absent.
  if (!node.getOperand(position) ||
      getNumElements(node.getOperand(position)) == 0)
    return SmallVector<double>();
  return node.getConstantReals(position, "scales");
}

/// Applies keep_aspect_ratio_policy: gives all axes the same scale, so that
/// they fit into the given sizes or cover them.
static bool keepAspectRatio(Node &node, Value x, ArrayRef<int64_t> axes,
                            Sizes &result) {
  StringRef policy = node.getString("keep_aspect_ratio_policy");
  if (policy.empty() || policy == "stretch")
    return true;
  if (policy != "not_larger" && policy != "not_smaller") {
    node.broken("has keep_aspect_ratio_policy '" + policy +
                "', which ONNX does not know");
    return false;
  }
  double scale = result.scales[axes[0]];
  for (int64_t axis : axes)
    scale = policy == "not_larger" ? std::min(scale, result.scales[axis])
                                   : std::max(scale, result.scales[axis]);
  for (int64_t axis : axes) {
    result.scales[axis] = scale;
    result.sizes[axis] = static_cast<int64_t>(
        std::floor(scale * static_cast<double>(getShape(x)[axis]) + 0.5));
  }
  return true;
}

/// Reads the regions of `axes` for tf_crop_and_resize; other modes ignore them.
static bool readParts(Node &node, ArrayRef<int64_t> axes, Sizes &sizes) {
  if (node.getOp() == "Upsample" || node.getVersion() < 11 ||
      node.getString("coordinate_transformation_mode") != "tf_crop_and_resize")
    return true;
  auto parts = node.getConstantReals(1, "parts of the image");
  if (!parts)
    return false;
  bool fits = parts->size() == 2 * axes.size();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!fits)
      break;
    sizes.starts[axis] = (*parts)[i];
    sizes.ends[axis] = (*parts)[axes.size() + i];
    // The comparisons also reject NaN.
    fits =
        std::abs(sizes.starts[axis]) < 1e6 && std::abs(sizes.ends[axis]) < 1e6;
  }
  if (!fits)
    node.broken("has " + Twine(parts->size()) +
                " limits of parts, or limits that are no parts, for " +
                Twine(axes.size()) + " axes");
  return fits;
}

static std::optional<Sizes> getSizes(Node &node, Value x) {
  int64_t rank = getRank(x);
  std::optional<SmallVector<int64_t>> axes, sizes;
  if (!node.getAxes(/*i=*/~size_t(0), "axes", rank, axes))
    return std::nullopt;
  if (!axes)
    axes = iota(rank);
  auto scales = getScales(node);
  if (!scales)
    return std::nullopt;
  bool bySizes = node.getOperand(3) && getNumElements(node.getOperand(3)) != 0;
  if (bySizes && !(sizes = node.getConstantInts(3, "sizes")))
    return std::nullopt;
  if (bySizes == !scales->empty()) {
    node.broken("needs either scales or sizes");
    return std::nullopt;
  }
  if ((bySizes ? sizes->size() : scales->size()) != axes->size()) {
    node.broken("needs one scale or size for each of " + Twine(axes->size()) +
                " axes");
    return std::nullopt;
  }
  Sizes result{SmallVector<double>(rank, 1), llvm::to_vector(getShape(x)),
               SmallVector<double>(rank, 0), SmallVector<double>(rank, 1)};
  if (!readParts(node, *axes, result))
    return std::nullopt;
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    double size = static_cast<double>(getShape(x)[axis]) *
                  std::abs(result.ends[axis] - result.starts[axis]);
    double scale =
        bySizes ? static_cast<double>((*sizes)[i]) / size : (*scales)[i];
    if (!(scale > 0) || !(scale * size <= kMaxDim)) {
      node.broken("resizes axis " + Twine(axis) + " by " + toString(scale));
      return std::nullopt;
    }
    result.scales[axis] = scale;
    // ONNX computes sizes in single precision.
    result.sizes[axis] =
        bySizes ? (*sizes)[i]
                : static_cast<int64_t>(std::floor(static_cast<float>(scale) *
                                                  static_cast<float>(size)));
  }
  if (bySizes && !keepAspectRatio(node, x, *axes, result))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

/// Returns the interpolation of nodes before opset 11: coordinates are
/// asymmetric, and nearest rounds down when enlarging and up when shrinking, as
/// in onnxruntime.
static std::optional<Interpolation>
getOldInterpolation(Node &node, nn::ResizeMode mode, const Sizes &sizes) {
  bool enlarges = llvm::any_of(sizes.scales, [](double s) { return s > 1; });
  bool shrinks = llvm::any_of(sizes.scales, [](double s) { return s < 1; });
  if (mode == nn::ResizeMode::nearest && enlarges && shrinks) {
    node.unsupported("of this version enlarges one axis and shrinks another");
    return std::nullopt;
  }
  return Interpolation{mode, nn::ResizeCoordinates::asymmetric,
                       shrinks ? nn::ResizeNearest::ceil
                               : nn::ResizeNearest::floor};
}

static std::optional<Interpolation> getInterpolation(Node &node,
                                                     const Sizes &sizes) {
  StringRef name = node.getString("mode");
  auto mode = nn::symbolizeResizeMode(name == "bilinear" ? "linear" : name);
  if (!mode) {
    node.broken("has mode '" + name + "', which ONNX does not know");
    return std::nullopt;
  }
  if (node.getOp() == "Upsample" || node.getVersion() < 11)
    return getOldInterpolation(node, *mode, sizes);

  StringRef coordinatesName = node.getString("coordinate_transformation_mode");
  StringRef nearestName = node.getString("nearest_mode");
  auto coordinates = nn::symbolizeResizeCoordinates(coordinatesName);
  auto nearest = nn::symbolizeResizeNearest(nearestName);
  // floor((x + 0.5) / scale) equals half_pixel with halves rounded up.
  if (coordinatesName == "tf_half_pixel_for_nn" &&
      *mode == nn::ResizeMode::nearest && nearestName == "floor") {
    coordinates = nn::ResizeCoordinates::half_pixel;
    nearest = nn::ResizeNearest::round_prefer_ceil;
  }
  if (!nearest) {
    node.broken("has nearest_mode '" + nearestName +
                "', which ONNX does not know");
    return std::nullopt;
  }
  if (!coordinates && !isCoordinateMode(coordinatesName)) {
    node.broken("has coordinate_transformation_mode '" + coordinatesName +
                "', which ONNX does not know");
    return std::nullopt;
  }
  bool shrinks = llvm::any_of(sizes.scales, [](double s) { return s < 1; });
  bool antialias =
      node.getBool("antialias") && shrinks && *mode != nn::ResizeMode::nearest;
  return Interpolation{*mode, coordinates, *nearest, antialias};
}

//===----------------------------------------------------------------------===//
// nn.resize
//===----------------------------------------------------------------------===//

static double getCubicA(Node &node) {
  return node.hasAttribute("cubic_coeff_a") ? node.getFloat("cubic_coeff_a")
                                            : -0.75;
}

/// Resizes the last two axes of a tensor of rank 4.
static Value resizePlane(Node &node, Value x, const Interpolation &how,
                         ArrayRef<int64_t> sizes, ArrayRef<double> scales) {
  SmallVector<int64_t> shape(getShape(x).take_front(2));
  llvm::append_range(shape, sizes);
  return node.createAs<nn::ResizeOp>(
      RankedTensorType::get(shape, getElement(x)), how.mode, *how.coordinates,
      how.nearest, x, scales, APFloat(getCubicA(node)),
      node.getBool("exclude_outside"));
}

/// Resizes any one or two axes by making them the last two axes of a rank 4
/// tensor.
static Value resizeAxes(Node &node, Value x, const Interpolation &how,
                        const Sizes &sizes, ArrayRef<int64_t> resized) {
  int64_t rank = getRank(x);
  SmallVector<int64_t> order, back(rank), shape;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(resized, axis))
      order.push_back(axis);
  llvm::append_range(order, resized);
  for (auto [i, axis] : llvm::enumerate(order)) {
    back[axis] = i;
    shape.push_back(llvm::is_contained(resized, axis) ? sizes.sizes[axis]
                                                      : getShape(x)[axis]);
  }
  x = node.transpose(x, order);
  size_t outer = rank - resized.size();
  SmallVector<int64_t> plane = {1, product(getShape(x).take_front(outer))};
  SmallVector<int64_t> target;
  SmallVector<double> scales;
  if (resized.size() == 1) {
    plane.push_back(1);
    target.push_back(1);
    scales.push_back(1);
  }
  for (int64_t axis : resized) {
    target.push_back(sizes.sizes[axis]);
    scales.push_back(sizes.scales[axis]);
  }
  llvm::append_range(plane, getShape(x).drop_front(outer));
  x = resizePlane(node, node.reshape(x, plane), how, target, scales);
  return node.transpose(node.reshape(x, shape), back);
}

/// Resizes with constant taps, for modes that nn.resize does not support.
static Value resizeByTaps(Node &node, Value x, const Interpolation &how,
                          const Sizes &sizes) {
  int64_t rank = getRank(x);
  StringRef coordinates = node.getString("coordinate_transformation_mode");
  bool isCrop = coordinates == "tf_crop_and_resize";
  auto outside = static_cast<double>(node.getFloat("extrapolation_value"));
  Type element = getElement(x);
  SmallVector<Value> masks;
  for (int64_t axis = 0; axis < rank; ++axis) {
    AxisSampling sampling{how.mode,           how.nearest,
                          coordinates,        sizes.sizes[axis],
                          sizes.scales[axis], sizes.starts[axis],
                          sizes.ends[axis],   getCubicA(node),
                          how.antialias,      node.getBool("exclude_outside")};
    bool isWhole = sizes.starts[axis] == 0 && sizes.ends[axis] == 1;
    if (!x || (!sizes.isResized(x, axis) && isWhole))
      continue;
    SmallVector<bool> isOutside;
    x = resampleAxis(node, x, axis, sampling, isOutside);
    if (!llvm::is_contained(isOutside, true))
      continue;
    SmallVector<int64_t> shape(rank, 1);
    shape[axis] = isOutside.size();
    masks.push_back(node.constant(DenseElementsAttr::get(
        RankedTensorType::get(shape, node.getBuilder().getI1Type()),
        ArrayRef<bool>(isOutside))));
  }
  for (Value mask : masks)
    if (isCrop)
      x = node.createElementwise("select",
                                 {mask, node.splat(outside, element), x});
  return x;
}

Value convertResize(Node &node) {
  Value x = node.getOperand(0);
  auto sizes = getSizes(node, x);
  auto how = sizes ? getInterpolation(node, *sizes) : std::nullopt;
  if (!how)
    return {};
  SmallVector<int64_t> resized;
  for (int64_t axis = 0; axis < getRank(x); ++axis)
    if (sizes->isResized(x, axis))
      resized.push_back(axis);
  if (product(sizes->sizes) == 0)
    return node.broken("resizes a tensor of shape " + toString(getShape(x)) +
                       " to " + toString(sizes->sizes));
  if (how->antialias || !how->coordinates)
    return resizeByTaps(node, x, *how, *sizes);
  if (resized.empty())
    return x;
  // Interpolation is separable: it is applied along two axes, then along the
  // others.
  for (; x && resized.size() > 2; resized.pop_back_n(2))
    x = resizeAxes(node, x, *how, *sizes, ArrayRef(resized).take_back(2));
  bool isImage = getRank(x) == 4 && resized[0] >= 2;
  if (!isImage)
    return resizeAxes(node, x, *how, *sizes, resized);
  return resizePlane(node, x, *how, ArrayRef(sizes->sizes).drop_front(2),
                     ArrayRef(sizes->scales).drop_front(2));
}

Value convertUpsample(Node &node) { return convertResize(node); }

} // namespace nnc::onnx
