//===- Quantize.cpp - QuantizeLinear, DequantizeLinear --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/qnn/Quantize.h"

#include "frontends/onnx/graph/CarrierTypes.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns the type in which QuantizeLinear divides: the attribute `precision`,
/// or the common type of operands 0 and 1, or f32 if these differ.
static Type getPrecision(Node &node) {
  Builder &builder = node.getBuilder();
  Type type;
  if (int64_t dataType = node.getInt("precision"))
    type = getElementType(builder.getContext(), static_cast<int32_t>(dataType));
  else if (node.getModelType(0) == node.getModelType(1))
    type = node.getModelType(0);
  return isa_and_nonnull<FloatType>(type) ? type : builder.getF32Type();
}

/// The most scales that a quantized type has: those of the channels of a
/// vocabulary.
static constexpr int64_t kMostScales = int64_t(1) << 18;

/// Returns true if a quantized type can hold the scales and zero points in
/// operands 1 and 2: they are known, have 32 bits, are not per block, and all
/// scales are positive. Negative scales and zero scales, such as those of
/// pruned channels, are valid, too; the general form computes with them as ONNX
/// defines it.
static bool haveType(Node &node) {
  Value scales = node.getOperand(1), zeroPoints = node.getOperand(2);
  auto known = readElements(scales, kMostScales);
  return getElement(scales).isF32() && getPrecision(node).isF32() && known &&
         llvm::none_of(known->reals, [](double s) { return s <= 0; }) &&
         (!zeroPoints || readElements(zeroPoints, kMostScales)) &&
         node.getInt("block_size") == 0;
}

bool checkFinite(Node &node, ArrayRef<double> scales) {
  const double *wrong =
      llvm::find_if(scales, [](double s) { return !std::isfinite(s); });
  if (wrong == scales.end())
    return true;
  StringRef origin =
      std::isnan(*wrong)
          ? "which quantizers write for a tensor that holds NaN, or infinities "
            "of both signs; find the node of the float model that computes NaN "
            "from the calibration data, mend it and quantize the model again"
          : "which quantizers write for a tensor that holds an infinity, such "
            "as an attention mask of -inf; put a finite number such as -10000 "
            "in place of the infinity in the float model and quantize it again";
  node.fail(ImportStatus::broken,
            "has a scale of " + toString(*wrong) + ", " + origin,
            "finite scales", toString(*wrong));
  return false;
}

RankedTensorType makeQuantizedType(Node &node, ArrayRef<int64_t> shape,
                                   IntegerType storage, ArrayRef<double> scales,
                                   ArrayRef<int64_t> zeroPoints, int64_t axis) {
  if (zeroPoints.size() != scales.size() || scales.empty()) {
    node.broken("has " + Twine(scales.size()) + " scales and " +
                Twine(zeroPoints.size()) +
                " zero points; there must be one of each, or as many of each "
                "as the axis is long");
    return {};
  }
  if (!checkFinite(node, scales))
    return {};
  const double *wrong = llvm::find_if(scales, [](double s) { return s <= 0; });
  if (wrong != scales.end()) {
    node.unsupported("has a scale of " + toString(*wrong) +
                     " in a place where nnc handles scales above 0");
    return {};
  }
  if (scales.size() > 1 && int64_t(scales.size()) != shape[axis]) {
    node.broken("has " + Twine(scales.size()) +
                " scales or zero points for an axis of size " +
                Twine(shape[axis]));
    return {};
  }
  return qnn::makeType(shape, storage, scales, zeroPoints, axis);
}

/// Returns the type of quantized tensors of shape `shape` that are stored as
/// `storage`, with the scales and zero points of operands 1 and 2, along the
/// node's axis if there are several.
static RankedTensorType getQuantizedType(Node &node, ArrayRef<int64_t> shape,
                                         IntegerType storage) {
  SmallVector<double> scales =
      readElements(node.getOperand(1), kMostScales)->reals;
  SmallVector<int64_t> zeroPoints(scales.size(), 0);
  if (node.getOperand(2))
    zeroPoints = readElements(node.getOperand(2), kMostScales)->ints;
  if (scales.size() <= 1)
    return makeQuantizedType(node, shape, storage, scales, zeroPoints, 0);
  auto axis = node.normalizeAxis(node.getInt("axis", 1), shape.size());
  if (!axis)
    return {};
  if (getShape(node.getOperand(1)) != ArrayRef(shape[*axis])) {
    node.broken("has scales of shape " +
                toString(getShape(node.getOperand(1))) + " along axis " +
                Twine(*axis) + " of size " + Twine(shape[*axis]));
    return {};
  }
  return makeQuantizedType(node, shape, storage, scales, zeroPoints, *axis);
}

/// Returns the quantized type for integers of the model's type `storage`.
/// Integers of 2 or 4 bits are stored in 8 bits, and the type limits their
/// range.
static RankedTensorType getRangedType(Node &node, ArrayRef<int64_t> shape,
                                      IntegerType storage) {
  RankedTensorType type =
      getQuantizedType(node, shape, cast<IntegerType>(getCarrier(storage)));
  if (!type || !hasCarrier(storage))
    return type;
  qnn::Parameters parameters = qnn::getParameters(type);
  int64_t size = int64_t(1) << storage.getWidth();
  parameters.min = storage.isUnsigned() ? 0 : -size / 2;
  parameters.max = parameters.min + size - 1;
  return qnn::makeType(shape, cast<IntegerType>(getCarrier(storage)),
                       parameters);
}

/// Returns a scale or zero point of type `element` for each element of `shape`.
/// `given` has one for all elements, one for each index of the node's axis, or
/// one for each block along it.
static Value spread(Node &node, Value given, Type element,
                    ArrayRef<int64_t> shape) {
  given = node.castTo(given, element);
  if (getNumElements(given) == 1)
    return node.reshape(given, {});
  auto axis = node.normalizeAxis(node.getInt("axis", 1), shape.size());
  if (!axis)
    return {};
  int64_t size = shape[*axis], block = node.getInt("block_size");
  SmallVector<int64_t> whole(shape);
  bool isBlocked = block > 0 && block <= kMaxDim;
  if (isBlocked)
    whole[*axis] = llvm::divideCeil(size, block);
  if (getShape(given) != (isBlocked ? ArrayRef(whole) : ArrayRef(size)))
    return node.broken("has scales or zero points of shape " +
                       toString(getShape(given)) + " for a tensor of shape " +
                       toString(shape));
  SmallVector<int64_t> column(shape.size() - *axis, 1);
  column[0] = size;
  if (!isBlocked)
    return node.reshape(given, column);
  int64_t outer = product(shape.take_front(*axis)), count = whole[*axis],
          inner = product(shape.drop_front(*axis + 1));
  given = node.reshape(given, {outer, count, 1, inner});
  given = node.expand(given, {outer, count, block, inner});
  given = node.reshape(given, {outer, count * block, inner});
  // The last block may extend beyond the axis.
  SmallVector<int64_t> starts(3, 0), sizes = {outer, size, inner}, ones(3, 1);
  if (count * block != size)
    given = node.create<nn::SliceOp>(given, starts, sizes, ones);
  return node.reshape(given, shape);
}

/// Returns the constant weights of the node, a matrix, as an op that keeps
/// their integers and scales; null if it does not support these scales. Scales
/// for each index of one axis count as blocks as long as the other axis.
static Value dequantizeWeights(Node &node) {
  Value x = node.getOperand(0), scales = node.getOperand(1),
        zeroPoints = node.getOperand(2);
  auto isConstant = [](Value value) {
    return !value || value.getDefiningOp<nn::ConstantOp>();
  };
  int64_t axis = node.getInt("axis", 1), block = node.getInt("block_size");
  if (getRank(x) != 2 || axis < -2 || axis > 1 || block < 0 || !isConstant(x) ||
      !isConstant(scales) || !isConstant(zeroPoints) ||
      !getElement(scales).isF32() || getNumElements(x) == 0)
    return {};
  axis = axis < 0 ? axis + 2 : axis;
  SmallVector<int64_t> shape(getShape(x));
  if (block > 0) {
    if (shape[axis] % block != 0)
      return {};
  } else {
    if (getShape(scales) != ArrayRef(shape[axis]))
      return {};
    axis = 1 - axis;
    block = shape[axis];
  }
  shape[axis] /= block;
  int64_t count = product(shape);
  if ((node.getInt("block_size") > 0 && getShape(scales) != ArrayRef(shape)) ||
      (zeroPoints && getShape(zeroPoints) != getShape(scales)) ||
      getNumElements(scales) != count)
    return {};
  if (zeroPoints)
    zeroPoints = node.reshape(zeroPoints, shape);
  return node.createAs<qnn::DequantizeBlocksOp>(
      RankedTensorType::get(getShape(x), getElement(scales)), x,
      node.reshape(scales, shape),
      // The type says that the operand may be absent.
      cast_or_null<TypedValue<RankedTensorType>>(zeroPoints), axis, block);
}

/// Returns the float type in which the node computes.
static Type getReal(Node &node) {
  Builder &builder = node.getBuilder();
  bool isDouble =
      getElement(node.getOperand(1)).isF64() || getPrecision(node).isF64();
  return isDouble ? Type(builder.getF64Type()) : builder.getF32Type();
}

/// Returns operand 0 of QuantizeLinear divided by the scales.
static Value divideByScales(Node &node) {
  Type real = getReal(node), precision = getPrecision(node);
  Value x = node.castTo(node.getOperand(0), real),
        scales = node.castTo(node.getOperand(1), real);
  auto round = [&](Value value) {
    return nn::isHalf(precision)
               ? node.castTo(node.castTo(value, precision), real)
               : value;
  };
  return round(node.createElementwise(
      "div", {round(x), spread(node, round(scales), real, getShape(x))}));
}

/// Returns the integer type that operand 0 or the result of the node has in the
/// model; null after an error for any other type.
static IntegerType getStorage(Node &node, Type type, unsigned maxWidth) {
  auto integer = dyn_cast_or_null<IntegerType>(type);
  if (integer && integer.getWidth() >= 2 && integer.getWidth() <= maxWidth)
    return integer;
  int64_t dataType = node.getInt("output_dtype");
  bool isNamed = !type && dataType != 0;
  node.unsupported(
      "has quantized elements of " +
      (isNamed ? "type " + getDataTypeName(static_cast<int32_t>(dataType))
               : std::string("another type")) +
      "; nnc handles integers of 2 to " + Twine(maxWidth) +
      " bits and floats of 4 to 8");
  return {};
}

/// Checks the conditions of the general form: scales are finite numbers and the
/// block size is valid.
static bool isSound(Node &node) {
  auto scales = readElements(node.getOperand(1));
  bool areNumbers = !scales || checkFinite(node, scales->reals);
  int64_t block = node.getInt("block_size");
  if (areNumbers && block < 0)
    node.broken("has a block_size of " + Twine(block));
  return areNumbers && block >= 0;
}

static bool isKnownZero(Value value) {
  auto known = value ? readElements(value) : std::nullopt;
  return known &&
         llvm::all_of(known->ints, [](int64_t code) { return code == 0; });
}

/// Returns the zero point, of the type `small` of floats of at most 8 bits, as
/// numbers of type `real` for each element of `shape`; null if there is none or
/// it is zero.
static Value getSmallZeroPoint(Node &node, Type small, Type real,
                               ArrayRef<int64_t> shape) {
  Value zeroPoint = node.getOperand(2);
  if (!zeroPoint || isKnownZero(zeroPoint))
    return {};
  return spread(node, node.asNumbers(zeroPoint, small), real, shape);
}

/// Converts a QuantizeLinear to `small`, a float type of at most 8 bits.
static Value quantizeToSmallFloat(Node &node, Type small) {
  if (!isSound(node))
    return {};
  Value y = divideByScales(node);
  if (!y)
    return {};
  Value zeroPoint = getSmallZeroPoint(node, small, getElement(y), getShape(y));
  if (zeroPoint)
    y = node.createElementwise("add", {y, zeroPoint});
  // A sum with zero is never -0. ONNX's reference does not add the zero point
  // of floats of 8 bits.
  if (y && isKnownZero(node.getOperand(2)) && getBits(small) < 8) {
    Value zero = node.splat(0, getElement(y));
    y = node.createElementwise(
        "select", {node.createElementwise("equal", {y, zero}), zero, y});
  }
  SmallRounding rounding;
  rounding.saturates = node.getInt("saturate", 1) != 0;
  return node.castToModelType(y, small, rounding);
}

/// Returns operand 0 of DequantizeLinear, floats of at most 8 bits, as
/// dequantized numbers of the type `result`.
static Value dequantizeSmallFloat(Node &node, Type result) {
  if (!isSound(node))
    return {};
  Type real = getReal(node), small = node.getModelType(0);
  Value x = node.getOperand(0);
  Value y = node.castTo(node.asNumbers(x, small), real);
  Value zeroPoint = getSmallZeroPoint(node, small, real, getShape(x));
  if (zeroPoint)
    y = node.createElementwise("sub", {y, zeroPoint});
  y = node.createElementwise(
      "mul", {y, spread(node, node.getOperand(1), real, getShape(x))});
  return node.asModelType(node.castTo(y, getCarrier(result)), result);
}

Value saturate(Node &node, Value x, IntegerType storage) {
  if (!x)
    return {};
  double range = std::ldexp(1.0, storage.getWidth());
  double first = storage.isUnsigned() ? 0 : -range / 2;
  Type real = getElement(x);
  Value least = node.splat(first, real);
  Value isGreater = node.createElementwise("greater", {x, least});
  x = node.createElementwise("select", {isGreater, x, least});
  x = node.createElementwise("min", {x, node.splat(first + range - 1, real)});
  return node.castTo(x, getCarrier(storage));
}

Value convertQuantizeLinear(Node &node) {
  Value x = node.getOperand(0), zeroPoint = node.getOperand(2);
  Builder &builder = node.getBuilder();
  Type result = builder.getIntegerType(8, /*isSigned=*/false);
  if (zeroPoint)
    result = node.getModelType(2);
  else if (int64_t dataType = node.getInt("output_dtype"))
    result =
        getElementType(builder.getContext(), static_cast<int32_t>(dataType));
  if (!getSmallFormat(result).empty())
    return quantizeToSmallFloat(node, result);
  IntegerType storage = getStorage(node, result, 16);
  if (!storage)
    return {};
  if (haveType(node)) {
    RankedTensorType type = getRangedType(node, getShape(x), storage);
    if (!type)
      return {};
    Value y = node.createAs<qnn::QuantizeOp>(
        type, qnn::Rounding::half_even, node.castTo(x, builder.getF32Type()));
    return node.asModelType(
        node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), y),
        storage);
  }
  if (!isSound(node))
    return {};
  Type real = getReal(node);
  Value y = node.createElementwise("round", divideByScales(node));
  if (zeroPoint)
    y = node.createElementwise("add",
                               {y, spread(node, zeroPoint, real, getShape(x))});
  return node.asModelType(saturate(node, y, storage), storage);
}

Value convertDequantizeLinear(Node &node) {
  Value x = node.getOperand(0), zeroPoint = node.getOperand(2);
  bool isSmall = !getSmallFormat(node.getModelType(0)).empty();
  if (!isSmall && !getStorage(node, node.getModelType(0), 32))
    return {};
  // Integers of 2 and 4 bits are stored as quantized integers of 8 bits.
  auto storage = cast<IntegerType>(getElement(x));
  // In later operator sets the result has the scale's type or a type that the
  // node states.
  Type result = node.getModelType(1), real = getReal(node);
  if (int64_t dataType = node.getInt("output_dtype"))
    result = getElementType(node.getBuilder().getContext(),
                            static_cast<int32_t>(dataType));
  if (!isa_and_nonnull<FloatType>(result))
    return node.unsupported("gives numbers of type " +
                            getDataTypeName(node.getInt("output_dtype")) +
                            ", which nnc does not handle");
  if (isSmall)
    return dequantizeSmallFloat(node, result);
  if (haveType(node)) {
    auto own = dyn_cast<IntegerType>(node.getModelType(0));
    RankedTensorType type =
        getRangedType(node, getShape(x), own ? own : storage);
    if (!type)
      return {};
    Value quantized = node.createAs<qnn::ReinterpretOp>(type, x);
    Value y = node.createAs<qnn::DequantizeOp>(
        RankedTensorType::get(getShape(x), real), quantized);
    return node.asModelType(node.castTo(y, getCarrier(result)), result);
  }
  if (!isSound(node))
    return {};
  if (Value y = dequantizeWeights(node))
    return node.asModelType(node.castTo(y, getCarrier(result)), result);
  Value y = node.castTo(x, real);
  if (zeroPoint)
    y = node.createElementwise("sub",
                               {y, spread(node, zeroPoint, real, getShape(x))});
  y = node.createElementwise(
      "mul", {y, spread(node, node.getOperand(1), real, getShape(x))});
  return node.asModelType(node.castTo(y, getCarrier(result)), result);
}

} // namespace nnc::onnx
