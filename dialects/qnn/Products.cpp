//===- Products.cpp - qnn.conv and qnn.matmul -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Both ops are sums of products (x - zx) * (w - zw). The zero point of w is
// subtracted from w itself, which is usually a constant; if it is 0, w is not
// changed. The zero point of x is moved out of the sums: it contributes zx
// times the sum of w to each sum, one number per channel that is known at
// compile time (QNN, section 4).
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "dialects/nn/moves/Copy.h"
#include "dialects/qnn/Qnn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::qnn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies that an operand or result of `op` is quantized, with parameters for
/// the whole tensor or, if `axis` is not negative, along that axis.
static LogicalResult verifyParameters(Operation *op, Type type, StringRef what,
                                      int64_t axis) {
  if (failed(verifyQuantized(op, type)))
    return failure();
  int64_t own = getParameters(type).axis;
  if (own >= 0 && own != axis)
    return op->emitOpError("has ") << what << " with scales along axis " << own
                                   << (axis < 0 ? "; it may have only one scale"
                                                : "; they may lie along axis ")
                                   << (axis < 0 ? "" : std::to_string(axis));
  return success();
}

/// Verifies the types of a product of `x` and `w` whose sums have one scale, or
/// one scale for each index of `channelAxis`.
static LogicalResult verifyProduct(Operation *op, Type x, Type w, Type y,
                                   int64_t weightAxis, int64_t channelAxis) {
  if (failed(verifyParameters(op, x, "a first operand", -1)) ||
      failed(verifyParameters(op, w, "a second operand", weightAxis)) ||
      failed(verifyParameters(op, y, "a result", channelAxis)))
    return failure();
  for (Type type : {x, w})
    if (getQuantizedType(type).getStorageTypeIntegralWidth() > 16)
      return op->emitOpError("multiplies at most 16 bits, not ") << type;
  if (getStorageType(y).getElementType() !=
      IntegerType::get(op->getContext(), 32))
    return op->emitOpError("sums in i32, not in ") << y;
  Parameters sums = getParameters(y);
  if (llvm::any_of(sums.zeroPoints, [](int64_t zero) { return zero != 0; }))
    return op->emitOpError("has sums with a zero point, ") << y;
  return success();
}

/// Verifies that the result of `op` has the shape `inferred`.
static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> inferred) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getShape() == inferred)
    return success();
  return op->emitOpError("has a result of type ")
         << type << "; its shape has to be that of "
         << RankedTensorType::get(inferred, type.getElementType());
}

LogicalResult qnn::ConvOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()),
       w = cast<RankedTensorType>(getW().getType());
  if (failed(verifyProduct(*this, x, w, getType(), 0, 1)))
    return failure();
  SmallVector<int64_t> shape;
  if (failed(nn::inferConv(getLoc(), x, w, getStrides(), getDilations(),
                           getPads(), getGroups(), shape)) ||
      failed(verifyShape(*this, shape)))
    return failure();
  if (getBias() && getBias().getType().getShape() != ArrayRef(shape[1]))
    return emitOpError("has a bias of ")
           << getBias().getType() << " for " << shape[1] << " filters";
  return success();
}

LogicalResult qnn::MatMulOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()),
       b = cast<RankedTensorType>(getB().getType());
  if (failed(verifyProduct(*this, a, b, getType(), b.getRank() - 1,
                           cast<RankedTensorType>(getType()).getRank() - 1)))
    return failure();
  SmallVector<int64_t> shape;
  if (failed(nn::inferMatMul(getLoc(), a, b, false, false, shape)))
    return failure();
  return verifyShape(*this, shape);
}

OpFoldResult qnn::ConvOp::fold(FoldAdaptor) { return {}; }
OpFoldResult qnn::MatMulOp::fold(FoldAdaptor) { return {}; }

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

nn::AxisUse ConvOp::getAxisUse(int64_t axis) {
  return nn::getWindowUse(*this,
                          {nn::getTensorType(getW()).getShape().drop_front(2),
                           getStrides(), getDilations(), getPads()},
                          axis);
}

void ConvOp::setAxisPadding(int64_t axis, int64_t before, int64_t after) {
  setPads(nn::withPadding(getPads(), axis - 2, before, after));
}

/// All matrices of `a` may share one `b`.
nn::AxisUse MatMulOp::getAxisUse(int64_t axis) {
  bool isColumn = axis == nn::getTensorType(getY()).getRank() - 1;
  if (isColumn || nn::getTensorType(getB()).getRank() != 2)
    return {};
  return nn::AxisUse::elements(*this, axis);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Returns true if `value` is an integer constant that was reinterpreted as a
/// quantized type.
static bool isConstantOfIntegers(Value value) {
  auto reinterpret = value.getDefiningOp<ReinterpretOp>();
  return reinterpret && reinterpret.getX().getDefiningOp<nn::ConstantOp>();
}

namespace {
/// A builder of the integer arithmetic of one product.
class Sums {
public:
  Sums(OpBuilder &builder, Location location)
      : builder(builder), location(location) {}

  template <class Op, class... Args> Value make(Args... args) {
    return builder.createOrFold<Op>(location, args...);
  }
  /// Returns the integers of a quantized value.
  Value integers(Value x) {
    return make<ReinterpretOp>(getStorageType(x.getType()), x);
  }
  Value cast(Value x, Type element) {
    auto type = llvm::cast<RankedTensorType>(x.getType());
    return make<nn::CastOp>(RankedTensorType::get(type.getShape(), element), x);
  }
  /// Returns a constant: one value of `type`, or one for each index of axis
  /// `axis` of a tensor of rank `rank`.
  Value constant(ArrayRef<int64_t> values, Type element, int64_t axis,
                 int64_t rank) {
    SmallVector<int64_t> dims;
    if (values.size() > 1) {
      dims.assign(rank - axis, 1);
      dims[0] = values.size();
    }
    auto type = RankedTensorType::get(dims, element);
    SmallVector<APInt> numbers;
    for (int64_t value : values)
      numbers.emplace_back(element.getIntOrFloatBitWidth(), value,
                           /*isSigned=*/true);
    return make<nn::ConstantOp>(
        ElementsAttr(DenseElementsAttr::get(type, numbers)));
  }
  Value constant(int64_t value, Type element) {
    return constant({value}, element, 0, 0);
  }

  Value centre(Value x) { return qnn::centre(builder, location, x); }
  /// Returns `-zero` times the sums of `w` over `axes`, in i32.
  Value makeCorrection(Value w, int64_t zero, ArrayRef<int64_t> axes) {
    Value sums = make<nn::ReduceOp>(nn::ReduceKind::sum,
                                    cast(w, builder.getI32Type()), axes,
                                    /*keepdims=*/false);
    return make<nn::MulOp>(sums, constant(-zero, builder.getI32Type()));
  }

  /// Copies to `to`, the lowered form of the product `from`, the mark that the
  /// model multiplies floats.
  void copyOrigin(Operation *from, Value to) {
    if (Attribute origin = from->getAttr(kOfFloatsAttr))
      to.getDefiningOp()->setAttr(kOfFloatsAttr, origin);
  }

private:
  OpBuilder &builder;
  Location location;
};
} // namespace

Value qnn::centre(OpBuilder &builder, Location location, Value x) {
  Sums sums(builder, location);
  Parameters parameters = getParameters(x.getType());
  RankedTensorType storage = getStorageType(x.getType());
  auto areAll = [&](int64_t zero) {
    return llvm::all_of(parameters.zeroPoints,
                        [=](int64_t own) { return own == zero; });
  };
  Value stored = sums.integers(x);
  if (areAll(0))
    return stored;
  unsigned width = storage.getElementType().getIntOrFloatBitWidth();
  Type wide = builder.getIntegerType(2 * width);
  Value centred =
      sums.make<nn::SubOp>(sums.cast(stored, wide),
                           sums.constant(parameters.zeroPoints, wide,
                                         parameters.axis, storage.getRank()));
  // Unsigned integers whose zero point is the middle of their range can be
  // converted to signed ones.
  bool isMiddle = storage.getElementType().isUnsignedInteger() &&
                  areAll(int64_t(1) << (width - 1));
  return isMiddle ? sums.cast(centred, builder.getIntegerType(width)) : centred;
}

Value qnn::ConvOp::lower(OpBuilder &builder) {
  Sums sums(builder, getLoc());
  Value x = sums.integers(getX()), w = sums.centre(getW());
  int64_t zero = getParameters(getX().getType()).zeroPoints[0];
  Type i32 = builder.getI32Type();
  // A real number 0 outside of the image is stored as the zero point.
  bool isPadded = llvm::any_of(getPads(), [](int64_t pad) { return pad != 0; });
  Value y = sums.make<nn::ConvOp>(x, w, getStrides(), getDilations(), getPads(),
                                  getGroups(), TypeAttr::get(i32),
                                  isPadded ? zero : 0);
  sums.copyOrigin(*this, y);
  int64_t rank = cast<RankedTensorType>(w.getType()).getRank();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  Value shift = getBias();
  if (zero != 0) {
    Value correction = sums.makeCorrection(w, zero, axes);
    shift = shift ? sums.make<nn::AddOp>(shift, correction) : correction;
  }
  if (shift) {
    SmallVector<int64_t> channel(rank - 1, 1);
    channel[0] = cast<RankedTensorType>(shift.getType()).getDimSize(0);
    shift =
        sums.make<nn::ReshapeOp>(RankedTensorType::get(channel, i32), shift);
    y = sums.make<nn::AddOp>(y, shift);
  }
  return sums.make<ReinterpretOp>(getType(), y);
}

Value qnn::MatMulOp::lower(OpBuilder &builder) {
  Sums sums(builder, getLoc());
  int64_t zero = getParameters(getA().getType()).zeroPoints[0];
  // The correction for the zero point of a is cheapest if b is constant,
  // because it is then one constant per column.
  bool isConstant = isConstantOfIntegers(getB());
  Value b = sums.centre(getB());
  Value a = isConstant ? sums.integers(getA()) : sums.centre(getA());
  Value y = sums.make<nn::MatMulOp>(a, b, false, false,
                                    TypeAttr::get(builder.getI32Type()));
  sums.copyOrigin(*this, y);
  if (isConstant && zero != 0) {
    auto type = cast<RankedTensorType>(b.getType());
    Value correction =
        sums.makeCorrection(b, zero, {int64_t(type.getRank() - 2)});
    if (type.getRank() > 2) {
      SmallVector<int64_t> shape(type.getShape());
      shape[type.getRank() - 2] = 1;
      correction = sums.make<nn::ReshapeOp>(
          RankedTensorType::get(shape, builder.getI32Type()), correction);
    }
    y = sums.make<nn::AddOp>(y, correction);
  }
  return sums.make<ReinterpretOp>(getType(), y);
}
