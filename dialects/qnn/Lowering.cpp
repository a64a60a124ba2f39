//===- Lowering.cpp - Lowers quantized ops to nn ops ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Qnn.h"

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
  Value toI64(Value x) { return cast(x, builder.getI64Type()); }

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
    auto type = getShape(values.size(), axis, builder.getI64Type());
    return make<nn::ConstantOp>(
        ElementsAttr(DenseElementsAttr::get(type, values)));
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

static Value reinterpret(OpBuilder &builder, Operation *op, Value x,
                         Type type) {
  return builder.create<ReinterpretOp>(op->getLoc(), type, x);
}

/// Rounds x to the nearest integer, halves away from zero. The shorter trunc(x
/// + copysign(1/2, x)) would round 0.49999997 up; x - trunc(x) is exact, so
/// that a half is recognised exactly.
static Value roundHalfAway(Expression &e, Value x) {
  Value magnitude = e.make<nn::AbsOp>(x);
  Value whole = e.make<nn::FloorOp>(magnitude);
  Value rest = e.make<nn::SubOp>(magnitude, whole);
  Value up = e.make<nn::GreaterEqualOp>(rest, e.reals({0.5f}, -1));
  Value rounded =
      e.make<nn::AddOp>(whole, e.cast(up, Float32Type::get(x.getContext())));
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
  return reinterpret(builder, *this,
                     e.saturate(moved, to, storage.getElementType()),
                     getType());
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
  // Blocks are an axis of their own, along which parameters broadcast.
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

/// Returns a / b, rounded to nearest with halves away from zero; b is positive
/// and even, or 1.
static Value divideHalfAway(Expression &e, Value a, Value half, Value b) {
  Value isNegative = e.make<nn::LessOp>(a, e.integers({0}));
  Value nudge = e.make<nn::SelectOp>(
      isNegative, Value(e.make<nn::SubOp>(e.integers({0}), half)), half);
  return e.make<nn::DivOp>(Value(e.make<nn::AddOp>(a, nudge)), b);
}

/// Returns x * factor with the two roundings of gemmlowp (TFLite's
/// MultiplyByQuantizedMultiplier): a left shift, a doubling high multiply that
/// rounds halves of a negative product towards zero, and a right shift that
/// rounds halves away from zero.
static Value rescaleDouble(Expression &e, Value x, ArrayRef<FixedPoint> factors,
                           int64_t axis) {
  SmallVector<int64_t> multiplier, left, half, right;
  for (FixedPoint factor : factors) {
    int down = std::max(-factor.shift, 0);
    multiplier.push_back(factor.multiplier);
    left.push_back(1LL << std::max(factor.shift, 0));
    right.push_back(1LL << down);
    half.push_back(down ? 1LL << (down - 1) : 0);
  }
  Value shifted = e.make<nn::MulOp>(x, e.integers(left, axis));
  Value product = e.make<nn::MulOp>(shifted, e.integers(multiplier, axis));
  Value isNegative = e.make<nn::LessOp>(product, e.integers({0}));
  Value nudge = e.make<nn::SelectOp>(isNegative, e.integers({1 - (1LL << 30)}),
                                     e.integers({1LL << 30}));
  Value high = e.make<nn::DivOp>(Value(e.make<nn::AddOp>(product, nudge)),
                                 e.integers({1LL << 31}));
  return divideHalfAway(e, high, e.integers(half, axis),
                        e.integers(right, axis));
}

/// Returns x * factor with a single rounding, halves up.
static Value rescaleSingle(Expression &e, Value x, ArrayRef<FixedPoint> factors,
                           int64_t axis) {
  SmallVector<int64_t> multiplier, half, divisor;
  for (FixedPoint factor : factors) {
    int shift = 31 - factor.shift;
    multiplier.push_back(factor.multiplier);
    half.push_back(1LL << (shift - 1));
    divisor.push_back(1LL << shift);
  }
  Value product = e.make<nn::MulOp>(x, e.integers(multiplier, axis));
  Value nudged = e.make<nn::AddOp>(product, e.integers(half, axis));
  // An arithmetic shift right divides and rounds down.
  Value below = e.make<nn::ModOp>(nudged, e.integers(divisor, axis));
  return e.make<nn::DivOp>(Value(e.make<nn::SubOp>(nudged, below)),
                           e.integers(divisor, axis));
}

Value RequantizeOp::lower(OpBuilder &builder) {
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
  auto centre = [&]() -> Value {
    Value wide = e.toI64(stored);
    return isCentred ? wide
                     : e.make<nn::SubOp>(
                           wide, e.integers(from.zeroPoints, from.axis));
  };
  if (getRescale() == Rescale::real) {
    Value real = e.toF32(isCentred ? stored : centre());
    Value product = e.make<nn::MulOp>(real, e.reals(toFloats(factors), axis));
    Value moved = e.make<nn::AddOp>(Value(e.make<nn::RoundOp>(product)),
                                    e.reals(toFloats(to.zeroPoints), to.axis));
    return reinterpret(builder, *this,
                       e.saturate(moved, to, storage.getElementType()),
                       getType());
  }
  SmallVector<FixedPoint> fixed(llvm::map_range(factors, toFixedPoint));
  Value rescaled = getRescale() == Rescale::double_rounding
                       ? rescaleDouble(e, centre(), fixed, axis)
                       : rescaleSingle(e, centre(), fixed, axis);
  Value moved = e.make<nn::AddOp>(rescaled, e.integers(to.zeroPoints, to.axis));
  Value bounded =
      e.make<nn::MinOp>(Value(e.make<nn::MaxOp>(moved, e.integers({to.min}))),
                        e.integers({to.max}));
  return reinterpret(builder, *this, e.cast(bounded, storage.getElementType()),
                     getType());
}
