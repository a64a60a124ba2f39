//===- ProductShapes.cpp - Products in the shape of their operands --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Patterns.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the value of which `value` is a reshape that leaves the last `count`
/// axes as they are, and whose other axes have the sizes `leading`; null if
/// there is none.
static Value getExpanded(Value value, unsigned count,
                         ArrayRef<int64_t> leading) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return {};
  ArrayRef<int64_t> from = reshape.getX().getType().getShape(),
                    to = reshape.getType().getShape();
  bool fits = from.size() >= count && to.size() >= count &&
              from.take_back(count) == to.take_back(count) &&
              from.drop_back(count) == leading;
  return fits ? Value(reshape.getX()) : Value();
}

namespace {
/// Removes the reshapes of a matrix product that collapse the leading axes of
/// its operands and restore them in its result, as exporters write them whose
/// products have two or three axes only. What follows the product can then be
/// fused with it. The bias of the columns may stand in between.
struct ExpandProduct : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    Value made = reshape.getX();
    auto add = made.getDefiningOp<AddOp>();
    bool isBias =
        add && add->hasOneUse() && getTensorType(add.getB()).getRank() <= 1;
    auto product =
        (isBias ? Value(add.getA()) : made).getDefiningOp<MatMulOp>();
    if (!product || !product->hasOneUse() ||
        (isBias && product.getType() != add.getType()))
      return failure();
    ArrayRef<int64_t> shape = reshape.getType().getShape();
    RankedTensorType left = getTensorType(product.getA()),
                     right = getTensorType(product.getB());
    bool isDense = right.getRank() == 2 && !product.getTransposeA();
    unsigned kept = isDense ? 1 : 2;
    if (shape.size() <= 2 ||
        shape.take_back(kept) != product.getType().getShape().take_back(kept) ||
        (!isDense &&
         right.getShape().drop_back(2) != left.getShape().drop_back(2)) ||
        !product.getA().getDefiningOp<ReshapeOp>())
      return failure();
    auto expand = [&](Value operand, unsigned count) -> Value {
      RankedTensorType type = getTensorType(operand);
      SmallVector<int64_t> expanded(shape.drop_back(count));
      llvm::append_range(expanded, type.getShape().take_back(count));
      return rewriter.createOrFold<ReshapeOp>(
          product.getLoc(), withShape(type, expanded), operand);
    };
    Value a = expand(product.getA(), kept), b = product.getB();
    if (!isDense)
      b = expand(b, 2);
    Value y = rewriter.create<MatMulOp>(
        product.getLoc(), reshape.getType(), a, b, product.getTransposeAAttr(),
        product.getTransposeBAttr(), product.getAccumulatorAttr());
    if (isBias)
      y = rewriter.create<AddOp>(add.getLoc(), y, add.getB());
    rewriter.replaceOp(reshape, y);
    return success();
  }
};

/// Removes the reshapes in front of and behind a softmax along the last axis
/// that collapse its leading axes and restore them.
struct ExpandSoftmax : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp reshape,
                                PatternRewriter &rewriter) const override {
    auto softmax = reshape.getX().getDefiningOp<SoftmaxOp>();
    if (!softmax || !softmax->hasOneUse())
      return failure();
    ArrayRef<int64_t> shape = reshape.getType().getShape();
    int64_t last = softmax.getType().getRank() - 1;
    if (shape.empty() || static_cast<int64_t>(softmax.getAxis()) != last)
      return failure();
    Value x = getExpanded(softmax.getX(), 1, shape.drop_back(1));
    if (!x)
      return failure();
    rewriter.replaceOpWithNewOp<SoftmaxOp>(reshape, x, shape.size() - 1,
                                           softmax.getLog());
    return success();
  }
};
} // namespace

void nnc::populateProductShapes(RewritePatternSet &patterns) {
  patterns.add<ExpandProduct, ExpandSoftmax>(patterns.getContext());
}
