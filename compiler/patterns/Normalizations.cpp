//===- Normalizations.cpp - Recognises layer norm and softmax -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the operand of the reduction of this kind over `axes` that gives
/// `value` with the axes kept, or null.
static Value getReduced(Value value, ReduceKind kind, ArrayRef<int64_t> axes) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != kind || reduce.getAxes() != axes)
    return {};
  // If the reduction drops the axes, a reshape may restore them, or they may be
  // the first ones.
  return reduce.getKeepdims() ? reduce.getX() : Value();
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

/// Returns x if `value` is x * x or x^2, or null.
static Value getSquared(Value value) {
  if (auto mul = value.getDefiningOp<MulOp>())
    return mul.getA() == mul.getB() ? mul.getA() : Value();
  if (auto pow = value.getDefiningOp<PowOp>())
    return getUniformReal(pow.getB()) == 2.0 ? pow.getA() : Value();
  return {};
}

namespace {
/// Replaces the variance E[x^2] - E[x]^2, which loses all digits if the mean is
/// large relative to the deviation, by the mean of (x - E[x])^2.
struct CentreVariance : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp op,
                                PatternRewriter &rewriter) const override {
    auto squares = op.getA().getDefiningOp<ReduceOp>();
    Value meanValue = getSquared(op.getB());
    auto mean = meanValue ? meanValue.getDefiningOp<ReduceOp>() : ReduceOp();
    if (!squares || !mean || !isReal(op) ||
        squares.getKind() != ReduceKind::mean ||
        mean.getKind() != ReduceKind::mean ||
        squares.getAxes() != mean.getAxes() ||
        squares.getKeepdims() != mean.getKeepdims() ||
        getSquared(squares.getX()) != mean.getX())
      return failure();
    Location location = op.getLoc();
    Value x = mean.getX(), kept = mean;
    rewriter.setInsertionPointAfter(mean);
    if (!mean.getKeepdims())
      kept = rewriter.create<ReduceOp>(mean.getLoc(), ReduceKind::mean, x,
                                       mean.getAxes(), /*keepdims=*/true);
    Value centred = rewriter.create<SubOp>(location, x, kept);
    // Other ops that compute the same difference are replaced by this one.
    for (Operation *user : llvm::to_vector(x.getUsers())) {
      auto same = dyn_cast<SubOp>(user);
      if (same && same.getY() != centred && same.getA() == x &&
          same.getB() == kept)
        rewriter.replaceOp(same, centred);
    }
    Value square = rewriter.create<MulOp>(location, centred, centred);
    Value variance = rewriter.create<ReduceOp>(
        location, ReduceKind::mean, square, mean.getAxes(), mean.getKeepdims());
    rewriter.replaceOp(op, variance);
    return success();
  }
};
} // namespace

/// Returns x if `value` is sqrt(x) or x^0.5, or with `inverse`, the reciprocal
/// of these; else null.
static Value getRoot(Value value, bool inverse) {
  if (auto pow = value.getDefiningOp<PowOp>())
    return getUniformReal(pow.getB()) == (inverse ? -0.5 : 0.5) ? pow.getA()
                                                                : Value();
  if (!inverse) {
    auto sqrt = value.getDefiningOp<SqrtOp>();
    return sqrt ? sqrt.getX() : Value();
  }
  if (auto rsqrt = value.getDefiningOp<RsqrtOp>())
    return rsqrt.getX();
  if (auto reciprocal = value.getDefiningOp<ReciprocalOp>())
    return getRoot(reciprocal.getX(), false);
  if (auto div = value.getDefiningOp<DivOp>())
    if (getUniformReal(div.getA()) == 1.0)
      return getRoot(div.getB(), false);
  return {};
}

namespace {
/// Recognises a layer normalisation: (x - mean) / sqrt(mean((x - mean)^2) +
/// epsilon) over the last axes.
struct RecomposeLayerNorm : RewritePattern {
  RecomposeLayerNorm(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<DivOp, MulOp>(op) || !isReal(op->getResult(0)))
      return failure();
    bool isProduct = isa<MulOp>(op);
    for (unsigned i : {0u, 1u}) {
      if (i == 1 && !isProduct)
        break;
      auto centred = op->getOperand(i).getDefiningOp<SubOp>();
      Value variance = getRoot(op->getOperand(1 - i), isProduct);
      if (centred && variance &&
          succeeded(rewrite(op, centred, variance, rewriter)))
        return success();
    }
    return failure();
  }

private:
  static LogicalResult rewrite(Operation *op, SubOp centred, Value variance,
                               PatternRewriter &rewriter) {
    Value x = centred.getA();
    auto type = cast<RankedTensorType>(x.getType());
    auto mean = centred.getB().getDefiningOp<ReduceOp>();
    auto sum = variance.getDefiningOp<AddOp>();
    if (!mean || !sum || type != op->getResult(0).getType())
      return failure();
    std::optional<double> epsilon = getUniformReal(sum.getB());
    ArrayRef<int64_t> axes = mean.getAxes();
    if (!epsilon || axes.empty() || axes.back() != type.getRank() - 1 ||
        axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size()) ||
        getReduced(mean, ReduceKind::mean, axes) != x)
      return failure();
    Value square = getReduced(sum.getA(), ReduceKind::mean, axes);
    if (!square || getSquared(square) != centred)
      return failure();
    int64_t axis = axes.front();
    auto inner = RankedTensorType::get(type.getShape().drop_front(axis),
                                       type.getElementType());
    auto constant = [&](double value) {
      return createConstant(rewriter, op->getLoc(),
                            TensorData::splat(inner, value),
                            getModelName(op->getLoc(), "folded"));
    };
    rewriter.replaceOpWithNewOp<LayerNormOp>(
        op, x, constant(1), constant(0), rewriter.getI64IntegerAttr(axis),
        rewriter.getF64FloatAttr(*epsilon), /*accumulator=*/TypeAttr());
    return success();
  }
};

/// Folds a constant scale or bias behind a layer normalisation into it.
struct ScaleLayerNorm : RewritePattern {
  ScaleLayerNorm(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<MulOp, AddOp>(op) || !isReal(op->getResult(0)))
      return failure();
    auto norm = op->getOperand(0).getDefiningOp<LayerNormOp>();
    if (!norm || !norm->hasOneUse() ||
        norm.getType() != op->getResult(0).getType())
      return failure();
    auto scale = TensorData::get(norm.getScale());
    auto bias = TensorData::get(norm.getBias());
    auto factor = TensorData::get(op->getOperand(1));
    if (!scale || !bias || !factor || !runsAlong(norm, factor->getType()))
      return failure();
    bool isScale = isa<MulOp>(op);
    auto combine = [&](const TensorData &own) {
      return own.getElementType().isF32()
                 ? combineAs<float>(own, *factor, isScale)
                 : combineAs<double>(own, *factor, isScale);
    };
    auto constant = [&](const TensorData &data, Value like) {
      return createConstant(rewriter, like.getLoc(), data,
                            getModelName(op->getLoc(), "folded"));
    };
    Value newScale = norm.getScale();
    if (isScale)
      newScale = constant(combine(*scale), newScale);
    Value newBias = constant(combine(*bias), norm.getBias());
    rewriter.replaceOpWithNewOp<LayerNormOp>(
        op, norm.getX(), newScale, newBias, norm.getAxisAttr(),
        norm.getEpsilonAttr(), norm.getAccumulatorAttr());
    return success();
  }

private:
  /// Returns true if a constant of this type holds a single value or one for
  /// each normalised element.
  static bool runsAlong(LayerNormOp norm, RankedTensorType type) {
    ArrayRef<int64_t> shape = norm.getX().getType().getShape();
    ArrayRef<int64_t> inner = shape.drop_front(norm.getAxis());
    ArrayRef<int64_t> own = type.getShape();
    if (type.getNumElements() == 1)
      return own.size() <= shape.size();
    return type.getNumElements() == product(inner) &&
           own.size() >= inner.size() && own.take_back(inner.size()) == inner;
  }

  template <class T>
  static TensorData combineAs(const TensorData &own, const TensorData &factor,
                              bool isScale) {
    TensorData result = TensorData::allocate(own.getType());
    ArrayRef<T> a = own.getAs<T>(), b = factor.getAs<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      T other = b[b.size() == 1 ? 0 : i];
      result.getMutable<T>()[i] = isScale ? a[i] * other : a[i] + other;
    }
    return result;
  }
};

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Returns x if `value` is x - max(x) along `axis`, whose softmax is the same,
/// or `value` itself otherwise.
static Value withoutMaximum(Value value, int64_t axis) {
  auto sub = value.getDefiningOp<SubOp>();
  if (sub && getReduced(sub.getB(), ReduceKind::max, axis) == sub.getA())
    return sub.getA();
  return value;
}

/// Recognises a softmax in e^x / sum(e^x) and a log-softmax in x -
/// log(sum(e^x)).
struct RecomposeSoftmax : RewritePattern {
  RecomposeSoftmax(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<DivOp, SubOp>(op) || !isReal(op->getResult(0)))
      return failure();
    bool isLog = isa<SubOp>(op);
    Value sum = op->getOperand(1);
    if (isLog) {
      auto log = sum.getDefiningOp<LogOp>();
      if (!log)
        return failure();
      sum = log.getX();
    }
    auto reduce = sum.getDefiningOp<ReduceOp>();
    if (!reduce || reduce.getAxes().size() != 1)
      return failure();
    auto exp = reduce.getX().getDefiningOp<ExpOp>();
    if (!exp || !getReduced(sum, ReduceKind::sum, reduce.getAxes()))
      return failure();
    Value expected = isLog ? exp.getX() : exp.getY();
    if (op->getOperand(0) != expected)
      return failure();
    int64_t axis = reduce.getAxes().front();
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, withoutMaximum(exp.getX(), axis),
                                           rewriter.getI64IntegerAttr(axis),
                                           rewriter.getBoolAttr(isLog));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Global pooling
//===----------------------------------------------------------------------===//

/// Turns the mean of each plane into an average pooling, which can keep a
/// blocked layout.
struct MeanToPool : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp reduce,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = reduce.getX().getType();
    if (x.getRank() != 4 || !isReal(reduce) ||
        reduce.getAxes() != ArrayRef<int64_t>{2, 3})
      return failure();
    bool isMean = reduce.getKind() == ReduceKind::mean;
    if (!isMean && reduce.getKind() != ReduceKind::max)
      return failure();
    SmallVector<int64_t> one = {1, 1}, none = {0, 0, 0, 0};
    SmallVector<int64_t> kernel(x.getShape().take_back(2));
    Value pooled;
    if (isMean)
      pooled = rewriter.create<AvgPoolOp>(reduce.getLoc(), reduce.getX(),
                                          kernel, one, one, none,
                                          /*ceil_mode=*/false,
                                          /*count_include_pad=*/false,
                                          /*accumulator=*/TypeAttr());
    else
      pooled = rewriter.create<MaxPoolOp>(reduce.getLoc(), reduce.getX(),
                                          kernel, one, one, none,
                                          /*ceil_mode=*/false);
    if (pooled.getType() != reduce.getType())
      pooled =
          rewriter.create<ReshapeOp>(reduce.getLoc(), reduce.getType(), pooled);
    rewriter.replaceOp(reduce, pooled);
    return success();
  }
};
} // namespace

void nnc::populateVariances(RewritePatternSet &patterns) {
  patterns.add<CentreVariance>(patterns.getContext());
}

void nnc::populateNormalizations(RewritePatternSet &patterns) {
  patterns
      .add<RecomposeLayerNorm, ScaleLayerNorm, RecomposeSoftmax, MeanToPool>(
          patterns.getContext());
}
