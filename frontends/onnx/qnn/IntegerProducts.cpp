//===- IntegerProducts.cpp - Convolutions and matrix products of integers -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// ONNX's QLinearConv, QLinearMatMul, ConvInteger and MatMulInteger. The sums
// are those of the specification, in 32-bit integers. QLinear operators
// multiply a sum by the f32 number x_scale * w_scale / y_scale and round halves
// to even. If the scales are known and positive, the sums have a quantized
// type. A channel whose product of scales is 0, as pruning may leave it, gets
// zero weights and bias instead. All other scales become operands of the
// computation.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "frontends/common/Fold.h"
#include "frontends/onnx/convolution/SlidingWindow.h"
#include "frontends/onnx/qnn/Quantize.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

namespace {
/// The indices of a quantized operand or result, its scale and its zero point
/// among the node's operands. The scale is -1 for operators on plain integers.
struct Places {
  int value, scale, zeroPoint;
};
/// The scales and zero points of an operand or result that are known at compile
/// time.
struct Known {
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
};
} // namespace

static Value getOptional(Node &node, int place) {
  return place < 0 ? Value() : node.getOperand(place);
}

/// Returns the scales and zero points at `places`, the same number of each;
/// nullopt after an error if they are not known.
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
  // There may be one scale for several zero points, and the reverse.
  if (known.scales.size() == 1)
    known.scales.assign(count, known.scales[0]);
  if (known.zeroPoints.size() == 1)
    known.zeroPoints.assign(count, known.zeroPoints[0]);
  return known;
}

/// Returns `x` with a quantized type, whose parameters may vary along `axis`.
/// If `axis` is -1, they must be one for all elements.
static Value quantized(Node &node, Value x, const Known &known, int64_t axis,
                       StringRef what) {
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

/// Returns the product of two scales as the specification computes it.
static float multiplyScales(double x, double w) {
  return static_cast<float>(x) * static_cast<float>(w);
}

/// Returns the type of sums of shape `shape`. Their scales are the products, in
/// f32, of the operands' scales.
static RankedTensorType makeSumType(Node &node, ArrayRef<int64_t> shape,
                                    const Known &x, const Known &w,
                                    int64_t axis) {
  SmallVector<double> scales;
  for (double scale : w.scales)
    scales.push_back(multiplyScales(x.scales[0], scale));
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

/// Returns true if the scales and zero points at `places` are known, and no
/// scale is negative.
static bool isKnown(Node &node, const Places &places) {
  for (int place : {places.scale, places.zeroPoint})
    if (Value value = getOptional(node, place)) {
      auto known = readElements(value);
      if (!known || llvm::any_of(known->reals, [](double s) { return s < 0; }))
        return false;
    }
  return true;
}

/// Returns true if quantized types can hold the scales and zero points of the
/// operands and the result, except where products of scales are 0.
static bool isTyped(Node &node, const Places &x, const Places &w,
                    const Places &y) {
  return isKnown(node, x) && isKnown(node, w) && isKnown(node, y);
}

/// Checks the known scales: they must be finite, those of the input and the
/// result positive, and a product may be 0 only if the weights' scale is 0.
static bool checkScales(Node &node, const Places &x, const Places &w,
                        const Places &y) {
  auto read = [&](const Places &places) {
    auto known = readElements(node.getOperand(places.scale));
    return known ? known->reals : SmallVector<double>();
  };
  SmallVector<double> ofX = read(x), ofW = read(w), ofY = read(y);
  for (ArrayRef<double> scales : {ofX, ofW, ofY})
    if (!checkFinite(node, scales))
      return false;
  for (ArrayRef<double> scales : {ofX, ofY})
    if (scales.size() == 1 && scales[0] <= 0) {
      node.broken("has a scale of " + toString(scales[0]) +
                  " for its input or result, which needs one above 0");
      return false;
    }
  for (double scale : ofX.size() == 1 ? ArrayRef<double>(ofW) : std::nullopt)
    if (scale != 0 && multiplyScales(ofX[0], scale) == 0) {
      node.broken("has scales whose product is 0 in 32 bits");
      return false;
    }
  return true;
}

/// Returns a scale or zero point in a shape that broadcasts to `shape`: one for
/// all elements, or one for each index of `axis`, which is -1 if there is none.
static Value broadcast(Node &node, Value given, int64_t axis,
                       ArrayRef<int64_t> shape) {
  if (getNumElements(given) == 1)
    return node.reshape(given, {});
  // Parameters for each row or column of each matrix of a batch already have
  // all axes.
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

/// Returns the constant `x` with the slices along `axis` for which `isReplaced`
/// is set replaced by elements of `other`, which has one for all or one for
/// each index of `axis`. Returns null if `x` is not a constant.
static Value replaceSlices(Node &node, Value x, int64_t axis,
                           ArrayRef<int64_t> isReplaced,
                           ArrayRef<int64_t> other) {
  auto makeList = [&](Type element, ArrayRef<int64_t> values) {
    auto type = RankedTensorType::get(int64_t(values.size()), element);
    return broadcast(
        node, node.constant(makeAttribute({type, llvm::to_vector(values), {}})),
        axis, getShape(x));
  };
  Value result = node.createElementwise(
      "select", {makeList(node.getBuilder().getI1Type(), isReplaced),
                 makeList(getElement(x), other), x});
  Operation *op = result ? result.getDefiningOp() : nullptr;
  // Small constants are folded already.
  bool isOpen = op && !isa<nn::ConstantOp>(op);
  return isOpen ? node.constant(foldConstants(op, "pruned")) : result;
}

namespace {
/// The weights and the bias of a product of integers.
struct Factors {
  Value weight, bias; ///< null without a bias
};
} // namespace

/// Replaces channels whose product of scales is 0 by equivalent ones: their
/// weights become equal to the zero point, their bias becomes 0, and their
/// scale the largest of the other channels. `axis` is the axis of the weights'
/// channels. Returns false, without any change, if a product is negative or if
/// weights or bias are not constants.
static bool dropPruned(Node &node, const Known &x, Known &w, Factors &factors,
                       int64_t axis) {
  SmallVector<int64_t> isPruned;
  double largest = 0;
  for (double scale : w.scales) {
    float product = multiplyScales(x.scales[0], scale);
    if (!(product >= 0) || !std::isfinite(product))
      return false;
    isPruned.push_back(product == 0);
    largest = std::max(largest, product == 0 ? 0 : scale);
  }
  if (!llvm::is_contained(isPruned, 1))
    return true;
  Value weight =
      replaceSlices(node, factors.weight, axis, isPruned, w.zeroPoints);
  Value bias = factors.bias;
  if (bias)
    bias = replaceSlices(node, bias, 0, isPruned,
                         SmallVector<int64_t>(w.scales.size(), 0));
  if (!weight || (factors.bias && !bias))
    return false;
  factors = {weight, bias};
  // If there are no other channels, any scale will do.
  largest = largest == 0 ? 1 : largest;
  for (auto [scale, pruned] : llvm::zip_equal(w.scales, isPruned))
    if (pruned)
      scale = largest;
  return true;
}

/// Returns integers minus a zero point that is computed at run time: one for
/// all elements, or one for each index of `axis`.
static Value centre(Node &node, Value x, Value zeroPoint, int64_t axis) {
  auto known = zeroPoint ? readElements(zeroPoint) : std::nullopt;
  if (!zeroPoint || (known && llvm::all_of(known->ints, [](int64_t zero) {
                       return zero == 0;
                     })))
    return x;
  Type wide = node.getBuilder().getI32Type();
  Value zero = broadcast(node, node.castTo(zeroPoint, wide), axis, getShape(x));
  return node.createElementwise("sub", {node.castTo(x, wide), zero});
}

/// Returns plain `sums` rescaled by scales and zero points, some of which are
/// computed at run time. Those of the operands may vary along `xAxis` and
/// `wAxis` of the sums, which are -1 if they do not vary.
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
  return moved ? saturate(node, moved, storage) : Value();
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

/// Converts a convolution of the operands at `x` and `w` and returns its sums:
/// of a quantized type, or plain integers if zero points are not known.
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
  std::optional<Known> knownX, knownW;
  Factors factors = {weight, added};
  if (isTyped(node, x, w, y)) {
    knownX = readKnown(node, x);
    knownW = readKnown(node, w);
    if (!knownX || !knownW)
      return {};
  }
  if (!knownX || !dropPruned(node, *knownX, *knownW, factors, 0)) {
    Value sums = node.create<nn::ConvOp>(
        centre(node, image, getOptional(node, x.zeroPoint), -1),
        centre(node, weight, getOptional(node, w.zeroPoint), 0),
        window->strides, window->dilations, window->pads, group, i32);
    if (sums && added)
      sums = node.createElementwise(
          "add", {sums, broadcast(node, added, 1, getShape(sums))});
    return sums;
  }
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
  Value a = quantized(node, image, *knownX, -1, "input");
  Value b = a ? quantized(node, factors.weight, *knownW, 0, "weight") : Value();
  if (!b)
    return {};
  // The cast yields null for an absent optional operand.
  auto optional = cast_or_null<TypedValue<RankedTensorType>>(factors.bias);
  return node.createAs<qnn::ConvOp>(type, a, b, optional,
                                    ArrayRef<int64_t>(window->strides),
                                    ArrayRef<int64_t>(window->dilations),
                                    ArrayRef<int64_t>(window->pads), group);
}

Value convertQLinearConv(Node &node) {
  Places x = {0, 1, 2}, w = {3, 4, 5}, y = {-1, 6, 7};
  if (!checkScales(node, x, w, y))
    return {};
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

/// Converts a matrix product by NumPy's rules and returns its sums like
/// convolve().
static Value multiply(Node &node, const Places &a, const Places &b,
                      const Places &y) {
  Value left = node.getOperand(a.value), right = node.getOperand(b.value);
  if (getRank(left) < 2 || getRank(right) < 2)
    return node.unsupported("multiplies a vector; reshape it to a matrix");
  TypeAttr i32 = TypeAttr::get(node.getBuilder().getI32Type());
  int64_t column = getRank(right) - 1;
  // If rows of a, or matrices of a batch of b, have different zero points,
  // these are subtracted from the elements.
  std::optional<Known> knownA, knownB;
  Factors factors = {right, Value()};
  if (!hasSeveral(node, a, 0) && !hasSeveral(node, b, 1) &&
      isTyped(node, a, b, y)) {
    knownA = readKnown(node, a);
    knownB = readKnown(node, b);
    if (!knownA || !knownB)
      return {};
  }
  if (!knownA || !dropPruned(node, *knownA, *knownB, factors, column))
    return node.create<nn::MatMulOp>(
        centre(node, left, getOptional(node, a.zeroPoint), getRank(left) - 2),
        centre(node, right, getOptional(node, b.zeroPoint), column), false,
        false, i32);
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
  Value x =
      type ? quantized(node, left, *knownA, -1, "first operand") : Value();
  Value w =
      x ? quantized(node, factors.weight, *knownB, column, "second operand")
        : Value();
  if (!w)
    return {};
  return node.createAs<qnn::MatMulOp>(type, x, w);
}

Value convertQLinearMatMul(Node &node) {
  Places a = {0, 1, 2}, b = {3, 4, 5}, y = {-1, 6, 7};
  if (!checkScales(node, a, b, y))
    return {};
  Value sums = multiply(node, a, b, y);
  int64_t rank = getRank(sums);
  return requantize(node, sums, a, rank - 2, b, rank - 1, y);
}

Value convertMatMulInteger(Node &node) {
  return getIntegers(node,
                     multiply(node, {0, -1, 2}, {1, -1, 3}, {-1, -1, -1}));
}

} // namespace nnc::onnx
