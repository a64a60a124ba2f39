//===- QuantizedLayers.cpp - Float ops between quantized values -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A model in QDQ form computes a layer with floats: its operands are
// dequantized, and its result is quantized. These patterns replace it by the
// same layer on integers if the results differ by at most one unit. Elementwise
// ops stay as they are: together with the conversions around them, they become
// one layer that loads and stores integers (nnc-form-layers).
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/QuantizedLayers.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/description/Description.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

qnn::DequantizeOp nnc::getDequantized(Value value, unsigned maxWidth) {
  auto dequantize = value.getDefiningOp<qnn::DequantizeOp>();
  bool isNarrow =
      dequantize && qnn::getQuantizedType(dequantize.getX().getType())
                            .getStorageTypeIntegralWidth() <= maxWidth;
  return isNarrow ? dequantize : qnn::DequantizeOp();
}

double nnc::getReach(const qnn::Parameters &parameters) {
  int64_t reach = 0;
  for (int64_t zero : parameters.zeroPoints)
    reach = std::max({reach, parameters.max - zero, zero - parameters.min});
  return static_cast<double>(reach);
}

Value nnc::getIntegers(PatternRewriter &rewriter, Value quantized) {
  return rewriter.createOrFold<qnn::ReinterpretOp>(
      quantized.getLoc(), qnn::getStorageType(quantized.getType()), quantized);
}

/// Returns true if a quantization to `to` saturates wherever the activation
/// changes a value: the bounds of the activation lie outside the quantized
/// range, or within half a unit of it.
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

static std::string nameActivation(Operation *activation) {
  if (auto clip = dyn_cast<ClipOp>(activation))
    return describeClip(clip.getMin().convertToDouble(),
                        clip.getMax().convertToDouble());
  return listFunctions(activation);
}

namespace {
/// Replaces quantize(activation x) by quantize x if the saturation has the
/// effect of the activation.
struct DropImplied : OpRewritePattern<qnn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(qnn::QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    qnn::Parameters to = qnn::getParameters(quantize.getType());
    Operation *activation = quantize.getX().getDefiningOp();
    if (!activation || !activation->hasOneUse() || to.axis >= 0 ||
        !isImplied(activation, to))
      return failure();
    rewriter.modifyOpInPlace(quantize, [&] {
      quantize.getXMutable().assign(activation->getOperand(0));
      markActivation(quantize, nameActivation(activation));
    });
    return success();
  }
};
} // namespace

void nnc::populateQuantizedLayers(RewritePatternSet &patterns,
                                  const ProductChoice &hasIntegers) {
  patterns.add<DropImplied>(patterns.getContext());
  populateQuantizedProducts(patterns, hasIntegers);
  populateQuantizedMoves(patterns);
  populateQuantizedMeans(patterns);
}

std::string nnc::getFloatObstacle(Operation *op,
                                  const ProductChoice &hasIntegers) {
  auto isReal = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  };
  if (!isa<RoutineOpInterface>(op) || !isReal(op->getOperand(0)))
    return "";
  if (auto product = dyn_cast<BlockMatMulOp>(op))
    return "its input is not quantized; its weights stay integers of " +
           std::to_string(product.getBits()) + " bits";
  if (isa<ConvOp, ConvTransposeOp, MatMulOp>(op)) {
    StringRef obstacle = getProductObstacle(op);
    if (obstacle.empty() && !hasIntegers(op))
      return "the target has no routine for its integers";
    return obstacle.str();
  }
  bool isMean = isa<AvgPoolOp, LayerNormOp>(op);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    isMean = reduce.getKind() == ReduceKind::mean;
  unsigned count = isMean ? 1 : countMoved(op);
  if (count == 0)
    return ("there is no integer form of " + op->getName().stripDialect())
        .str();
  for (Value operand : op->getOperands().take_front(count)) {
    auto dequantize = getDequantized(operand);
    if (!dequantize)
      return "its input is not quantized";
    if (qnn::getParameters(dequantize.getX().getType()).axis >= 0)
      return "its input has scales along an axis";
  }
  if (isMean)
    return "its sums do not fit in 32 bits, or its axes are no neighbours";
  return isa<ConcatOp>(op) ? "its inputs have different scales or zero points"
                           : "no integer stands for what it pads with";
}
