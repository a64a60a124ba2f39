//===- ByteWeights.cpp - Convolutions by integers of 8 bits ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A convolution of floats with dequantized constant weights becomes one with
// the integers, as floats, whose sums are multiplied by the scales. It sums the
// same products, and its weights have at most 256 different values for each
// zero point, which nnc-choose-routines stores in a byte each.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/QuantizedLayers.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The smallest number of weights for which the rewrite saves memory: a table
/// of 256 floats and one byte per weight take less than the weights as floats.
static constexpr int64_t kLeastWeights = 4 * 256 / 3;

/// Returns the axis of the output channels of a product's weights.
static int64_t getFilterAxis(ConvOp) { return 0; }
static int64_t getFilterAxis(ConvTransposeOp) { return 1; }

/// Returns the integers that `dequantize` reads, minus their zero points, as
/// floats; nullopt if they are not constant, are too few, or have scales along
/// another axis than `axis`.
static std::optional<TensorData> centre(qnn::DequantizeOp dequantize,
                                        int64_t axis) {
  auto reinterpret = dequantize.getX().getDefiningOp<qnn::ReinterpretOp>();
  auto integers = reinterpret ? TensorData::get(reinterpret.getX())
                              : std::optional<TensorData>();
  qnn::Parameters parameters = qnn::getParameters(dequantize.getX().getType());
  if (!integers || integers->getNumElements() < kLeastWeights ||
      (parameters.axis >= 0 && parameters.axis != axis))
    return std::nullopt;
  int64_t inner = product(integers->getShape().drop_front(axis + 1)),
          filters = integers->getShape()[axis];
  TensorData centred = TensorData::allocate(getTensorType(dequantize.getY()));
  for (int64_t i = 0; i < integers->getNumElements(); ++i) {
    size_t own = parameters.axis < 0 ? 0 : i / inner % filters;
    centred.getMutable<float>()[i] = static_cast<float>(
        integers->getReal(i) - double(parameters.zeroPoints[own]));
  }
  return centred;
}

namespace {
template <class Op> struct KeepFiltersInBytes : OpRewritePattern<Op> {
  /// Its benefit is below that of matrix products with stored integers
  /// (BlockWeights.cpp), which are better.
  KeepFiltersInBytes(MLIRContext *context)
      : OpRewritePattern<Op>(context, /*benefit=*/0) {}

  LogicalResult matchAndRewrite(Op conv,
                                PatternRewriter &rewriter) const override {
    int64_t axis = getFilterAxis(conv);
    qnn::DequantizeOp dequantize = getDequantized(conv.getW(), /*maxWidth=*/8);
    // If the input is quantized, the layer uses floats only because these are
    // faster than integers.
    if (!dequantize || getDequantized(conv.getX()) ||
        !conv.getType().getElementType().isF32() ||
        (axis != 0 && conv.getGroups() != 1))
      return failure();
    std::optional<TensorData> weights = centre(dequantize, axis);
    if (!weights)
      return failure();
    qnn::Parameters parameters =
        qnn::getParameters(dequantize.getX().getType());
    rewriter.setInsertionPoint(conv);
    Location loc = conv.getLoc();
    auto product = cast<Op>(rewriter.clone(*conv));
    product.getWMutable().assign(
        createConstant(rewriter, dequantize.getLoc(), *weights, "weight"));
    product->setAttr(kByteWeightsAttr, rewriter.getUnitAttr());
    Value scales = createChannelConstant(rewriter, loc, conv.getType(),
                                         /*axis=*/1, parameters.scales);
    rewriter.replaceOpWithNewOp<MulOp>(conv, product.getY(), scales);
    return success();
  }
};
} // namespace

/// Returns true if `use` is the weights, operand 1, of a product that
/// nnc-choose-routines can keep as bytes.
static bool multipliesBy(OpOperand &use) {
  return isa<ConvOp, ConvTransposeOp, MatMulOp>(use.getOwner()) &&
         use.getOperandNumber() == 1;
}

int64_t nnc::markByteWeights(func::FuncOp function) {
  int64_t floats = 0;
  function.walk([&](qnn::DequantizeOp dequantize) {
    if (!getDequantized(dequantize.getY(), /*maxWidth=*/8))
      return;
    auto reinterpret = dequantize.getX().getDefiningOp<qnn::ReinterpretOp>();
    auto integers = reinterpret ? TensorData::get(reinterpret.getX())
                                : std::optional<TensorData>();
    if (!integers || integers->getNumElements() < kLeastWeights ||
        dequantize->use_empty())
      return;
    bool isOne =
        qnn::getParameters(dequantize.getX().getType()).scales.size() == 1;
    if (!isOne || !llvm::all_of(dequantize->getUses(), multipliesBy)) {
      ++floats;
      return;
    }
    for (Operation *product : dequantize->getUsers())
      product->setAttr(kByteWeightsAttr, UnitAttr::get(product->getContext()));
  });
  return floats;
}

void nnc::populateByteWeights(RewritePatternSet &patterns) {
  patterns.add<KeepFiltersInBytes<ConvOp>, KeepFiltersInBytes<ConvTransposeOp>>(
      patterns.getContext());
}
