//===- FoldAffine.cpp - Folds scales and shifts into weights --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A chain of scales and shifts (biases, batch normalisations, learned
// constants) becomes one scale and one shift, and the scale is folded into the
// weights before or after it. The chain is composed in double and the weights
// are rounded once, so that there is one new blob, however long the chain is.
// Only chains that lose no accuracy are folded; see Accuracy.h.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Accuracy.h"
#include "compiler/patterns/AffineChain.h"
#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Calls visit(element index, channel) for every element of the weight.
template <class F> static void visitWeight(const WeightView &view, F visit) {
  int64_t index = 0;
  for (int64_t outer = 0; outer < view.outer; ++outer)
    for (int64_t c = 0; c < view.channels; ++c) {
      int64_t channel = view.getChannel(outer, c);
      for (int64_t i = 0; i < view.inner; ++i)
        visit(index++, channel);
    }
}

template <class T>
static void scaleElements(const TensorData &from, TensorData &to,
                          const WeightView &view, ArrayRef<double> scale) {
  const T *source = from.getAs<T>().data();
  T *target = to.getMutable<T>();
  visitWeight(view, [&](int64_t index, int64_t channel) {
    double factor = scale.size() == 1 ? scale[0] : scale[channel];
    target[index] = static_cast<T>(source[index] * factor);
  });
}

/// Creates a copy of the weight that `view` describes with scaled channels, or
/// returns null if its elements cannot be read.
static Value createScaledWeight(PatternRewriter &rewriter, Operation *anchor,
                                const WeightView &view,
                                ArrayRef<double> scale) {
  Value weight = anchor->getOperand(view.operand);
  std::optional<TensorData> old = TensorData::get(weight);
  if (!old)
    return {};
  TensorData scaled = TensorData::allocate(old->getType());
  if (old->getElementType().isF32())
    scaleElements<float>(*old, scaled, view, scale);
  else
    scaleElements<double>(*old, scaled, view, scale);
  Location location = weight.getLoc();
  StringRef name = getModelName(location, "folded");
  auto constant = weight.getDefiningOp<ConstantOp>();
  if (auto blob = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    name = blob.getRawHandle().getKey();
  return createConstant(rewriter, location, scaled, name);
}

/// Creates the ops for value * scale + shift, leaving out a scale of 1 and a
/// shift of 0.
static Value createAffine(PatternRewriter &rewriter, Location location,
                          Value value, int64_t axis, const Affine &affine) {
  auto type = cast<RankedTensorType>(value.getType());
  auto constant = [&](ArrayRef<double> values, const char *role) {
    auto name = rewriter.getStringAttr(getModelName(location) + "." + role);
    return createChannelConstant(rewriter, NameLoc::get(name), type, axis,
                                 values);
  };
  if (affine.scales(type.getElementType()))
    value = rewriter.create<MulOp>(location, value,
                                   constant(affine.scale, "scale"));
  if (affine.shifts())
    value =
        rewriter.create<AddOp>(location, value, constant(affine.shift, "bias"));
  return value;
}

//===----------------------------------------------------------------------===//
// Behind a convolution or product
//===----------------------------------------------------------------------===//

/// Returns true if a multiply and an add are shorter or simpler than the chain.
/// A division is kept if replacing it saves no op, because multiplying by the
/// reciprocal rounds differently.
static bool isWorthComposing(const AffineChain &chain) {
  Type element = getElementTypeOrSelf(chain.base.getType());
  size_t ops = chain.affine.scales(element) + chain.affine.shifts();
  if (ops != chain.ops.size())
    return ops < chain.ops.size() || isa<BatchNormOp>(chain.ops.front());
  return chain.hasNorm ||
         (!chain.divides && llvm::any_of(chain.ops, [](Operation *op) {
           return isa<DivOp>(op) ||
                  (isa<SubOp>(op) &&
                   op->getOperand(1).getDefiningOp<ConstantOp>());
         }));
}

namespace {
/// Composes a chain into a scale and a shift; matches its first op. With
/// `normsOnly`, the ops behind the chain's last batch normalisation are left
/// alone, because activations that are written out begin with such ops.
struct ComposeChain : RewritePattern {
  ComposeChain(MLIRContext *context, bool normsOnly)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        normsOnly(normsOnly) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<AffineOp> match = matchAffine(op);
    if (!match || !startsChain(op, *match))
      return failure();
    AffineChain chain = followChain(op, *match, normsOnly);
    if (chain.ops.empty())
      return failure();
    Value base = match->x;
    if (succeeded(foldIntoAnchor(chain, rewriter)))
      return success();
    if (!isWorthComposing(chain))
      return failure();
    finish(chain, base, chain.affine, rewriter);
    return success();
  }

private:
  bool normsOnly;

  /// Returns true if `op` is the first of its chain: if none of the scales and
  /// shifts before it would be composed with it.
  bool startsChain(Operation *op, AffineOp match) const {
    SmallVector<std::pair<Operation *, AffineOp>> above;
    while (match.x.hasOneUse() && above.size() < AffineChain::kMostOps) {
      Operation *before = match.x.getDefiningOp();
      std::optional<AffineOp> found =
          before ? matchAffine(before) : std::nullopt;
      if (!found)
        break;
      above.push_back({before, *found});
      match = *found;
    }
    // Enumerate the chains from the earliest op on; each begins behind the one
    // before it.
    while (!above.empty()) {
      auto [first, affine] = above.back();
      AffineChain chain = followChain(first, affine, normsOnly);
      if (llvm::is_contained(chain.ops, op))
        return false;
      for (size_t i = std::max<size_t>(1, chain.ops.size()); i > 0; --i)
        above.pop_back();
    }
    return true;
  }

  /// Replaces the last op of the chain, so that the result keeps that op's
  /// name.
  static void finish(const AffineChain &chain, Value base, const Affine &affine,
                     PatternRewriter &rewriter) {
    Operation *last = chain.ops.back();
    rewriter.setInsertionPoint(last);
    rewriter.replaceOp(
        last, createAffine(rewriter, last->getLoc(), base, chain.axis, affine));
  }

  static LogicalResult foldIntoAnchor(AffineChain &chain,
                                      PatternRewriter &rewriter) {
    // Shifts alone are composed as any chain.
    std::optional<WeightView> view = chain.findWeights();
    if (!view)
      return failure();
    Operation *anchor = chain.base.getDefiningOp();
    rewriter.setInsertionPoint(anchor);
    Value weight =
        createScaledWeight(rewriter, anchor, *view, chain.affine.scale);
    if (!weight)
      return failure();
    rewriter.modifyOpInPlace(
        anchor, [&] { anchor->setOperand(view->operand, weight); });
    finish(chain, chain.base, Affine::shifting(chain.affine.shift), rewriter);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// In front of a convolution or product
//===----------------------------------------------------------------------===//

/// Folds the chain in front of a convolution or matrix product into its
/// weights; matches the latter. A shift can be folded only if no padding mixes
/// zeros into the input.
struct FoldIntoNext : RewritePattern {
  FoldIntoNext(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *anchor,
                                PatternRewriter &rewriter) const override {
    std::optional<WeightView> view = getInputView(anchor);
    if (!view || !mayScaleWeights(anchor, view->operand) ||
        !TensorData::get(anchor->getOperand(view->operand)))
      return failure();
    AffineChain chain = collect(anchor);
    Type element = getElementTypeOrSelf(chain.base.getType());
    if (!chain.affine.scales(element) || isBehindWeights(chain.base) ||
        changesSteps(anchor, chain))
      return failure();
    int64_t outputAxis = *cast<RoutineOpInterface>(anchor).getChannelAxis();
    SmallVector<double> shift = {0.0};
    if (chain.affine.shifts())
      shift = shiftOutput(anchor, *view, chain.affine.shift);
    Value weight =
        createScaledWeight(rewriter, anchor, *view, chain.affine.scale);
    if (!weight)
      return failure();
    rewriter.modifyOpInPlace(anchor, [&] {
      anchor->setOperand(0, chain.base);
      anchor->setOperand(view->operand, weight);
    });
    Affine rest = Affine::shifting(shift);
    if (!rest.shifts())
      return success();
    rewriter.setInsertionPointAfter(anchor);
    Value result = anchor->getResult(0);
    Value shifted =
        createAffine(rewriter, anchor->getLoc(), result, outputAxis, rest);
    rewriter.replaceAllUsesExcept(result, shifted, shifted.getDefiningOp());
    return success();
  }

private:
  /// Returns true if a chain on `value` can be folded into the weights of the
  /// op before it instead.
  static bool isBehindWeights(Value value) {
    Operation *op = value.getDefiningOp();
    return op && value.hasOneUse() && getOutputView(op) &&
           mayScaleWeights(op, 1);
  }

  /// Returns true if folding the chain would change bits that a step function
  /// depends on: the anchor only selects elements, and the chain rounds.
  static bool changesSteps(Operation *anchor, const AffineChain &chain) {
    Value result = anchor->getResult(0);
    return !chain.affine.isExact() && !isInexact(result) && reachesStep(result);
  }

  static bool hasPadding(Operation *anchor) {
    if (auto conv = dyn_cast<ConvOp>(anchor))
      return llvm::any_of(conv.getPads(), [](int64_t p) { return p != 0; });
    return isa<ConvTransposeOp>(anchor);
  }

  /// Returns the longest chain that ends in the anchor's first operand and may
  /// be folded into its weights; it is followed backwards from that operand.
  static AffineChain collect(Operation *anchor) {
    Value x = anchor->getOperand(0);
    auto type = cast<RankedTensorType>(x.getType());
    bool isProduct = isa<MatMulOp>(anchor);
    int64_t axis = isProduct ? type.getRank() - 1 : 1;
    auto weight = cast<RankedTensorType>(anchor->getOperand(1).getType());
    bool batched = isProduct && weight.getRank() > 2;
    SmallVector<std::pair<Operation *, AffineOp>> found;
    while (x.hasOneUse() && x.getDefiningOp() &&
           found.size() < AffineChain::kMostOps) {
      std::optional<AffineOp> match = matchAffine(x.getDefiningOp());
      if (!match || (match->axis != -1 && match->axis != axis))
        break;
      if (match->affine.shifts() && (batched || hasPadding(anchor)))
        break;
      found.push_back({x.getDefiningOp(), *match});
      x = match->x;
    }
    for (; !found.empty(); found.pop_back()) {
      AffineChain chain(found.back().second.x, axis);
      bool appends = llvm::all_of(llvm::reverse(found), [&](auto &next) {
        return chain.append(next.first, next.second);
      });
      if (appends && chain.affine.isAccurate())
        return chain;
    }
    return AffineChain(anchor->getOperand(0), axis);
  }

  /// Returns what a shift of the input adds to each channel of the result.
  static SmallVector<double> shiftOutput(Operation *anchor,
                                         const WeightView &input,
                                         ArrayRef<double> shift) {
    std::optional<WeightView> output = getOutputView(anchor);
    TensorData weight = *TensorData::get(anchor->getOperand(input.operand));
    int64_t size = weight.getNumElements();
    SmallVector<int64_t> outputChannel(size);
    int64_t channels = 0;
    visitWeight(*output, [&](int64_t index, int64_t channel) {
      outputChannel[index] = channel;
      channels = std::max(channels, channel + 1);
    });
    SmallVector<double> sums(channels, 0.0);
    visitWeight(input, [&](int64_t index, int64_t channel) {
      sums[outputChannel[index]] +=
          weight.getReal(index) *
          (shift.size() == 1 ? shift[0] : shift[channel]);
    });
    return sums;
  }
};

/// Moves a scalar factor s behind a matrix product of two variable operands,
/// where the epilogue applies it: (a * s) b = (a b) * s. If an operand is a
/// constant weight, the pattern above folds s into it.
struct SinkScale : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp matmul,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : matmul->getOpOperands()) {
      Operation *op = operand.get().getDefiningOp();
      std::optional<AffineOp> match;
      if (!op || !op->hasOneUse() || !(match = matchAffine(op)) ||
          match->axis != -1 || match->affine.shifts() ||
          !match->affine.isHarmless(matmul.getType().getElementType()) ||
          (!match->affine.isExact() && reachesStep(matmul)))
        continue;
      rewriter.modifyOpInPlace(matmul, [&] { operand.set(match->x); });
      rewriter.setInsertionPointAfter(matmul);
      Value scaled =
          createAffine(rewriter, op->getLoc(), matmul, -1, match->affine);
      rewriter.replaceAllUsesExcept(matmul, scaled, scaled.getDefiningOp());
      return success();
    }
    return failure();
  }
};
} // namespace

void nnc::populateFoldBatchNorm(RewritePatternSet &patterns) {
  patterns.add<ComposeChain>(patterns.getContext(), /*normsOnly=*/true);
}

void nnc::populateFoldAffine(RewritePatternSet &patterns) {
  patterns.add<ComposeChain>(patterns.getContext(), /*normsOnly=*/false);
  patterns.add<FoldIntoNext, SinkScale>(patterns.getContext());
}
