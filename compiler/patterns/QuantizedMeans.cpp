//===- QuantizedMeans.cpp - Means of dequantized values -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The mean of real numbers (q - zero_point) * scale is (m - zero_point) *
// scale, where m is the mean of the integers q. The sum of integers is exact,
// so that the mean is rounded less often than that of the real numbers.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/QuantizedLayers.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns (mean - zero_point) * scale.
static Value makeReal(PatternRewriter &rewriter, Value mean,
                      const qnn::Parameters &parameters) {
  Location loc = mean.getLoc();
  auto constant = [&](double value) -> Value {
    auto type = RankedTensorType::get({}, rewriter.getF32Type());
    return rewriter.create<ConstantOp>(
        loc,
        ElementsAttr(DenseElementsAttr::get(type, static_cast<float>(value))));
  };
  if (parameters.zeroPoints[0] != 0)
    mean = rewriter.create<SubOp>(loc, mean,
                                  constant(double(parameters.zeroPoints[0])));
  return rewriter.create<MulOp>(loc, mean, constant(parameters.scales[0]));
}

/// Creates the average pooling of the integers `x`.
static Value makePool(PatternRewriter &rewriter, Location loc, Value x,
                      ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                      ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads,
                      bool ceilMode, bool countIncludePad = false) {
  return rewriter.create<AvgPoolOp>(loc, x, kernel, strides, dilations, pads,
                                    ceilMode, countIncludePad,
                                    TypeAttr::get(rewriter.getF32Type()));
}

/// Returns the dequantization, with a single scale, that computes `value`, if
/// the sum of `count` of its integers fits in 32 bits; else null.
static qnn::DequantizeOp getSummed(Value value, int64_t count) {
  auto x = getDequantized(value);
  if (!x)
    return {};
  qnn::Parameters from = qnn::getParameters(x.getX().getType());
  double largest = std::max(std::abs(double(from.min)), double(from.max));
  return from.axis < 0 && largest * double(count) < 0x1p31
             ? x
             : qnn::DequantizeOp();
}

namespace {
/// Replaces an average pooling of dequantized values by one of their integers.
struct PoolIntegers : OpRewritePattern<AvgPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AvgPoolOp pool,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> kernel = pool.getKernel(), pads = pool.getPads();
    auto x = getSummed(pool.getX(), ShapedType::getNumElements(kernel));
    if (!x)
      return failure();
    size_t spatial = kernel.size();
    bool isPadded = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
    // A window that lies in padding alone has the mean 0.0, which no mean of
    // its integers represents.
    for (auto [i, pad] : llvm::enumerate(pads))
      if (!pool.getCountIncludePad() && pad >= kernel[i % spatial])
        return failure();
    qnn::Parameters from = qnn::getParameters(x.getX().getType());
    Value integers = getIntegers(rewriter, x.getX());
    SmallVector<int64_t> own(pads);
    // Padding that counts has the value 0.0, which is the zero point of the
    // integers. Pools count padding as the integer 0.
    bool counts = isPadded && pool.getCountIncludePad();
    if (counts && from.zeroPoints[0] != 0) {
      SmallVector<int64_t> all(2 * (spatial + 2), 0);
      llvm::copy(pads.take_front(spatial), all.begin() + 2);
      llvm::copy(pads.drop_front(spatial), all.begin() + spatial + 4);
      integers = rewriter.create<PadOp>(pool.getLoc(), PadMode::constant,
                                        integers, ArrayRef<int64_t>(all),
                                        APFloat(double(from.zeroPoints[0])));
      own.assign(pads.size(), 0);
      counts = false;
    }
    Value mean =
        makePool(rewriter, pool.getLoc(), integers, kernel, pool.getStrides(),
                 pool.getDilations(), own, pool.getCeilMode(), counts);
    rewriter.replaceOp(pool, makeReal(rewriter, mean, from));
    return success();
  }
};

/// Replaces a mean of dequantized values over neighbouring axes by a pooling of
/// their integers: of [outer][size][inner], each column is a window.
struct ReduceIntegers : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp reduce,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> axes = reduce.getAxes(),
                      shape = reduce.getX().getType().getShape();
    if (reduce.getKind() != ReduceKind::mean || axes.empty() ||
        axes.back() - axes.front() + 1 != int64_t(axes.size()))
      return failure();
    int64_t outer = ShapedType::getNumElements(shape.take_front(axes.front())),
            inner =
                ShapedType::getNumElements(shape.drop_front(axes.back() + 1)),
            size = ShapedType::getNumElements(
                shape.slice(axes.front(), axes.size()));
    auto x = getSummed(reduce.getX(), size);
    if (!x || outer * inner * size == 0)
      return failure();
    Location loc = reduce.getLoc();
    Value integers = getIntegers(rewriter, x.getX());
    // For a mean over the last axes, the outer axes become channels.
    SmallVector<int64_t> image =
        inner == 1 ? SmallVector<int64_t>{1, outer, size, 1}
                   : SmallVector<int64_t>{outer, 1, size, inner};
    integers = rewriter.createOrFold<ReshapeOp>(
        loc,
        RankedTensorType::get(
            image, cast<RankedTensorType>(integers.getType()).getElementType()),
        integers);
    Value mean = makePool(rewriter, loc, integers, {size, 1}, {1, 1}, {1, 1},
                          {0, 0, 0, 0}, /*ceilMode=*/false);
    mean = makeReal(rewriter, mean, qnn::getParameters(x.getX().getType()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(reduce, reduce.getType(), mean);
    return success();
  }
};

/// Replaces the layer normalisation of dequantized values by that of their
/// integers: neither the zero point nor the scale changes the result, if
/// epsilon is divided by the square of the scale.
struct NormalizeIntegers : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LayerNormOp norm,
                                PatternRewriter &rewriter) const override {
    // Routines sum the squares of 2^15 integers without rounding.
    ArrayRef<int64_t> row =
        norm.getX().getType().getShape().drop_front(norm.getAxis());
    auto x = getSummed(norm.getX(), 1);
    if (!x || ShapedType::getNumElements(row) > 1 << 15)
      return failure();
    double scale = qnn::getParameters(x.getX().getType()).scales[0];
    double epsilon = norm.getEpsilon().convertToDouble() / (scale * scale);
    if (!(epsilon < 1e30))
      return failure();
    rewriter.replaceOpWithNewOp<LayerNormOp>(
        norm, getIntegers(rewriter, x.getX()), norm.getScale(), norm.getBias(),
        norm.getAxisAttr(), rewriter.getF64FloatAttr(epsilon),
        TypeAttr::get(rewriter.getF32Type()));
    return success();
  }
};
} // namespace

void nnc::populateQuantizedMeans(RewritePatternSet &patterns) {
  patterns.add<PoolIntegers, ReduceIntegers, NormalizeIntegers>(
      patterns.getContext());
}
