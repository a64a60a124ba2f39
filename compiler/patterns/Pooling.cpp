//===- Pooling.cpp - Moves average pools before convolutions --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Affine.h"
#include "compiler/patterns/Patterns.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The cost of adding a value to a mean, in multiply-adds: means are limited by
/// memory bandwidth.
static constexpr int64_t kMeanCost = 8;

/// Returns true if the weights of the values in a window sum to one, so that
/// the mean of a constant is the constant.
static bool keepsConstants(AvgPoolOp pool) {
  auto isZero = [](int64_t value) { return value == 0; };
  return !pool.getCountIncludePad() || llvm::all_of(pool.getPads(), isZero);
}

namespace {
/// Moves an average pooling before a 1 x 1 convolution. Both are linear, so
/// that the results are equal, and the convolution has fewer pixels to compute
/// (a quarter in DenseNet's transitions). A bias between the two stays behind
/// them.
struct PoolBeforePointwise : OpRewritePattern<AvgPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AvgPoolOp pool,
                                PatternRewriter &rewriter) const override {
    Value value = pool.getX();
    Operation *bias = nullptr;
    if (Operation *op = value.getDefiningOp(); isa_and_present<AddOp>(op)) {
      std::optional<AffineOp> match = matchAffine(op);
      if (!match || match->axis > 1 || !op->hasOneUse())
        return failure();
      bias = op;
      value = match->x;
    }
    auto conv = value.getDefiningOp<ConvOp>();
    if (!conv || !value.hasOneUse() || !conv.isPointwise() ||
        !keepsConstants(pool) || !isWorthwhile(conv, pool))
      return failure();

    Type means = getMeanType(conv, pool);
    rewriter.setInsertionPoint(pool);
    Value mean =
        rewriter.create<AvgPoolOp>(pool.getLoc(), TypeRange(means),
                                   ValueRange(conv.getX()), pool->getAttrs());
    Value result = rewriter.create<ConvOp>(
        conv.getLoc(), TypeRange(pool.getType()), ValueRange{mean, conv.getW()},
        conv->getAttrs());
    if (bias) {
      IRMapping mapping;
      mapping.map(value, result);
      Operation *shifted = rewriter.clone(*bias, mapping);
      shifted->getResult(0).setType(pool.getType());
      result = shifted->getResult(0);
    }
    rewriter.replaceOp(pool, result);
    return success();
  }

private:
  /// Returns the type of the input of `conv` after pooling.
  static RankedTensorType getMeanType(ConvOp conv, AvgPoolOp pool) {
    RankedTensorType x = conv.getX().getType();
    SmallVector<int64_t> shape(pool.getType().getShape());
    shape[1] = x.getDimSize(1);
    return RankedTensorType::get(shape, x.getElementType());
  }

  /// Returns true if the multiply-adds that the convolution saves outweigh the
  /// means of more channels.
  static bool isWorthwhile(ConvOp conv, AvgPoolOp pool) {
    RankedTensorType all = conv.getType(), pooled = pool.getType();
    int64_t filterSize = conv.getW().getType().getDimSize(1);
    int64_t saved =
        filterSize * (all.getNumElements() - pooled.getNumElements());
    int64_t more =
        getMeanType(conv, pool).getNumElements() - pooled.getNumElements();
    return saved > kMeanCost * product(pool.getKernel()) * more;
  }
};
} // namespace

void nnc::populatePooling(RewritePatternSet &patterns) {
  patterns.add<PoolBeforePointwise>(patterns.getContext());
}
