//===- Qnn.cpp - Quantized types, verifiers and folders -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Qnn.h"

#include "dialects/nn/elementwise/Broadcast.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::qnn;

quant::QuantizedType qnn::getQuantizedType(Type type) {
  return dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(type));
}

/// Returns the integer type of the storage: a signless one (i8) for signed
/// storage, and an unsigned one (ui8) for unsigned storage.
static Type getStorageElement(quant::QuantizedType type) {
  unsigned width = type.getStorageTypeIntegralWidth();
  return IntegerType::get(type.getContext(), width,
                          type.isSigned() ? IntegerType::Signless
                                          : IntegerType::Unsigned);
}

RankedTensorType qnn::getStorageType(Type type) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               getStorageElement(getQuantizedType(type)));
}

Parameters qnn::getParameters(Type type) {
  quant::QuantizedType element = getQuantizedType(type);
  Parameters result;
  result.min = element.getStorageTypeMin();
  result.max = element.getStorageTypeMax();
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(element)) {
    result.scales = {uniform.getScale()};
    result.zeroPoints = {uniform.getZeroPoint()};
    return result;
  }
  auto perAxis = cast<quant::UniformQuantizedPerAxisType>(element);
  llvm::append_range(result.scales, perAxis.getScales());
  llvm::append_range(result.zeroPoints, perAxis.getZeroPoints());
  result.axis = perAxis.getQuantizedDimension();
  return result;
}

RankedTensorType qnn::makeType(ArrayRef<int64_t> shape, IntegerType storage,
                               const Parameters &parameters) {
  unsigned flags = storage.isUnsigned() ? 0 : quant::QuantizationFlags::Signed;
  Type holder = IntegerType::get(storage.getContext(), storage.getWidth()),
       real = Float32Type::get(storage.getContext());
  if (parameters.axis < 0)
    return RankedTensorType::get(
        shape, quant::UniformQuantizedType::get(
                   flags, holder, real, parameters.scales[0],
                   parameters.zeroPoints[0], parameters.min, parameters.max));
  return RankedTensorType::get(
      shape, quant::UniformQuantizedPerAxisType::get(
                 flags, holder, real, parameters.scales, parameters.zeroPoints,
                 static_cast<int32_t>(parameters.axis), parameters.min,
                 parameters.max));
}

RankedTensorType qnn::makeType(ArrayRef<int64_t> shape, IntegerType storage,
                               ArrayRef<double> scales,
                               ArrayRef<int64_t> zeroPoints, int64_t axis) {
  bool isSigned = !storage.isUnsigned();
  unsigned width = storage.getWidth();
  Parameters parameters;
  parameters.scales.assign(scales.begin(), scales.end());
  parameters.zeroPoints.assign(zeroPoints.begin(), zeroPoints.end());
  parameters.axis = scales.size() == 1 ? -1 : axis;
  parameters.min =
      quant::QuantizedType::getDefaultMinimumForInteger(isSigned, width);
  parameters.max =
      quant::QuantizedType::getDefaultMaximumForInteger(isSigned, width);
  return makeType(shape, storage, parameters);
}

FixedPoint qnn::toFixedPoint(double factor) {
  if (factor == 0)
    return {0, 0};
  if (!std::isfinite(factor))
    return {(1LL << 31) - 1, 30};
  int shift;
  double fraction = std::frexp(factor, &shift);
  auto multiplier = static_cast<int64_t>(
      std::round(fraction * static_cast<double>(1LL << 31)));
  if (multiplier == 1LL << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31)
    return {0, 0};
  if (shift > 30)
    return {(1LL << 31) - 1, 30};
  return {multiplier, shift};
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyShapes(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto y = cast<RankedTensorType>(op->getResult(0).getType());
  if (x.getShape() != y.getShape())
    return op->emitOpError("changes the shape of ") << x << " to " << y;
  return success();
}

bool qnn::hasQuantizedOps(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return isa<QnnDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult qnn::verifyQuantized(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  quant::QuantizedType element = getQuantizedType(type);
  if (!isa_and_nonnull<quant::UniformQuantizedType,
                       quant::UniformQuantizedPerAxisType>(element))
    return op->emitOpError("needs a type with scale and zero point, not ")
           << type;
  if (!element.getExpressedType().isF32())
    return op->emitOpError("needs a type that stands for f32, not ") << type;
  Parameters parameters = getParameters(type);
  if (parameters.axis < 0)
    return success();
  if (parameters.axis >= tensor.getRank() ||
      tensor.getDimSize(parameters.axis) !=
          static_cast<int64_t>(parameters.scales.size()))
    return op->emitOpError("has ")
           << parameters.scales.size() << " scales along axis "
           << parameters.axis << " of " << type;
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (failed(verifyShapes(*this)) || failed(verifyQuantized(*this, getType())))
    return failure();
  if (!getElementTypeOrSelf(getX().getType()).isF32())
    return emitOpError("quantizes f32, not ") << getX().getType();
  if (getQuantizedType(getType()).getStorageTypeIntegralWidth() > 16)
    return emitOpError("quantizes to at most 16 bits, not to ") << getType();
  return success();
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyShapes(*this)) ||
      failed(verifyQuantized(*this, getX().getType())))
    return failure();
  if (!getElementTypeOrSelf(getType()).isF32())
    return emitOpError("yields f32, not ") << getType();
  return success();
}

LogicalResult DequantizeBlocksOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  int64_t axis = getAxis(), block = getBlock();
  if (x.getRank() != 2 || axis < 0 || axis > 1 || block < 1)
    return emitOpError("needs a matrix, an axis of it and blocks of 1 or more");
  if (x.getDimSize(axis) % block != 0)
    return emitOpError("has blocks of ")
           << block << ", which do not divide an axis of "
           << x.getDimSize(axis);
  SmallVector<int64_t> shape(x.getShape());
  shape[axis] /= block;
  auto fits = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape() ==
           ArrayRef(shape);
  };
  if (!fits(getScales()) || (getZeroPoints() && !fits(getZeroPoints())))
    return emitOpError("needs ")
           << shape[0] << " x " << shape[1] << " scales and zero points";
  auto y = cast<RankedTensorType>(getType());
  if (!isa<IntegerType>(x.getElementType()) || !y.getElementType().isF32() ||
      !getElementTypeOrSelf(getScales().getType()).isF32() ||
      y.getShape() != x.getShape())
    return emitOpError("makes f32 of integers and scales of f32, of one shape");
  return success();
}

LogicalResult qnn::RequantizeOp::verify() {
  if (failed(verifyShapes(*this)) ||
      failed(verifyQuantized(*this, getX().getType())) ||
      failed(verifyQuantized(*this, getType())))
    return failure();
  if (getQuantizedType(getType()).getStorageTypeIntegralWidth() > 16)
    return emitOpError("rescales to at most 16 bits, not to ") << getType();
  Parameters from = getParameters(getX().getType()),
             to = getParameters(getType());
  if (from.axis >= 0 && to.axis >= 0 && from.axis != to.axis)
    return emitOpError("has scales along axis ")
           << from.axis << " of its operand and " << to.axis
           << " of its result";
  if (getRescale() == Rescale::wide)
    return emitOpError("has no factors of 16 bits");
  if (!getShift())
    return success();
  if (getRescale() != Rescale::real)
    return emitOpError("has a shift, which only 'real' takes");
  ArrayRef<int64_t> shape = cast<RankedTensorType>(getType()).getShape();
  auto all = nn::broadcastShapes({getShift().getType().getShape(), shape});
  if (!all || ArrayRef(*all) != shape)
    return emitOpError("has a shift of ")
           << getShift().getType() << ", which does not broadcast to "
           << getType();
  return success();
}

LogicalResult ReinterpretOp::verify() {
  Type x = getX().getType(), y = getType();
  bool quantizedX = bool(getQuantizedType(x)),
       quantizedY = bool(getQuantizedType(y));
  if (quantizedX == quantizedY)
    return emitOpError("needs a quantized tensor on one side, not ")
           << x << " and " << y;
  Type quantized = quantizedX ? x : y, integers = quantizedX ? y : x;
  if (getStorageType(quantized) != integers)
    return emitOpError("finds ") << getStorageType(quantized) << " in "
                                 << quantized << ", not " << integers;
  return success();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

OpFoldResult QuantizeOp::fold(FoldAdaptor) {
  // Quantizing a dequantized value with the same parameters gives the same
  // value: (q - z) * s / s is within the rounding error of an f32 from q - z,
  // which has at most 16 bits.
  auto inner = getX().getDefiningOp<DequantizeOp>();
  if (inner && inner.getX().getType() == getType())
    return inner.getX();
  return {};
}

OpFoldResult DequantizeOp::fold(FoldAdaptor) { return {}; }

OpFoldResult DequantizeBlocksOp::fold(FoldAdaptor) { return {}; }

OpFoldResult qnn::RequantizeOp::fold(FoldAdaptor) {
  return getX().getType() == getType() && !getShift() ? OpFoldResult(getX())
                                                      : OpFoldResult();
}

OpFoldResult ReinterpretOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<ReinterpretOp>();
  if (inner && inner.getX().getType() == getType())
    return inner.getX();
  return {};
}
