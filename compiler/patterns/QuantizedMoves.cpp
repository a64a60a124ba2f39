//===- QuantizedMoves.cpp - Moves of elements work on integers ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// An op that moves, repeats or selects elements without computing new ones
// gives the same real numbers whether it works on them or on the integers that
// represent them. So does a maximum, since scales are positive.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/QuantizedLayers.h"
#include "dialects/nn/moves/Copy.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

unsigned nnc::countMoved(Operation *op) {
  if (isa<ReshapeOp, TransposeOp, ExpandOp, SliceOp, PadOp, MaxPoolOp,
          GatherOp>(op))
    return 1;
  if (auto resize = dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::nearest;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::max ||
           reduce.getKind() == ReduceKind::min;
  return isa<ConcatOp>(op) ? op->getNumOperands() : 0;
}

/// Returns the axis of the op's result that axis `axis` of its operand becomes,
/// or nullopt if there is none.
static std::optional<int64_t> followAxis(Operation *op, int64_t axis) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape(),
       to = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return llvm::find(transpose.getPermutation(), axis) -
           transpose.getPermutation().begin();
  int64_t found = isa<ReshapeOp>(op) ? findReshapedAxis(from, to, axis) : -1;
  return found < 0 ? std::nullopt : std::optional(found);
}

/// Returns the integer that stands for the float `value`, as ONNX rounds it.
static double quantize(double value, const qnn::Parameters &to) {
  float real = static_cast<float>(value) / static_cast<float>(to.scales[0]);
  double moved = std::nearbyint(real) + double(to.zeroPoints[0]);
  return std::min(std::max(moved, double(to.min)), double(to.max));
}

/// Creates a copy of the move `op` on the integers of `quantized`, which are
/// its first operands, and gives the result the element type `element`.
static Value moveIntegers(PatternRewriter &rewriter, Operation *op,
                          ArrayRef<Value> quantized, Type element) {
  IRMapping integers;
  for (auto [operand, value] : llvm::zip(op->getOperands(), quantized))
    integers.map(operand, getIntegers(rewriter, value));
  Operation *moved = rewriter.clone(*op, integers);
  auto shape = cast<RankedTensorType>(op->getResult(0).getType());
  auto type = RankedTensorType::get(shape.getShape(), element);
  moved->getResult(0).setType(qnn::getStorageType(type));
  if (auto pad = dyn_cast<PadOp>(moved))
    pad.setValue(APFloat(
        quantize(pad.getValue().convertToDouble(), qnn::getParameters(type))));
  return rewriter.create<qnn::ReinterpretOp>(op->getLoc(), type,
                                             moved->getResult(0));
}

/// Returns true if an integer represents the float exactly.
static bool isRepresented(double value, const qnn::Parameters &parameters) {
  auto real = [&](double stored) {
    return static_cast<float>(stored - double(parameters.zeroPoints[0])) *
           static_cast<float>(parameters.scales[0]);
  };
  return real(quantize(value, parameters)) == static_cast<float>(value);
}

/// Returns true if `dequantize` reads integers of more than 16 bits that are
/// the sums of a layer. They are never stored, since the layer's epilogue
/// converts them.
static bool isWideSum(qnn::DequantizeOp dequantize) {
  auto stored = dequantize.getX().getDefiningOp<qnn::ReinterpretOp>();
  bool isKnown = stored && stored.getX().getDefiningOp<ConstantOp>();
  return !isKnown && !getDequantized(dequantize.getY());
}

namespace {
/// Replaces move(dequantize x) by dequantize(move x).
struct SinkDequantize : RewritePattern {
  SinkDequantize(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    unsigned count = countMoved(op);
    SmallVector<Value> quantized;
    Type element;
    for (Value operand : op->getOperands().take_front(count)) {
      auto dequantize = getDequantized(operand, /*maxWidth=*/32);
      if (!dequantize || isWideSum(dequantize))
        return failure();
      quantized.push_back(dequantize.getX());
      Type own = getElementTypeOrSelf(dequantize.getX().getType());
      if (element && own != element)
        return failure();
      element = own;
    }
    if (!element)
      return failure();
    qnn::Parameters parameters =
        qnn::getParameters(quantized.front().getType());
    if (parameters.axis >= 0) {
      auto axis = followAxis(op, parameters.axis);
      if (!axis)
        return failure();
      Type storage =
          qnn::getStorageType(quantized.front().getType()).getElementType();
      parameters.axis = *axis;
      element = getElementTypeOrSelf(qnn::makeType(
          cast<RankedTensorType>(op->getResult(0).getType()).getShape(),
          cast<IntegerType>(storage), parameters));
    }
    auto pad = dyn_cast<PadOp>(op);
    if (pad && pad.getMode() == PadMode::constant &&
        !isRepresented(pad.getValue().convertToDouble(), parameters))
      return failure();
    Value moved = moveIntegers(rewriter, op, quantized, element);
    rewriter.replaceOpWithNewOp<qnn::DequantizeOp>(
        op, op->getResult(0).getType(), moved);
    return success();
  }
};

/// Replaces quantize(move x) by move(quantize x) if the moved value has no
/// other reader. The op then stores fewer bytes.
struct RaiseQuantize : OpRewritePattern<qnn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(qnn::QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(quantize.getType());
    Operation *op = quantize.getX().getDefiningOp();
    if (!op || !op->hasOneUse() || !isa<quant::UniformQuantizedType>(element))
      return failure();
    SmallVector<Value> quantized;
    unsigned count = countMoved(op);
    for (Value operand : op->getOperands().take_front(count)) {
      bool isRead = llvm::any_of(operand.getUsers(),
                                 [&](Operation *user) { return user != op; });
      // An operand of a concat may have other readers, since it is stored
      // anyway. Other ops may have such operands only if these are dequantized,
      // as each reader then converts the integers itself.
      if (isRead && !isa<ConcatOp>(op) && !getDequantized(operand))
        return failure();
    }
    for (Value operand : op->getOperands().take_front(count))
      quantized.push_back(rewriter.create<qnn::QuantizeOp>(
          quantize.getLoc(),
          RankedTensorType::get(
              cast<RankedTensorType>(operand.getType()).getShape(), element),
          quantize.getRounding(), operand));
    if (quantized.empty())
      return failure();
    rewriter.replaceOp(quantize,
                       moveIntegers(rewriter, op, quantized, element));
    return success();
  }
};

/// Folds a padding with the zero point, which stands for 0, into the padding of
/// the convolution that reads it.
struct PadIntoIntegerConv : OpRewritePattern<qnn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(qnn::ConvOp conv,
                                PatternRewriter &rewriter) const override {
    auto reinterpret = conv.getX().getDefiningOp<qnn::ReinterpretOp>();
    auto pad =
        reinterpret ? reinterpret.getX().getDefiningOp<PadOp>() : nullptr;
    qnn::Parameters parameters = qnn::getParameters(conv.getX().getType());
    if (!pad || pad.getMode() != PadMode::constant || parameters.axis >= 0 ||
        pad.getValue().convertToDouble() != double(parameters.zeroPoints[0]))
      return failure();
    auto pads = joinPads(pad, conv.getPads());
    if (!pads)
      return failure();
    Value inner = pad.getX();
    Type type = RankedTensorType::get(
        cast<RankedTensorType>(inner.getType()).getShape(),
        getElementTypeOrSelf(conv.getX().getType()));
    Value x =
        rewriter.createOrFold<qnn::ReinterpretOp>(conv.getLoc(), type, inner);
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(x);
      conv.setPads(*pads);
    });
    return success();
  }
};
} // namespace

void nnc::populateQuantizedMoves(RewritePatternSet &patterns) {
  patterns.add<SinkDequantize, RaiseQuantize, PadIntoIntegerConv>(
      patterns.getContext());
}
