//===- Pooling.cpp - Means before products --------------------------------===//
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

/// To add a value to a mean takes as long as so many multiply-adds: means wait
/// for memory.
static constexpr int64_t kMeanCost = 8;

/// Whether the values in a window count alike and for one in all: a constant's
/// mean is the constant.
static bool keepsConstants(AvgPoolOp pool) {
  auto isZero = [](int64_t value) { return value == 0; };
  return !pool.getCountIncludePad() || llvm::all_of(pool.getPads(), isZero);
}

namespace {
/// The mean of a 1 x 1 convolution's results is the convolution of the mean,
/// both being linear, and there are fewer means than pixels: DenseNet's
/// transitions compute a quarter. A bias between them stays behind.
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
  /// The input of `conv` with the pixels that `pool` leaves.
  static RankedTensorType getMeanType(ConvOp conv, AvgPoolOp pool) {
    RankedTensorType x = conv.getX().getType();
    SmallVector<int64_t> shape(pool.getType().getShape());
    shape[1] = x.getDimSize(1);
    return RankedTensorType::get(shape, x.getElementType());
  }

  /// Whether the products saved are worth the means of more channels.
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
