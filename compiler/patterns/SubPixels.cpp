//===- SubPixels.cpp - Transposed convolution as a convolution ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Patterns.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The largest number of results per input pixel, channels times taps, for this
/// rewrite. Routines compute whole vectors of channels, most of which would be
/// padding in a transposed convolution with so few results.
static constexpr int64_t kMostResults = 16;

namespace {
/// Turns a transposed convolution whose taps do not overlap into a 1 x 1
/// convolution, which multiplies each pixel by all taps of all channels, and a
/// rearrangement of the results into their positions. This pays off for few
/// results: they share one vector, and the elementwise ops behind it run on a
/// row-major image.
struct FewChannelsToSubPixels : OpRewritePattern<ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = op.getX().getType(), w = op.getW().getType();
    ArrayRef<int64_t> taps = w.getShape().drop_front(2);
    auto isZero = [](int64_t value) { return value == 0; };
    // The epilogue of integer sums belongs to the layer that computes them.
    if (op.getAccumulatorType() || !op.getW().getDefiningOp<ConstantOp>() ||
        op.getGroups() != 1 || op.getStrides() != taps ||
        !llvm::all_of(op.getPads(), isZero) ||
        !llvm::all_of(op.getOutputPadding(), isZero) ||
        !llvm::all_equal(op.getDilations()) || op.getDilations()[0] != 1)
      return failure();
    int64_t outputs = w.getDimSize(1), results = outputs * product(taps);
    if (product(taps) == 1 || results > kMostResults)
      return failure();

    Location location = op.getLoc();
    int64_t axes = taps.size();
    // [c, k, taps...] to [k, taps..., c], and so on to [k * taps, c, 1...].
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(1, axes + 2));
    order.push_back(0);
    SmallVector<int64_t> shape(axes + 2, 1);
    shape[0] = results;
    shape[1] = w.getDimSize(0);
    Value weight = rewriter.create<ReshapeOp>(
        location, RankedTensorType::get(shape, w.getElementType()),
        rewriter.create<TransposeOp>(location, op.getW(), order));

    SmallVector<int64_t> ones(axes, 1), zeros(2 * axes, 0);
    shape.assign(x.getShape().begin(), x.getShape().end());
    shape[1] = results;
    Value conv = rewriter.create<ConvOp>(
        location, RankedTensorType::get(shape, x.getElementType()), op.getX(),
        weight, ones, ones, zeros, /*groups=*/1, /*accumulator=*/TypeAttr());

    // [n, k, taps..., pixels...] to [n, k, pixel, tap, pixel, tap...].
    shape = {x.getDimSize(0), outputs};
    llvm::append_range(shape, taps);
    llvm::append_range(shape, x.getShape().drop_front(2));
    order = {0, 1};
    for (int64_t axis = 0; axis < axes; ++axis)
      llvm::append_range(order, ArrayRef{2 + axes + axis, 2 + axis});
    Value parts = rewriter.create<ReshapeOp>(
        location, RankedTensorType::get(shape, x.getElementType()), conv);
    rewriter.replaceOpWithNewOp<ReshapeOp>(
        op, op.getType(), rewriter.create<TransposeOp>(location, parts, order));
    return success();
  }
};
} // namespace

void nnc::populateSubPixels(RewritePatternSet &patterns) {
  patterns.add<FewChannelsToSubPixels>(patterns.getContext());
}
