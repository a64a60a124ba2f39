//===- LegalForms.cpp - Rewrites ops into forms with routines -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/legalize/LegalForms.h"

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// Transposes the operand of a reduction over axes that are not neighbours, so
/// that they become the last axes; routines reduce one run of neighbouring
/// axes.
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

/// Expands an operand of a matrix product that has only some of the batch axes.
/// Routines need operands with all batch axes or with none.
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

/// Lowers a batch normalisation that was not composed to one multiply and one
/// add, because its statistics are not constant or because that would cost
/// accuracy. It becomes (x - mean) * (scale / deviation) + bias; the parts that
/// depend on the channel alone are computed once per channel.
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
  populateVolumes(patterns);
}

bool nnc::hasLegalForm(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.hasNeighbouringAxes();
  if (auto matmul = dyn_cast<MatMulOp>(op))
    return matmul.hasCollapsibleBatch();
  if (isa<ConvOp, ConvTransposeOp>(op))
    return getTensorType(op->getResult(0)).getRank() < 5;
  return !isa<BatchNormOp>(op);
}
