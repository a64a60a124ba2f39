//===- QuantizedProducts.cpp - Products of dequantized values -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Dequantized numbers are integers times a scale. The sums of their products
// are therefore sums of integers times the product of the two scales, without
// any rounding.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/QuantizedLayers.h"
#include "dialects/nn/tensors/TensorData.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the integers of the constant that `value` is dequantized from, or
/// nullopt.
static std::optional<TensorData> getStored(Value value) {
  auto dequantize = value.getDefiningOp<qnn::DequantizeOp>();
  auto reinterpret = dequantize
                         ? dequantize.getX().getDefiningOp<qnn::ReinterpretOp>()
                         : nullptr;
  return reinterpret ? TensorData::get(reinterpret.getX()) : std::nullopt;
}

/// Returns the elements of a constant vector of floats, or of a dequantized
/// one, in any shape; nullopt for other values.
static std::optional<SmallVector<double>> getVector(Value value) {
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return getVector(reshape.getX());
  SmallVector<double> reals;
  if (auto data = TensorData::get(value)) {
    for (int64_t i = 0; i < data->getNumElements(); ++i)
      reals.push_back(data->getReal(i));
    return reals;
  }
  auto stored = getStored(value);
  qnn::Parameters parameters;
  if (stored)
    parameters = qnn::getParameters(
        value.getDefiningOp<qnn::DequantizeOp>().getX().getType());
  if (!stored ||
      (parameters.scales.size() > 1 &&
       int64_t(parameters.scales.size()) != stored->getNumElements()))
    return std::nullopt;
  for (int64_t i = 0; i < stored->getNumElements(); ++i) {
    size_t own = parameters.scales.size() == 1 ? 0 : i;
    reals.push_back((stored->getReal(i) - double(parameters.zeroPoints[own])) *
                    parameters.scales[own]);
  }
  return reals;
}

/// Returns the vector that `add` adds to each channel of the product `value`,
/// which has no other use, or null.
static Value getBias(AddOp add, Value value) {
  auto anchor = cast<RoutineOpInterface>(value.getDefiningOp());
  if (value.getType() != add.getType() || add.getA() == add.getB())
    return {};
  Value bias = add.getA() == value ? add.getB() : add.getA();
  ArrayRef<int64_t> shape = getTensorType(value).getShape();
  ExtraKind kind = getExtraKind(getTensorType(bias).getShape(), shape,
                                anchor.getChannelAxis());
  bool isVector =
      kind != ExtraKind::Broadcast &&
      getTensorType(bias).getNumElements() == shape[*anchor.getChannelAxis()];
  return isVector ? bias : Value();
}

/// Returns the bias as integers in units of the scales of the sums; nullopt if
/// an element does not fit in 32 bits or is no multiple of its scale. Bias and
/// scales are known to the precision of a float.
static std::optional<SmallVector<int32_t>>
quantizeBias(ArrayRef<double> reals, ArrayRef<double> scales) {
  constexpr double kPrecision = 0x1p-22;
  SmallVector<int32_t> integers;
  for (auto [i, real] : llvm::enumerate(reals)) {
    double exact = real / scales[scales.size() == 1 ? 0 : i];
    double integer = std::nearbyint(exact);
    if (!(std::abs(integer) < 0x1p31) ||
        std::abs(exact - integer) > kPrecision * std::abs(exact))
      return std::nullopt;
    integers.push_back(static_cast<int32_t>(integer));
  }
  return integers;
}

/// Returns `w`, one or several matrices, with the last two axes swapped, by
/// transposing its integers.
static Value transposeStored(PatternRewriter &rewriter, Value w) {
  Location loc = w.getLoc();
  auto type = cast<RankedTensorType>(w.getType());
  int64_t rank = type.getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 2], order[rank - 1]);
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[rank - 2], shape[rank - 1]);
  Value stored = getIntegers(rewriter, w);
  Type storage = getTensorType(stored).getElementType();
  Value turned = rewriter.create<TransposeOp>(
      loc, RankedTensorType::get(shape, storage), stored, order);
  qnn::Parameters parameters = qnn::getParameters(type);
  if (parameters.axis >= 0)
    parameters.axis = llvm::find(order, parameters.axis) - order.begin();
  return rewriter.create<qnn::ReinterpretOp>(
      loc, qnn::makeType(shape, cast<IntegerType>(storage), parameters),
      turned);
}

namespace {
/// The operands of a product of dequantized values.
struct Operands {
  qnn::DequantizeOp x, w;
  SmallVector<double> scales; ///< scales of the sums
  double mostSum;             ///< the largest magnitude of a sum of products
};
} // namespace

/// Returns the operands of the product `op`, nn.conv, nn.conv_transpose or
/// nn.matmul, if it can be computed in integers; otherwise `obstacle` says why
/// it cannot.
static std::optional<Operands> getOperands(Operation *op, StringRef &obstacle) {
  auto fail = [&](StringRef why) {
    obstacle = why;
    return std::nullopt;
  };
  auto matmul = dyn_cast<MatMulOp>(op);
  Operands operands{getDequantized(op->getOperand(0), 8),
                    getDequantized(op->getOperand(1), 8),
                    {},
                    0};
  if (!operands.x)
    return fail("its input is not quantized to 8 bits");
  if (!operands.w)
    return fail("its weights are not quantized to 8 bits");
  bool isKnown = getStored(op->getOperand(1)).has_value();
  if (!matmul && !isKnown)
    return fail("its weights are computed at run time");
  qnn::Parameters from = qnn::getParameters(operands.x.getX().getType()),
                  by = qnn::getParameters(operands.w.getX().getType());
  RankedTensorType weight = getTensorType(op->getOperand(1));
  int64_t rank = weight.getRank();
  // A transposed convolution has its results along the second axis of weights.
  auto transposed = dyn_cast<ConvTransposeOp>(op);
  int64_t filters = transposed               ? 1
                    : !matmul                ? 0
                    : matmul.getTransposeB() ? rank - 2
                                             : rank - 1;
  if (from.axis >= 0)
    return fail("its input has scales along an axis");
  if (by.axis >= 0 && by.axis != filters)
    return fail("its weights have scales along an axis that is summed over");
  if (by.axis >= 0 && transposed && transposed.getGroups() != 1)
    return fail("its groups share the scales of its weights");
  if (weight.getNumElements() == 0)
    return fail("it has no weights");
  for (double scale : by.scales) {
    operands.scales.push_back(static_cast<float>(from.scales[0] * scale));
    if (!(operands.scales.back() > 0) || std::isinf(operands.scales.back()))
      return fail("the product of its scales is no normal number");
  }
  // Sums of floats do not overflow, so that the sums of integers must not,
  // either.
  int64_t terms =
      matmul ? weight.getDimSize(matmul.getTransposeB() ? rank - 1 : rank - 2)
             : weight.getNumElements() / weight.getDimSize(filters);
  operands.mostSum = getReach(from) * getReach(by) * double(terms);
  if (operands.mostSum >= 0x1p31)
    return fail("its sums do not fit in 32 bits");
  return operands;
}

/// Returns the type of a tensor with `count` elements along the first of `rank`
/// axes, and the element type of `like`.
static RankedTensorType getColumn(int64_t count, int64_t rank, Value like) {
  SmallVector<int64_t> shape(rank, 1);
  shape[0] = count;
  return RankedTensorType::get(shape, getTensorType(like).getElementType());
}

/// Marks a product of integers that is a product of floats in the model.
static void markOrigin(Value product) {
  product.getDefiningOp()->setAttr(qnn::kOfFloatsAttr,
                                   UnitAttr::get(product.getContext()));
}

/// Creates the sum of `sums` and the integers `shift`; returns `sums` if
/// `shift` is null.
static Value addToSums(PatternRewriter &rewriter, Value sums, Value shift) {
  if (!shift)
    return sums;
  Value plain =
      rewriter.create<AddOp>(sums.getLoc(), getIntegers(rewriter, sums), shift);
  return rewriter.create<qnn::ReinterpretOp>(sums.getLoc(), sums.getType(),
                                             plain);
}

namespace {
/// Replaces a product of dequantized values by a product of the integers, whose
/// sums are dequantized. The result loses at most the rounding of one float
/// product, whereas floats round each sum. A bias that is added to the product
/// is added to the integers if it is a multiple of their scales; any other bias
/// remains a float that is added to the dequantized sums.
template <class Op> struct FuseProduct : OpRewritePattern<Op> {
  FuseProduct(MLIRContext *context, ProductChoice choice)
      : OpRewritePattern<Op>(context), hasIntegers(std::move(choice)) {}
  LogicalResult matchAndRewrite(Op product,
                                PatternRewriter &rewriter) const override {
    StringRef obstacle;
    std::optional<Operands> operands = getOperands(product, obstacle);
    if (!operands)
      return rewriter.notifyMatchFailure(product, obstacle);
    if (!hasIntegers(product))
      return rewriter.notifyMatchFailure(
          product, "the target has no routine for its integers");
    Value value = product->getResult(0);
    Operation *last = product;
    std::optional<SmallVector<int32_t>> added;
    auto add =
        value.hasOneUse() ? dyn_cast<AddOp>(*value.user_begin()) : AddOp();
    if (Value bias = add ? getBias(add, value) : Value()) {
      if (auto reals = getVector(bias))
        added = quantizeBias(*reals, operands->scales);
      double largest = operands->mostSum;
      for (int32_t one : added.value_or(SmallVector<int32_t>()))
        largest = std::max(largest, operands->mostSum + std::abs(double(one)));
      if (added && largest < 0x1p31)
        last = add;
      else
        added.reset();
    }
    rewriter.setInsertionPoint(last);
    Location loc = product.getLoc();
    RankedTensorType type = getTensorType(value);
    constexpr bool isMatMul = std::is_same_v<Op, MatMulOp>;
    RankedTensorType sums =
        qnn::makeType(type.getShape(), rewriter.getI32Type(), operands->scales,
                      SmallVector<int64_t>(operands->scales.size(), 0),
                      isMatMul ? type.getRank() - 1 : 1);
    Value shift;
    if (added)
      shift = rewriter.create<ConstantOp>(
          loc, ElementsAttr(DenseElementsAttr::get(
                   RankedTensorType::get({int64_t(added->size())},
                                         rewriter.getI32Type()),
                   ArrayRef<int32_t>(*added))));
    Value x = operands->x.getX(), w = operands->w.getX(), result;
    if constexpr (std::is_same_v<Op, ConvOp>) {
      result = rewriter.create<qnn::ConvOp>(
          loc, sums, x, w, shift, product.getStrides(), product.getDilations(),
          product.getPads(), product.getGroups());
      markOrigin(result);
    } else if constexpr (std::is_same_v<Op, MatMulOp>) {
      if (product.getTransposeA())
        x = transposeStored(rewriter, x);
      if (product.getTransposeB())
        w = transposeStored(rewriter, w);
      result = rewriter.create<qnn::MatMulOp>(loc, sums, x, w);
      markOrigin(result);
      result = addToSums(rewriter, result, shift);
    } else {
      Value plain = rewriter.create<ConvTransposeOp>(
          loc, qnn::centre(rewriter, loc, x), qnn::centre(rewriter, loc, w),
          product.getStrides(), product.getDilations(), product.getPads(),
          product.getOutputPadding(), product.getGroups(),
          TypeAttr::get(rewriter.getI32Type()));
      markOrigin(plain);
      result = rewriter.create<qnn::ReinterpretOp>(loc, sums, plain);
      if (shift)
        shift = rewriter.create<ReshapeOp>(
            loc, getColumn(added->size(), type.getRank() - 1, shift), shift);
      result = addToSums(rewriter, result, shift);
    }
    rewriter.replaceOpWithNewOp<qnn::DequantizeOp>(last, type, result);
    return success();
  }

private:
  ProductChoice hasIntegers;
};

/// Replaces quantize(dequantize(sums)), and quantize(dequantize(sums) + bias)
/// with a known bias, by a requantization of the sums.
struct RequantizeSums : OpRewritePattern<qnn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(qnn::QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    auto [value, bias] = splitBias(quantize.getX());
    auto sums = value.getDefiningOp<qnn::DequantizeOp>();
    if (!sums || !sums->hasOneUse() ||
        quantize.getRounding() != qnn::Rounding::half_even ||
        qnn::getParameters(quantize.getType()).axis >= 0 ||
        qnn::getQuantizedType(sums.getX().getType())
                .getStorageTypeIntegralWidth() != 32)
      return failure();
    Value shift;
    if (bias) {
      auto reals = getVector(bias);
      SmallVector<float> floats(reals->begin(), reals->end());
      shift = rewriter.create<ConstantOp>(
          bias.getLoc(), ElementsAttr(DenseElementsAttr::get(
                             getTensorType(bias), ArrayRef<float>(floats))));
    }
    auto requantize = rewriter.create<qnn::RequantizeOp>(
        quantize.getLoc(), quantize.getType(), qnn::Rescale::real, sums.getX(),
        shift);
    requantize->setDiscardableAttrs(quantize->getDiscardableAttrDictionary());
    rewriter.replaceOp(quantize, requantize);
    return success();
  }

private:
  /// Splits `value` into a sum x + bias with a constant bias. Returns x and the
  /// bias, or `value` and null.
  static std::pair<Value, Value> splitBias(Value value) {
    auto add = value.getDefiningOp<AddOp>();
    if (!add || !add->hasOneUse())
      return {value, {}};
    Value x = add.getA(), bias = add.getB();
    if (!x.getDefiningOp<qnn::DequantizeOp>() || getVector(x))
      std::swap(x, bias);
    if (x.getType() != value.getType() || !getVector(bias))
      return {value, {}};
    return {x, bias};
  }
};
} // namespace

StringRef nnc::getProductObstacle(Operation *op) {
  StringRef obstacle;
  getOperands(op, obstacle);
  return obstacle;
}

void nnc::populateQuantizedProducts(RewritePatternSet &patterns,
                                    const ProductChoice &hasIntegers) {
  patterns.add<FuseProduct<ConvOp>, FuseProduct<ConvTransposeOp>,
               FuseProduct<MatMulOp>>(patterns.getContext(), hasIntegers);
  patterns.add<RequantizeSums>(patterns.getContext());
}
