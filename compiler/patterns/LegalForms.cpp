//===- LegalForms.cpp - Ops in the forms that routines take ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Patterns.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// Routines reduce one run of neighbouring axes: transposed to be the last.
struct GatherReducedAxes : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp reduce,
                                PatternRewriter &rewriter) const override {
    if (reduce.hasNeighbouringAxes())
      return failure();
    int64_t rank = reduce.getX().getType().getRank();
    ArrayRef<int64_t> axes = reduce.getAxes();
    SmallVector<int64_t> order;
    for (int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(axes, axis))
        order.push_back(axis);
    auto kept = static_cast<int64_t>(order.size());
    llvm::append_range(order, axes);
    Location location = reduce.getLoc();
    Value transposed =
        rewriter.create<TransposeOp>(location, reduce.getX(), order);
    Value result = rewriter.create<ReduceOp>(
        location, reduce.getKind(), transposed,
        llvm::to_vector(llvm::seq<int64_t>(kept, rank)), /*keepdims=*/false);
    rewriter.replaceOpWithNewOp<ReshapeOp>(reduce, reduce.getType(), result);
    return success();
  }
};

/// An operand of a product has the whole batch or none of it.
struct ExpandBatch : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp matmul,
                                PatternRewriter &rewriter) const override {
    if (matmul.hasCollapsibleBatch())
      return failure();
    ArrayRef<int64_t> batch = matmul.getType().getShape().drop_back(2);
    SmallVector<Value> operands;
    for (Value operand : matmul->getOperands()) {
      RankedTensorType type = getTensorType(operand);
      int64_t own = product(type.getShape().drop_back(2));
      if (own != 1 && own != product(batch)) {
        SmallVector<int64_t> shape(batch);
        llvm::append_range(shape, type.getShape().take_back(2));
        operand = rewriter.create<ExpandOp>(
            matmul.getLoc(),
            RankedTensorType::get(shape, type.getElementType()), operand);
      }
      operands.push_back(operand);
    }
    rewriter.modifyOpInPlace(matmul, [&] { matmul->setOperands(operands); });
    return success();
  }
};

/// Transposing the last two axes is the product's own business. A transpose
/// that brings an axis from elsewhere to the end is left with whole rows to
/// move, where the product can take the rest.
struct TransposeIntoMatMul : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp matmul,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : matmul->getOpOperands()) {
      auto transpose = operand.get().getDefiningOp<TransposeOp>();
      if (!transpose)
        continue;
      SmallVector<int64_t> order(transpose.getPermutation());
      int64_t rank = order.size();
      if (order[rank - 2] != rank - 1)
        continue;
      std::swap(order[rank - 2], order[rank - 1]);
      bool isGone = llvm::is_sorted(order);
      if (!isGone && !transpose->hasOneUse())
        continue;
      Value rows = transpose.getX();
      if (!isGone)
        rows = rewriter.create<TransposeOp>(transpose.getLoc(), rows, order);
      rewriter.modifyOpInPlace(matmul, [&] {
        operand.set(rows);
        if (operand.getOperandNumber() == 0)
          matmul.setTransposeA(!matmul.getTransposeA());
        else
          matmul.setTransposeB(!matmul.getTransposeB());
      });
      return success();
    }
    return failure();
  }
};

/// A batch norm that is not composed to one multiply and one add, because its
/// statistics are no constants or because that would cost accuracy: (x - mean)
/// * (scale / deviation) + bias, of which the products and sums with an operand
/// for each channel alone are computed once for each channel.
struct BatchNormToElementwise : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    Location location = norm.getLoc();
    RankedTensorType type = norm.getType();
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[1] = type.getDimSize(1);
    auto channels = RankedTensorType::get(shape, type.getElementType());
    auto number = RankedTensorType::get({}, type.getElementType());
    auto epsilon = DenseElementsAttr::get(
        number, rewriter.getFloatAttr(type.getElementType(),
                                      norm.getEpsilon().convertToDouble()));
    auto along = [&](Value value) -> Value {
      return rewriter.create<ReshapeOp>(location, channels, value);
    };
    Value deviation = rewriter.create<RsqrtOp>(
        location,
        rewriter.create<AddOp>(location, norm.getVariance(),
                               rewriter.create<ConstantOp>(location, epsilon)));
    Value scale = rewriter.create<MulOp>(location, norm.getScale(), deviation);
    Value centred =
        rewriter.create<SubOp>(location, norm.getX(), along(norm.getMean()));
    Value scaled = rewriter.create<MulOp>(location, centred, along(scale));
    rewriter.replaceOpWithNewOp<AddOp>(norm, scaled, along(norm.getBias()));
    return success();
  }
};
} // namespace

void nnc::populateLegalForms(RewritePatternSet &patterns) {
  patterns.add<GatherReducedAxes, ExpandBatch, BatchNormToElementwise>(
      patterns.getContext());
}

void nnc::populateMatMulForms(RewritePatternSet &patterns) {
  patterns.add<TransposeIntoMatMul>(patterns.getContext());
}

bool nnc::hasLegalForm(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.hasNeighbouringAxes();
  if (auto matmul = dyn_cast<MatMulOp>(op))
    return matmul.hasCollapsibleBatch();
  return !isa<BatchNormOp>(op);
}
