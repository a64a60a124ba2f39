//===- QuantizedLayers.cpp - Float ops between quantized values -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model in QDQ form computes a layer in floats: its operands are dequantized,
// and its result is quantized. Where the same layer on integers is within one
// unit of that, it takes its place: dequantized numbers are integers times a
// scale, so the sums of products are integers times the product of two scales,
// without any rounding.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Patterns.h"
#include "dialects/nn/TensorData.h"
#include "dialects/qnn/Qnn.h"

#include <cmath>
#include <limits>

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
  if (!stored || stored->getShape().size() > 1)
    return std::nullopt;
  qnn::Parameters parameters = qnn::getParameters(
      value.getDefiningOp<qnn::DequantizeOp>().getX().getType());
  for (int64_t i = 0; i < stored->getNumElements(); ++i) {
    size_t own = parameters.scales.size() == 1 ? 0 : i;
    reals.push_back((stored->getReal(i) - double(parameters.zeroPoints[own])) *
                    parameters.scales[own]);
  }
  return reals;
}

/// Returns true if a quantization to `to` saturates wherever the activation
/// changes a value: its bounds lie within half a unit of the range, or outside.
static bool isImplied(Operation *activation, const qnn::Parameters &to) {
  double low = 0, high = std::numeric_limits<double>::infinity();
  if (auto clip = dyn_cast<ClipOp>(activation)) {
    low = clip.getMin().convertToDouble();
    high = clip.getMax().convertToDouble();
  } else if (!isa<ReluOp>(activation)) {
    return false;
  }
  double least = double(to.min - to.zeroPoints[0]) * to.scales[0],
         most = double(to.max - to.zeroPoints[0]) * to.scales[0];
  return low <= least + to.scales[0] / 2 && high >= most - to.scales[0] / 2;
}

namespace {
/// A product of dequantized operands, and the vector that is added to it.
struct Product {
  Operation *op = nullptr; ///< nn.conv or nn.matmul
  Value bias;              ///< null if there is none
};
} // namespace

/// Returns the product that `value`, which has no other use, consists of; its
/// op is null if there is none.
static Product findProduct(Value value) {
  auto getProduct = [](Value value) -> Operation * {
    Operation *op = value.getDefiningOp();
    return op && isa<ConvOp, MatMulOp>(op) && value.hasOneUse() ? op : nullptr;
  };
  if (Operation *op = getProduct(value))
    return {op, {}};
  auto add = value.getDefiningOp<AddOp>();
  if (!add || !value.hasOneUse())
    return {};
  for (auto [product, bias] :
       {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())}) {
    auto anchor = dyn_cast_or_null<RoutineOpInterface>(getProduct(product));
    if (!anchor)
      continue;
    ArrayRef<int64_t> shape = getTensorType(product).getShape();
    ExtraKind kind = getExtraKind(getTensorType(bias).getShape(), shape,
                                  anchor.getChannelAxis());
    bool isVector =
        kind != ExtraKind::Broadcast &&
        getTensorType(bias).getNumElements() == shape[*anchor.getChannelAxis()];
    if (product.getType() == add.getType() && isVector)
      return {anchor, bias};
  }
  return {};
}

/// Returns the bias as integers of the scales of the sums; nullopt if one does
/// not fit in 32 bits.
static std::optional<SmallVector<int32_t>>
quantizeBias(ArrayRef<double> reals, ArrayRef<double> scales) {
  SmallVector<int32_t> integers;
  for (auto [i, real] : llvm::enumerate(reals)) {
    double integer = std::nearbyint(real / scales[scales.size() == 1 ? 0 : i]);
    if (!(std::abs(integer) < 0x1p31))
      return std::nullopt;
    integers.push_back(static_cast<int32_t>(integer));
  }
  return integers;
}

/// Returns the largest magnitude of a stored number minus its zero point.
static double getReach(const qnn::Parameters &parameters) {
  int64_t reach = 0;
  for (int64_t zero : parameters.zeroPoints)
    reach = std::max({reach, parameters.max - zero, zero - parameters.min});
  return static_cast<double>(reach);
}

/// Returns `w`, the transposed right side of a matrix product, in its own
/// order: its constant is transposed.
static Value transposeStored(PatternRewriter &rewriter, Value w) {
  Location loc = w.getLoc();
  auto type = cast<RankedTensorType>(w.getType());
  Value stored =
      rewriter.create<qnn::ReinterpretOp>(loc, qnn::getStorageType(type), w);
  Value turned = rewriter.create<TransposeOp>(
      loc,
      RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                            getTensorType(stored).getElementType()),
      stored, ArrayRef<int64_t>{1, 0});
  qnn::Parameters parameters = qnn::getParameters(type);
  return rewriter.create<qnn::ReinterpretOp>(
      loc,
      qnn::makeType(getTensorType(turned).getShape(),
                    cast<IntegerType>(getTensorType(stored).getElementType()),
                    parameters.scales, parameters.zeroPoints,
                    1 - parameters.axis),
      turned);
}

namespace {
/// Replaces quantize(product of dequantized values + bias) by a product of
/// integers. What the result loses is at most the rounding of one float product
/// where the floats round each sum: within one unit.
struct FuseProduct : OpRewritePattern<qnn::QuantizeOp> {
  FuseProduct(MLIRContext *context, ProductChoice choice)
      : OpRewritePattern(context), isFasterInIntegers(std::move(choice)) {}
  LogicalResult matchAndRewrite(qnn::QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    qnn::Parameters to = qnn::getParameters(quantize.getType());
    if (quantize.getRounding() != qnn::Rounding::half_even || to.axis >= 0)
      return failure();
    Value value = quantize.getX();
    while (Operation *op = value.getDefiningOp()) {
      if (!value.hasOneUse() || !isImplied(op, to))
        break;
      value = op->getOperand(0);
    }
    auto [product, bias] = findProduct(value);
    if (!product)
      return failure();
    auto x = product->getOperand(0).getDefiningOp<qnn::DequantizeOp>(),
         w = product->getOperand(1).getDefiningOp<qnn::DequantizeOp>();
    if (!x || !w || !getStored(product->getOperand(1)))
      return failure();
    qnn::Parameters from = qnn::getParameters(x.getX().getType()),
                    by = qnn::getParameters(w.getX().getType());
    auto isNarrow = [](qnn::DequantizeOp op) {
      return qnn::getQuantizedType(op.getX().getType())
                 .getStorageTypeIntegralWidth() <= 8;
    };
    auto conv = dyn_cast<ConvOp>(product);
    auto matmul = dyn_cast<MatMulOp>(product);
    RankedTensorType type = getTensorType(product->getResult(0));
    int64_t rank = getTensorType(product->getOperand(1)).getRank();
    bool isTurned = matmul && matmul.getTransposeB();
    int64_t filters = conv ? 0 : isTurned ? rank - 2 : rank - 1;
    if (from.axis >= 0 || (by.axis >= 0 && by.axis != filters) ||
        !isNarrow(x) || !isNarrow(w) ||
        (matmul && (matmul.getTransposeA() || rank != 2)) ||
        !isFasterInIntegers(product))
      return failure();
    SmallVector<double> scales;
    for (double scale : by.scales)
      scales.push_back(static_cast<float>(from.scales[0] * scale));
    std::optional<SmallVector<int32_t>> added;
    if (bias) {
      auto reals = getVector(bias);
      if (reals)
        added = quantizeBias(*reals, scales);
      if (!added)
        return failure();
    }
    if (llvm::any_of(scales,
                     [](double s) { return !(s > 0) || std::isinf(s); }))
      return failure();

    // A float sum cannot overflow, and so must not the integer one.
    RankedTensorType weight = getTensorType(product->getOperand(1));
    if (weight.getNumElements() == 0)
      return failure();
    double most = getReach(from) * getReach(by) *
                  double(weight.getNumElements() / weight.getDimSize(filters));
    double largestBias = 0;
    for (int32_t one : added.value_or(SmallVector<int32_t>()))
      largestBias = std::max(largestBias, std::abs(double(one)));
    if (most + largestBias >= 0x1p31)
      return failure();

    Location loc = product->getLoc();
    int64_t channelAxis = conv ? 1 : type.getRank() - 1;
    RankedTensorType sums =
        qnn::makeType(type.getShape(), rewriter.getI32Type(), scales,
                      SmallVector<int64_t>(scales.size(), 0), channelAxis);
    Value shift;
    if (added)
      shift = rewriter.create<ConstantOp>(
          loc, ElementsAttr(DenseElementsAttr::get(
                   RankedTensorType::get({int64_t(added->size())},
                                         rewriter.getI32Type()),
                   ArrayRef<int32_t>(*added))));
    Value result;
    if (conv) {
      result = rewriter.create<qnn::ConvOp>(
          loc, sums, x.getX(), w.getX(), shift, conv.getStrides(),
          conv.getDilations(), conv.getPads(), conv.getGroups());
    } else {
      Value b = isTurned ? transposeStored(rewriter, w.getX()) : w.getX();
      result = rewriter.create<qnn::MatMulOp>(loc, sums, x.getX(), b);
      if (shift) {
        // The sums are integers, to which the bias is added as such.
        RankedTensorType stored = qnn::getStorageType(sums);
        Value plain = rewriter.create<qnn::ReinterpretOp>(loc, stored, result);
        plain = rewriter.create<AddOp>(loc, plain, shift);
        result = rewriter.create<qnn::ReinterpretOp>(loc, sums, plain);
      }
    }
    rewriter.replaceOpWithNewOp<qnn::RequantizeOp>(quantize, quantize.getType(),
                                                   qnn::Rescale::real, result);
    return success();
  }

private:
  ProductChoice isFasterInIntegers;
};

/// Replaces quantize(op(dequantize x)) by op(x) on integers, if both have the
/// same parameters and the op moves or selects elements.
template <class Op> struct FuseMove : OpRewritePattern<qnn::QuantizeOp> {
  using OpRewritePattern<qnn::QuantizeOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(qnn::QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    auto op = quantize.getX().getDefiningOp<Op>();
    auto dequantize =
        op ? op->getOperand(0).template getDefiningOp<qnn::DequantizeOp>()
           : qnn::DequantizeOp();
    if (!dequantize)
      return failure();
    Type element = getElementTypeOrSelf(quantize.getType());
    if (element != getElementTypeOrSelf(dequantize.getX().getType()) ||
        !isa<quant::UniformQuantizedType>(element))
      return failure();
    Location loc = op.getLoc();
    Value stored = rewriter.create<qnn::ReinterpretOp>(
        loc, qnn::getStorageType(dequantize.getX().getType()),
        dequantize.getX());
    Operation *moved = rewriter.clone(*op);
    moved->setOperand(0, stored);
    moved->getResult(0).setType(qnn::getStorageType(quantize.getType()));
    rewriter.replaceOpWithNewOp<qnn::ReinterpretOp>(
        quantize, quantize.getType(), moved->getResult(0));
    return success();
  }
};
} // namespace

void nnc::populateQuantizedLayers(RewritePatternSet &patterns,
                                  ProductChoice isFasterInIntegers) {
  patterns.add<FuseProduct>(patterns.getContext(),
                            std::move(isFasterInIntegers));
  patterns.add<FuseMove<ReshapeOp>, FuseMove<TransposeOp>, FuseMove<MaxPoolOp>>(
      patterns.getContext());
}
