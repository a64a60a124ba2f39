//===- HiddenRows.cpp - Rows of attention whose keys are all hidden -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the operand of `value` if an op of type `Op` computes it, else
/// `value`.
template <class Op> static Value behind(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op ? Value(op->getOperand(0)) : value;
}

/// Returns x if `condition`, with the last axis kept, is true where all
/// elements along the last axis of x are -inf: not any(not (x == -inf)). Null
/// if it is no such condition.
static Value getWhereHidden(Value condition) {
  auto none = condition.getDefiningOp<LogicalNotOp>();
  auto any =
      none ? behind<CastOp>(none.getX()).getDefiningOp<ReduceOp>() : ReduceOp();
  if (!any || any.getKind() != ReduceKind::max || !any.getKeepdims())
    return {};
  auto shown = behind<CastOp>(any.getX()).getDefiningOp<LogicalNotOp>();
  auto equal = shown ? shown.getX().getDefiningOp<EqualOp>() : EqualOp();
  if (!equal || getUniformReal(equal.getB()) != -kInfinity)
    return {};
  int64_t rank = getTensorType(equal.getA()).getRank();
  return any.getAxes() == ArrayRef<int64_t>(rank - 1) ? Value(equal.getA())
                                                      : Value();
}

/// Returns true if `value` is a matrix product, times a number or reshaped.
static bool isScaledProduct(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto mul = dyn_cast<MulOp>(op);
    if (!isa<ReshapeOp>(op) && !(mul && getUniformReal(mul.getB())))
      break;
    value = op->getOperand(0);
  }
  return bool(value.getDefiningOp<MatMulOp>());
}

namespace {
/// Clears the rows of attention whose keys are all hidden behind the product
/// with the values instead of in front of it, so that softmax and product
/// follow one another. A mask decides which rows these are, since the scores
/// that it is added to are finite; without a mask there are none.
struct ClearBehindProduct : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp product,
                                PatternRewriter &rewriter) const override {
    Value shares = product.getA();
    auto select = behind<ReshapeOp>(shares).getDefiningOp<SelectOp>();
    bool isReshaped = select && Value(select) != shares;
    if (!select || !select->hasOneUse() || product.getTransposeA() ||
        getUniformReal(select.getA()) != 0.0)
      return failure();
    auto softmax = select.getB().getDefiningOp<SoftmaxOp>();
    Value scores = getWhereHidden(select.getCondition());
    if (!softmax || !scores || softmax.getX() != scores ||
        softmax.getType() != select.getType() ||
        static_cast<int64_t>(softmax.getAxis()) !=
            softmax.getType().getRank() - 1)
      return failure();
    Value mask;
    if (!isScaledProduct(scores)) {
      auto add = scores.getDefiningOp<AddOp>();
      if (!add)
        return failure();
      if (isScaledProduct(add.getA()))
        mask = add.getB();
      else if (isScaledProduct(add.getB()))
        mask = add.getA();
      else
        return failure();
      if (isReshaped && getTensorType(mask).getRank() > 0)
        return failure();
    }
    Location location = product.getLoc();
    shares = softmax;
    if (isReshaped)
      shares = rewriter.create<ReshapeOp>(location, product.getA().getType(),
                                          shares);
    Value y = rewriter.create<MatMulOp>(
        location, product.getType(), shares, product.getB(),
        product.getTransposeAAttr(), product.getTransposeBAttr(),
        product.getAccumulatorAttr());
    if (mask && getTensorType(mask).getRank() > 0) {
      Type element = product.getType().getElementType();
      auto number = [&](double value) {
        auto type = RankedTensorType::get({}, element);
        return createConstant(rewriter, location,
                              TensorData::splat(type, value), "hidden");
      };
      Value largest = rewriter.create<ReduceOp>(
          location, ReduceKind::max, mask,
          ArrayRef<int64_t>(getTensorType(mask).getRank() - 1),
          /*keepdims=*/true);
      Value isHidden =
          rewriter.create<EqualOp>(location, largest, number(-kInfinity));
      y = rewriter.create<SelectOp>(location, isHidden, number(0), y);
    }
    rewriter.replaceOp(product, y);
    return success();
  }
};
} // namespace

void nnc::populateHiddenRows(RewritePatternSet &patterns) {
  patterns.add<ClearBehindProduct>(patterns.getContext());
}
