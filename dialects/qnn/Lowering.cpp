//===- Lowering.cpp - Lowers quantized ops to nn ops ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/description/Description.h"
#include "dialects/qnn/Qnn.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::qnn;

namespace {
/// A builder of elementwise ops on tensors of one shape.
class Expression {
public:
  Expression(OpBuilder &builder, Operation *op)
      : builder(builder), location(op->getLoc()),
        shape(llvm::cast<RankedTensorType>(op->getResult(0).getType())
                  .getShape()) {}

  Value cast(Value x, Type element) {
    return builder.create<nn::CastOp>(location,
                                      RankedTensorType::get(shape, element), x);
  }
  Value toF32(Value x) { return cast(x, builder.getF32Type()); }
  Value toI32(Value x) { return cast(x, builder.getI32Type()); }

  template <class Op, class... Args> Value make(Args... args) {
    return builder.create<Op>(location, args...);
  }

  /// Creates a constant of one value, or of one value for each index of `axis`.
  Value reals(ArrayRef<float> values, int64_t axis) {
    auto type = getShape(values.size(), axis, builder.getF32Type());
    return make<nn::ConstantOp>(
        ElementsAttr(DenseElementsAttr::get(type, values)));
  }
  Value integers(ArrayRef<int64_t> values, int64_t axis = -1) {
    auto type = getShape(values.size(), axis, builder.getI32Type());
    SmallVector<int32_t> narrow(values.begin(), values.end());
    return make<nn::ConstantOp>(
        ElementsAttr(DenseElementsAttr::get(type, ArrayRef(narrow))));
  }

  /// Clips a real to the range of the storage type and converts it to integers.
  /// A cast clips to the whole range of its type by itself.
  Value saturate(Value real, const Parameters &to, Type storage) {
    auto integer = llvm::cast<IntegerType>(storage);
    int64_t range = int64_t(1) << integer.getWidth();
    int64_t least = integer.isUnsigned() ? 0 : -range / 2;
    if (integer.getWidth() < 32 && to.min <= least &&
        to.max >= least + range - 1)
      return cast(real, storage);
    Value clipped = make<nn::ClipOp>(
        real, builder.getF64FloatAttr(static_cast<double>(to.min)),
        builder.getF64FloatAttr(static_cast<double>(to.max)));
    return cast(clipped, storage);
  }

private:
  RankedTensorType getShape(size_t count, int64_t axis, Type element) {
    SmallVector<int64_t> dims;
    if (axis >= 0) {
      dims.assign(shape.size() - axis, 1);
      dims[0] = count;
    }
    return RankedTensorType::get(dims, element);
  }

  OpBuilder &builder;
  Location location;
  ArrayRef<int64_t> shape;
};
} // namespace

static SmallVector<float> toFloats(ArrayRef<double> values) {
  return SmallVector<float>(llvm::map_range(
      values, [](double value) { return static_cast<float>(value); }));
}
static SmallVector<float> toFloats(ArrayRef<int64_t> values) {
  return SmallVector<float>(llvm::map_range(
      values, [](int64_t value) { return static_cast<float>(value); }));
}

/// Returns the integers `stored`, the lowered result of `op`, as a quantized
/// value. Marks them with the activation of `op` to which their saturation is
/// equivalent.
static Value reinterpretResult(OpBuilder &builder, Operation *op,
                               Value stored) {
  if (auto activation = op->getAttrOfType<StringAttr>(nn::kActivationAttr))
    nn::markActivation(stored, activation);
  return builder.create<ReinterpretOp>(op->getLoc(), op->getResultTypes()[0],
                                       stored);
}

static Value reinterpret(OpBuilder &builder, Operation *op, Value x,
                         Type type) {
  return builder.create<ReinterpretOp>(op->getLoc(), type, x);
}

/// Rounds x to the nearest integer, halves away from zero, by adding the
/// largest float below 1/2 to |x|. The sum with n + 1/2 is rounded to n + 1 for
/// each integer n, and that with any smaller float stays below n + 1; adding
/// 1/2 itself would round the largest float below 1/2 up to 1. All steps
/// compute with floats, so that the rounding is a part of one layer's
/// expression.
static Value roundHalfAway(Expression &e, Value x) {
  Value magnitude = e.make<nn::AbsOp>(x);
  Value moved =
      e.make<nn::AddOp>(magnitude, e.reals({std::nextafter(0.5f, 0.0f)}, -1));
  Value rounded = e.make<nn::FloorOp>(moved);
  return e.make<nn::MulOp>(rounded, Value(e.make<nn::SignOp>(x)));
}

Value QuantizeOp::lower(OpBuilder &builder) {
  Expression e(builder, *this);
  Parameters to = getParameters(getType());
  Value scaled =
      e.make<nn::DivOp>(Value(getX()), e.reals(toFloats(to.scales), to.axis));
  Value rounded = getRounding() == Rounding::half_even
                      ? e.make<nn::RoundOp>(scaled)
                      : roundHalfAway(e, scaled);
  Value moved =
      e.make<nn::AddOp>(rounded, e.reals(toFloats(to.zeroPoints), to.axis));
  RankedTensorType storage = getStorageType(getType());
  return reinterpretResult(builder, *this,
                           e.saturate(moved, to, storage.getElementType()));
}

Value DequantizeOp::lower(OpBuilder &builder) {
  Expression e(builder, *this);
  Parameters from = getParameters(getX().getType());
  Value integers =
      reinterpret(builder, *this, getX(), getStorageType(getX().getType()));
  Value centred = e.make<nn::SubOp>(
      e.toF32(integers), e.reals(toFloats(from.zeroPoints), from.axis));
  return e.make<nn::MulOp>(centred, e.reals(toFloats(from.scales), from.axis));
}

Value DequantizeBlocksOp::lower(OpBuilder &builder) {
  auto x = cast<RankedTensorType>(getX().getType());
  int64_t axis = getAxis(), blocks = x.getDimSize(axis) / getBlock();
  int64_t outer = axis == 0 ? 1 : x.getDimSize(0);
  int64_t inner = axis == 0 ? x.getDimSize(1) : 1;
  Type real = builder.getF32Type();
  // The elements of a block get their own axis, along which parameters
  // broadcast.
  auto reshape = [&](Value value, int64_t size) -> Value {
    auto from = cast<RankedTensorType>(value.getType());
    if (from.getElementType() != real)
      value = builder.create<nn::CastOp>(getLoc(), from.clone(real), value);
    return builder.create<nn::ReshapeOp>(
        getLoc(), RankedTensorType::get({outer, blocks, size, inner}, real),
        value);
  };
  Value y = reshape(getX(), getBlock());
  if (getZeroPoints())
    y = builder.create<nn::SubOp>(getLoc(), y, reshape(getZeroPoints(), 1));
  y = builder.create<nn::MulOp>(getLoc(), y, reshape(getScales(), 1));
  return builder.create<nn::ReshapeOp>(getLoc(), x.clone(real), y);
}

/// Returns `factors` as constants in TFLite's fixed-point form: multipliers and
/// shifts.
static std::pair<Value, Value>
makeFixedPoint(Expression &e, ArrayRef<double> factors, int64_t axis) {
  SmallVector<int64_t> multipliers, shifts;
  for (double factor : factors) {
    FixedPoint fixed = toFixedPoint(factor);
    multipliers.push_back(fixed.multiplier);
    shifts.push_back(fixed.shift);
  }
  return {e.integers(multipliers, axis), e.integers(shifts, axis)};
}

Value qnn::RequantizeOp::lower(OpBuilder &builder) {
  Expression e(builder, *this);
  Parameters from = getParameters(getX().getType()),
             to = getParameters(getType());
  RankedTensorType storage = getStorageType(getType());
  int64_t axis = std::max(from.axis, to.axis);
  SmallVector<double> factors;
  for (size_t i = 0; i < std::max(from.scales.size(), to.scales.size()); ++i)
    factors.push_back(from.scales[from.scales.size() == 1 ? 0 : i] /
                      to.scales[to.scales.size() == 1 ? 0 : i]);
  Value stored =
      reinterpret(builder, *this, getX(), getStorageType(getX().getType()));
  bool isCentred =
      llvm::all_of(from.zeroPoints, [](int64_t zero) { return zero == 0; });
  bool isReal = getRescale() == Rescale::real;
  Value x = isReal && isCentred ? stored : e.toI32(stored);
  if (!isCentred)
    x = e.make<nn::SubOp>(x, e.integers(from.zeroPoints, from.axis));
  Value multiplier, shift;
  if (isReal) {
    multiplier = e.reals(toFloats(factors), axis);
    if (getShift())
      shift = e.make<nn::DivOp>(Value(getShift()),
                                e.reals(toFloats(to.scales), to.axis));
  } else {
    std::tie(multiplier, shift) = makeFixedPoint(e, factors, axis);
  }
  auto requantize = [&](Type element, int64_t zero, int64_t low, int64_t high) {
    return e.make<nn::RequantizeOp>(
        getRescaleAttr(), x, multiplier, shift, TypeAttr::get(element),
        builder.getI64IntegerAttr(zero), builder.getI64IntegerAttr(low),
        builder.getI64IntegerAttr(high));
  };
  if (llvm::all_equal(to.zeroPoints))
    return reinterpretResult(
        builder, *this,
        requantize(storage.getElementType(), to.zeroPoints[0], to.min, to.max));
  // The result has several zero points, each of at most 16 bits. The scaled
  // integers are limited to 2^17 first: a larger one leaves the range of the
  // result with any of these zero points, and the sum below cannot overflow.
  Value centred = requantize(builder.getI32Type(), 0, -(1 << 17), 1 << 17);
  Value moved = e.make<nn::AddOp>(centred, e.integers(to.zeroPoints, to.axis));
  Value bounded =
      e.make<nn::MinOp>(Value(e.make<nn::MaxOp>(moved, e.integers({to.min}))),
                        e.integers({to.max}));
  return reinterpretResult(builder, *this,
                           e.cast(bounded, storage.getElementType()));
}
