//===- Products.cpp - Convolutions and matrix products of integers --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// ONNX's QLinearConv, QLinearMatMul, ConvInteger and MatMulInteger. The sums
// are those of the specification, in 32-bit integers. QLinear operators
// multiply a sum by the f32 number x_scale * w_scale / y_scale and round halves
// to even.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Spatial.h"
#include "frontends/onnx/Quantize.h"
#include "frontends/onnx/Spatial.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

namespace {
/// Where a quantized operand or result stands among the node's operands. An
/// operator on plain integers has no scale, which is given as -1.
struct Places {
  int value, scale, zeroPoint;
};
/// The known scales and zero points of an operand or result.
struct Known {
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
};
} // namespace

static Value getOptional(Node &node, int place) {
  return place < 0 ? Value() : node.getOperand(place);
}

/// Returns the scales and zero points at `places`, as many of each; nullopt,
/// and a report, if they are not known.
static std::optional<Known> readKnown(Node &node, const Places &places) {
  Known known;
  if (places.scale >= 0) {
    auto scales = node.getConstantReals(places.scale, "scales");
    if (!scales)
      return std::nullopt;
    known.scales = *scales;
    if (known.scales.empty())
      return node.broken("has no scale"), std::nullopt;
  }
  if (getOptional(node, places.zeroPoint)) {
    auto zeroPoints = node.getConstantInts(places.zeroPoint, "zero points");
    if (!zeroPoints)
      return std::nullopt;
    known.zeroPoints = *zeroPoints;
    if (known.zeroPoints.empty())
      return node.broken("has an empty zero point"), std::nullopt;
  }
  if (known.scales.empty())
    known.scales = {1};
  if (known.zeroPoints.empty())
    known.zeroPoints = {0};
  size_t count = std::max(known.scales.size(), known.zeroPoints.size());
  // One scale may stand beside a zero point for each channel, and the reverse.
  if (known.scales.size() == 1)
    known.scales.assign(count, known.scales[0]);
  if (known.zeroPoints.size() == 1)
    known.zeroPoints.assign(count, known.zeroPoints[0]);
  return known;
}

/// Returns the value at `places` with a quantized type, whose parameters may
/// vary along `axis`, or only if it is -1 be one for all.
static Value quantized(Node &node, const Places &places, const Known &known,
                       int64_t axis, StringRef what) {
  Value x = node.getOperand(places.value);
  if (known.scales.size() > 1 && axis < 0)
    return node.broken("has several scales or zero points for its " + what +
                       ", which needs one");
  auto storage = dyn_cast<IntegerType>(getElement(x));
  if (!storage)
    return {};
  RankedTensorType type =
      makeQuantizedType(node, getShape(x), storage, known.scales,
                        known.zeroPoints, std::max<int64_t>(axis, 0));
  return type ? node.createAs<qnn::ReinterpretOp>(type, x) : Value();
}

/// Returns the type of sums of shape `shape` whose scales are the products, in
/// f32, of the operands' scales.
static RankedTensorType makeSumType(Node &node, ArrayRef<int64_t> shape,
                                    const Known &x, const Known &w,
                                    int64_t axis) {
  SmallVector<double> scales;
  for (double scale : w.scales) {
    float product = static_cast<float>(x.scales[0] * scale);
    if (!(product > 0) || !std::isfinite(product)) {
      node.broken("has scales whose product, " + toString(product) +
                  ", is no positive number of 32 bits");
      return {};
    }
    scales.push_back(product);
  }
  return makeQuantizedType(
      node, shape, IntegerType::get(node.getBuilder().getContext(), 32), scales,
      SmallVector<int64_t>(scales.size(), 0), axis);
}

/// Returns true if a scale or zero point at `places` has more than `rank` axes
/// and several elements.
static bool hasSeveral(Node &node, const Places &places, int64_t rank) {
  auto isSeveral = [&](int place) {
    Value value = getOptional(node, place);
    return value && getNumElements(value) > 1 && getRank(value) > rank;
  };
  return isSeveral(places.scale) || isSeveral(places.zeroPoint);
}

/// Returns true if the scales and zero points at `places` are known.
static bool isKnown(Node &node, const Places &places) {
  for (int place : {places.scale, places.zeroPoint})
    if (Value value = getOptional(node, place); value && !readElements(value))
      return false;
  return true;
}

/// Returns a scale or zero point in a shape that broadcasts to `shape`: one for
/// all, or one for each index of `axis`. No axis is -1.
static Value broadcast(Node &node, Value given, int64_t axis,
                       ArrayRef<int64_t> shape) {
  if (getNumElements(given) == 1)
    return node.reshape(given, {});
  // One for each row or column of each matrix of a batch has all axes.
  auto fits = [](auto pair) {
    return std::get<0>(pair) == 1 || std::get<0>(pair) == std::get<1>(pair);
  };
  if (getRank(given) > 1 && getRank(given) == int64_t(shape.size()) &&
      llvm::all_of(llvm::zip(getShape(given), shape), fits))
    return given;
  if (getRank(given) > 1 || axis < 0 || getNumElements(given) != shape[axis])
    return node.broken("has scales or zero points of shape " +
                       toString(getShape(given)) +
                       " that do not fit a tensor of shape " + toString(shape));
  SmallVector<int64_t> column(shape.size() - axis, 1);
  column[0] = shape[axis];
  return node.reshape(given, column);
}

/// Returns integers minus a zero point that is computed at run time: one for
/// all, or one for each index of `axis`.
static Value centre(Node &node, Value x, Value zeroPoint, int64_t axis) {
  if (!zeroPoint)
    return x;
  Type wide = node.getBuilder().getI32Type();
  Value zero = broadcast(node, node.castTo(zeroPoint, wide), axis, getShape(x));
  return node.createElementwise("sub", {node.castTo(x, wide), zero});
}

/// Returns plain `sums` rescaled by scales and zero points of which some are
/// computed at run time. Those of the operands may vary along the axes of the
/// sums that they have; no axis is -1.
static Value requantizeComputed(Node &node, Value sums, const Places &x,
                                int64_t xAxis, const Places &w, int64_t wAxis,
                                const Places &y) {
  Type real = node.getBuilder().getF32Type();
  auto storage =
      dyn_cast<IntegerType>(getElement(node.getOperand(y.zeroPoint)));
  if (!storage)
    return node.unsupported("has results that are no integers");
  Value from = node.createElementwise(
      "mul",
      {broadcast(node, node.getOperand(x.scale), xAxis, getShape(sums)),
       broadcast(node, node.getOperand(w.scale), wAxis, getShape(sums))});
  Value factor = node.createElementwise(
      "div", {from, broadcast(node, node.getOperand(y.scale), -1, {})});
  Value scaled =
      node.createElementwise("mul", {node.castTo(sums, real), factor});
  Value zero =
      node.castTo(broadcast(node, node.getOperand(y.zeroPoint), -1, {}), real);
  Value moved = node.createElementwise(
      "add", {node.createElementwise("round", scaled), zero});
  double range = std::ldexp(1.0, storage.getWidth());
  double least = storage.isUnsigned() ? 0 : -range / 2;
  Value bounded =
      node.createElementwise("max", {moved, node.splat(least, real)});
  bounded = node.createElementwise(
      "min", {bounded, node.splat(least + range - 1, real)});
  return node.castTo(bounded, storage);
}

/// Returns `sums`, which have a quantized type or are plain, rescaled to the
/// scale and zero point at `y`.
static Value requantize(Node &node, Value sums, const Places &x, int64_t xAxis,
                        const Places &w, int64_t wAxis, const Places &y) {
  if (!sums)
    return {};
  for (int place : {x.scale, w.scale, y.scale})
    if (!getElement(node.getOperand(place)).isF32())
      return node.unsupported("has scales that are not float; cast them");
  if (!qnn::getQuantizedType(sums.getType()))
    return requantizeComputed(node, sums, x, xAxis, w, wAxis, y);
  auto known = readKnown(node, y);
  if (!known)
    return {};
  if (known->scales.size() != 1)
    return node.broken(
        "has several scales or zero points for its result, which needs one");
  auto storage =
      dyn_cast<IntegerType>(getElement(node.getOperand(y.zeroPoint)));
  if (!storage)
    return node.unsupported("has results that are no integers");
  RankedTensorType type = makeQuantizedType(
      node, getShape(sums), storage, known->scales, known->zeroPoints, 0);
  if (!type)
    return {};
  Value result =
      node.createAs<qnn::RequantizeOp>(type, qnn::Rescale::real, sums);
  return node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), result);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Converts a convolution of the operands at `x` and `w`, and returns its sums:
/// of a quantized type, or plain integers where zero points are not known.
static Value convolve(Node &node, const Places &x, const Places &w,
                      const Places &y, int bias) {
  Value image = node.getOperand(x.value), weight = node.getOperand(w.value);
  auto kernel = getKernel(node, image, weight);
  auto window = kernel ? readWindow(node, *kernel) : std::nullopt;
  if (!window || !applyAutoPad(node, getShape(image).drop_front(2), *window))
    return {};
  int64_t group = node.getInt("group", 1);
  TypeAttr i32 = TypeAttr::get(node.getBuilder().getI32Type());
  Value added = getOptional(node, bias);
  if (added && getShape(added) != ArrayRef<int64_t>(getShape(weight)[0]))
    return node.broken("needs a bias of " + Twine(getShape(weight)[0]) +
                       " elements, not one of shape " +
                       toString(getShape(added)));
  if (!isKnown(node, x) || !isKnown(node, w) || !isKnown(node, y)) {
    Value sums = node.create<nn::ConvOp>(
        centre(node, image, getOptional(node, x.zeroPoint), -1),
        centre(node, weight, getOptional(node, w.zeroPoint), 0),
        window->strides, window->dilations, window->pads, group, i32);
    if (added)
      sums = node.createElementwise(
          "add", {sums, broadcast(node, added, 1, getShape(sums))});
    return sums;
  }
  auto knownX = readKnown(node, x), knownW = readKnown(node, w);
  if (!knownX || !knownW)
    return {};
  SmallVector<int64_t> shape;
  bool fits = node.check([&] {
    return nn::inferConv(node.getLoc(), cast<RankedTensorType>(image.getType()),
                         cast<RankedTensorType>(weight.getType()),
                         window->strides, window->dilations, window->pads,
                         group, shape);
  });
  if (!fits)
    return {};
  RankedTensorType type = makeSumType(node, shape, *knownX, *knownW, 1);
  if (!type)
    return {};
  Value a = quantized(node, x, *knownX, -1, "input");
  Value b = a ? quantized(node, w, *knownW, 0, "weight") : Value();
  if (!b)
    return {};
  // The type says that the operand may be absent.
  auto optional = cast_or_null<TypedValue<RankedTensorType>>(added);
  return node.createAs<qnn::ConvOp>(type, a, b, optional,
                                    ArrayRef<int64_t>(window->strides),
                                    ArrayRef<int64_t>(window->dilations),
                                    ArrayRef<int64_t>(window->pads), group);
}

Value convertQLinearConv(Node &node) {
  Places x = {0, 1, 2}, w = {3, 4, 5}, y = {-1, 6, 7};
  return requantize(node, convolve(node, x, w, y, 8), x, -1, w, 1, y);
}

/// Returns the integers of sums that may have a quantized type.
static Value getIntegers(Node &node, Value sums) {
  if (!sums || !qnn::getQuantizedType(sums.getType()))
    return sums;
  return node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(sums.getType()),
                                           sums);
}

Value convertConvInteger(Node &node) {
  return getIntegers(node,
                     convolve(node, {0, -1, 2}, {1, -1, 3}, {-1, -1, -1}, -1));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Converts a matrix product by NumPy's rules; the result is as convolve()'s.
static Value multiply(Node &node, const Places &a, const Places &b,
                      const Places &y) {
  Value left = node.getOperand(a.value), right = node.getOperand(b.value);
  if (getRank(left) < 2 || getRank(right) < 2)
    return node.unsupported("multiplies a vector; reshape it to a matrix");
  TypeAttr i32 = TypeAttr::get(node.getBuilder().getI32Type());
  int64_t column = getRank(right) - 1;
  // Rows of a, and matrices of a batch of b, that have zero points of their own
  // are centred, too.
  if (hasSeveral(node, a, 0) || hasSeveral(node, b, 1) || !isKnown(node, a) ||
      !isKnown(node, b) || !isKnown(node, y))
    return node.create<nn::MatMulOp>(
        centre(node, left, getOptional(node, a.zeroPoint), getRank(left) - 2),
        centre(node, right, getOptional(node, b.zeroPoint), column), false,
        false, i32);
  auto knownA = readKnown(node, a), knownB = readKnown(node, b);
  if (!knownA || !knownB)
    return {};
  SmallVector<int64_t> shape;
  bool fits = node.check([&] {
    return nn::inferMatMul(
        node.getLoc(), cast<RankedTensorType>(left.getType()),
        cast<RankedTensorType>(right.getType()), false, false, shape);
  });
  if (!fits)
    return {};
  RankedTensorType type =
      makeSumType(node, shape, *knownA, *knownB, shape.size() - 1);
  Value x = type ? quantized(node, a, *knownA, -1, "first operand") : Value();
  Value w = x ? quantized(node, b, *knownB, column, "second operand") : Value();
  if (!w)
    return {};
  return node.createAs<qnn::MatMulOp>(type, x, w);
}

Value convertQLinearMatMul(Node &node) {
  Places a = {0, 1, 2}, b = {3, 4, 5}, y = {-1, 6, 7};
  Value sums = multiply(node, a, b, y);
  int64_t rank = getRank(sums);
  return requantize(node, sums, a, rank - 2, b, rank - 1, y);
}

Value convertMatMulInteger(Node &node) {
  return getIntegers(node,
                     multiply(node, {0, -1, 2}, {1, -1, 3}, {-1, -1, -1}));
}

} // namespace nnc::onnx
