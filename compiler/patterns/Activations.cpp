//===- Activations.cpp - Recognises activations written out ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Most activations have the form x * gate(x) times a constant. The constant may
// stand on either side or in either factor, or may already be merged with
// another one. Therefore these patterns match the product of x and the gate,
// and leave the constant as a separate factor.
//
// Constants are compared with a relative tolerance of 1e-6, which is what
// rounding them to f32 loses. An expression whose constants are written with
// fewer digits is not the activation, and remains. An expression also remains
// if all implementations give it the same bits and these may decide a
// comparison or the like (see Accuracy.h); activations with exponentials have
// no such bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Accuracy.h"
#include "compiler/patterns/Affine.h"
#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static bool isNear(double value, double expected) {
  return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

/// Returns true if all implementations compute the result of `op` to the same
/// bits and these bits may decide the outcome of a step function.
static bool hasMeaningfulBits(Operation *op) {
  Value result = op->getResult(0);
  return !isInexact(result) && reachesStep(result);
}

/// Returns x, scale and shift with value = x * scale + shift, looking through
/// all scales and shifts by constants.
static std::tuple<Value, double, double> peel(Value value) {
  Affine all;
  while (Operation *op = value.getDefiningOp()) {
    std::optional<AffineOp> match = matchAffine(op);
    if (!match || match->axis != -1)
      break;
    all = match->affine.then(all);
    value = match->x;
  }
  return {value, all.scale[0], all.shift[0]};
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// The coefficients of 1, x, x^2 and x^3.
using Polynomial = std::array<double, 4>;

/// Returns `value` as a polynomial in x, or nullopt if it is none of degree 3
/// or less.
static std::optional<Polynomial> matchPolynomial(Value value, Value x,
                                                 int depth = 0) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> number = getUniformReal(value))
    return Polynomial{*number, 0, 0, 0};
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8 || !isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
    return std::nullopt;
  auto a = matchPolynomial(op->getOperand(0), x, depth + 1);
  auto b = matchPolynomial(op->getOperand(1), x, depth + 1);
  if (!a || !b)
    return std::nullopt;
  auto times = [](const Polynomial &p, const Polynomial &q) {
    std::optional<Polynomial> product = Polynomial{};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        if (i + j < 4)
          (*product)[i + j] += p[i] * q[j];
        else if (p[i] != 0 && q[j] != 0)
          return std::optional<Polynomial>();
      }
    return product;
  };
  bool isNumber = (*b)[1] == 0 && (*b)[2] == 0 && (*b)[3] == 0;
  double number = (*b)[0];
  if (isa<MulOp>(op))
    return times(*a, *b);
  if (isa<PowOp>(op)) {
    if (!isNumber || (number != 2 && number != 3))
      return std::nullopt;
    std::optional<Polynomial> square = times(*a, *a);
    return number == 2 || !square ? square : times(*square, *a);
  }
  if (isa<DivOp>(op) && (!isNumber || number == 0))
    return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    if (isa<DivOp>(op))
      (*a)[i] /= number;
    else
      (*a)[i] += isa<AddOp>(op) ? (*b)[i] : -(*b)[i];
  }
  return a;
}

/// Returns true if `value` is the polynomial `expected` in x.
static bool isPolynomial(Value value, Value x, const Polynomial &expected) {
  std::optional<Polynomial> found = matchPolynomial(value, x);
  if (!found)
    return false;
  for (int i = 0; i < 4; ++i)
    if (!isNear((*found)[i], expected[i]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Products with a gate
//===----------------------------------------------------------------------===//

namespace {
enum class Gated { gelu, geluTanh, hardSwish, mish, silu };

/// An activation that is recognised as a product: x * gate is `factor` times
/// the activation of x.
struct GateMatch {
  Gated activation;
  double factor;
};
} // namespace

static std::optional<GateMatch> matchGate(Value gate, Value x) {
  auto [u, scale, shift] = peel(gate);
  Operation *op = u.getDefiningOp();
  if (!op || op->getNumOperands() != 1 || scale == 0)
    return std::nullopt;
  Value inner = op->getOperand(0);
  bool isCentred = isNear(shift, scale);
  if (isa<ErfOp>(op) && isCentred &&
      isPolynomial(inner, x, {0, M_SQRT1_2, 0, 0}))
    return GateMatch{Gated::gelu, 2 * scale};
  const double root = std::sqrt(2 / M_PI);
  if (isa<TanhOp>(op) && isCentred &&
      isPolynomial(inner, x, {0, root, 0, root * 0.044715}))
    return GateMatch{Gated::geluTanh, 2 * scale};
  if (shift != 0)
    return std::nullopt;
  if (isa<SigmoidOp>(op) && inner == x)
    return GateMatch{Gated::silu, scale};
  if (auto softplus = inner.getDefiningOp<SoftplusOp>())
    if (isa<TanhOp>(op) && softplus.getX() == x)
      return GateMatch{Gated::mish, scale};
  if (auto hard = dyn_cast<HardSigmoidOp>(op))
    if (inner == x && isNear(hard.getAlpha().convertToDouble(), 1.0 / 6) &&
        isNear(hard.getBeta().convertToDouble(), 0.5))
      return GateMatch{Gated::hardSwish, scale};
  // Matches clip(m (x / 6 + 1 / 2), 0, m) for any m.
  if (auto clip = dyn_cast<ClipOp>(op)) {
    double most = clip.getMax().convertToDouble();
    if (clip.getMin().isZero() && most > 0 && std::isfinite(most) &&
        isPolynomial(inner, x, {most / 2, most / 6, 0, 0}))
      return GateMatch{Gated::hardSwish, scale * most};
  }
  return std::nullopt;
}

static Value createActivation(OpBuilder &builder, Location location,
                              Gated activation, Value x) {
  switch (activation) {
  case Gated::gelu:
    return builder.create<GeluOp>(location, x);
  case Gated::geluTanh:
    return builder.create<GeluTanhOp>(location, x);
  case Gated::hardSwish:
    return builder.create<HardSwishOp>(location, x);
  case Gated::mish:
    return builder.create<MishOp>(location, x);
  case Gated::silu:
    return builder.create<SiluOp>(location, x);
  }
  llvm_unreachable("all activations are above");
}

static Value createScale(PatternRewriter &rewriter, Location location,
                         Value value, double scale) {
  auto type = cast<RankedTensorType>(value.getType());
  Value number = createChannelConstant(rewriter, location, type, -1, {scale});
  return rewriter.create<MulOp>(location, value, number);
}

namespace {
/// The factors of a tree of products, which are constants and other values. The
/// inner products have one use.
struct Factors {
  double scale = 1;
  SmallVector<Value> values;

  void collect(Value value, bool isRoot = false) {
    Operation *op = value.getDefiningOp();
    if (std::optional<double> number = getUniformReal(value)) {
      scale *= *number;
    } else if (op && (isRoot || value.hasOneUse()) && isa<MulOp>(op)) {
      collect(op->getOperand(0));
      collect(op->getOperand(1));
    } else if (op && value.hasOneUse() && isa<DivOp>(op) &&
               getUniformReal(op->getOperand(1)).value_or(0) != 0) {
      scale /= *getUniformReal(op->getOperand(1));
      collect(op->getOperand(0));
    } else {
      values.push_back(value);
    }
  }
};

struct RecomposeGate : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp mul,
                                PatternRewriter &rewriter) const override {
    if (!isReal(mul))
      return failure();
    Factors factors;
    factors.collect(mul, /*isRoot=*/true);
    for (auto [i, x] : llvm::enumerate(factors.values))
      for (auto [j, gate] : llvm::enumerate(factors.values)) {
        if (i == j || x.getType() != gate.getType())
          continue;
        if (auto match = matchGate(gate, x)) {
          if (match->activation == Gated::hardSwish && hasMeaningfulBits(mul))
            return failure();
          rewrite(mul, factors, i, j, *match, rewriter);
          return success();
        }
      }
    return failure();
  }

private:
  static void rewrite(MulOp mul, const Factors &factors, size_t x, size_t gate,
                      const GateMatch &match, PatternRewriter &rewriter) {
    Location location = mul.getLoc();
    Value result = createActivation(rewriter, location, match.activation,
                                    factors.values[x]);
    double scale = factors.scale * match.factor;
    if (!isNear(scale, 1))
      result = createScale(rewriter, location, result, scale);
    for (auto [i, value] : llvm::enumerate(factors.values))
      if (i != x && i != gate)
        result = rewriter.create<MulOp>(location, result, value);
    // The product got its shape from a constant whose rank is higher than that
    // of any value.
    if (result.getType() != mul.getType())
      result = rewriter.create<ExpandOp>(location, mul.getType(), result);
    rewriter.replaceOp(mul, result);
  }
};

/// Recognises a sigmoid in c / (1 + e^-x), written with a division or a
/// reciprocal, and in x / (1 + e^-x).
struct RecomposeSigmoid : RewritePattern {
  RecomposeSigmoid(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<DivOp, ReciprocalOp>(op) || !isReal(op->getResult(0)))
      return failure();
    auto [u, scale, shift] = peel(op->getOperands().back());
    auto exp = u.getDefiningOp<ExpOp>();
    if (!exp || scale == 0 || !isNear(shift, scale))
      return failure();
    auto [x, factor, offset] = peel(exp.getX());
    if (factor != -1 || offset != 0 ||
        x.getType() != op->getResult(0).getType())
      return failure();
    Location location = op->getLoc();
    std::optional<double> number = 1.0;
    if (isa<DivOp>(op))
      number = getUniformReal(op->getOperand(0));
    Value result;
    if (number) {
      result = rewriter.create<SigmoidOp>(location, x);
      scale = *number / scale;
    } else if (op->getOperand(0) == x) {
      result = rewriter.create<SiluOp>(location, x);
      scale = 1 / scale;
    } else {
      return failure();
    }
    if (!isNear(scale, 1))
      result = createScale(rewriter, location, result, scale);
    rewriter.replaceOp(op, result);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The bounds of a relu, a clip, or a max or min with a constant. A missing
/// bound is infinite.
struct Bounds {
  Value x;
  double low = -INFINITY, high = INFINITY;
};
} // namespace

static std::optional<Bounds> matchBounds(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isReal(op->getResult(0)))
    return std::nullopt;
  if (auto relu = dyn_cast<ReluOp>(op))
    return Bounds{relu.getX(), 0};
  if (auto clip = dyn_cast<ClipOp>(op)) {
    double low = clip.getMin().convertToDouble();
    double high = clip.getMax().convertToDouble();
    // Exporters write the largest float for a missing bound.
    if (low <= -3.4e38)
      low = -INFINITY;
    if (high >= 3.4e38)
      high = INFINITY;
    return Bounds{clip.getX(), low, high};
  }
  if (!isa<MaxOp, MinOp>(op))
    return std::nullopt;
  std::optional<double> number = getUniformReal(op->getOperand(1));
  if (!number || op->getOperand(0).getType() != op->getResult(0).getType())
    return std::nullopt;
  if (isa<MaxOp>(op))
    return Bounds{op->getOperand(0), *number};
  return Bounds{op->getOperand(0), -INFINITY, *number};
}

namespace {
/// Merges two successive pairs of bounds into one.
struct MergeBounds : RewritePattern {
  MergeBounds(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<Bounds> outer = matchBounds(op);
    if (!outer || !(outer->low <= outer->high))
      return failure();
    Bounds both = *outer;
    std::optional<Bounds> inner = matchBounds(outer->x.getDefiningOp());
    if (inner && inner->low <= inner->high)
      both = {inner->x, std::clamp(inner->low, outer->low, outer->high),
              std::clamp(inner->high, outer->low, outer->high)};
    else if (!isa<ClipOp>(op) || both.low != 0 || std::isfinite(both.high))
      return failure();
    if (both.low == 0 && !std::isfinite(both.high)) {
      rewriter.replaceOpWithNewOp<ReluOp>(op, both.x);
      return success();
    }
    if (!std::isfinite(both.low) || !std::isfinite(both.high))
      return failure(); // a max of a max is rare, and merging it gains nothing
    rewriter.replaceOpWithNewOp<ClipOp>(op, both.x,
                                        rewriter.getF64FloatAttr(both.low),
                                        rewriter.getF64FloatAttr(both.high));
    return success();
  }
};

/// Recognises a hard sigmoid in clip(a x + b, 0, 1) and clip(a x + b, 0, m) /
/// m. A value that is scaled to [0, 1] with a large b, as in (x - low) / (high
/// - low), is not one: the difference is small for x near low, but a x and b
/// are not, so that their sum is inaccurate.
struct RecomposeHardSigmoid : OpRewritePattern<ClipOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ClipOp clip,
                                PatternRewriter &rewriter) const override {
    double most = clip.getMax().convertToDouble();
    if (!isReal(clip) || !clip.getMin().isZero() || most <= 0)
      return failure();
    Operation *root = clip;
    double scale = 1;
    if (!isNear(most, 1)) {
      if (!clip->hasOneUse())
        return failure();
      root = *clip->user_begin();
      std::optional<AffineOp> match = matchAffine(root);
      if (!match || match->axis != -1 || match->affine.shift[0] != 0 ||
          !isNear(match->affine.scale[0] * most, 1))
        return failure();
      scale = match->affine.scale[0];
    }
    auto [x, alpha, beta] = peel(clip.getX());
    // The largest beta. Results are in [0, 1], where rounding with a beta of 2
    // costs a last bit or two.
    constexpr double kLargestBeta = 2;
    if (isNear(alpha * scale, 1) || std::abs(beta * scale) > kLargestBeta ||
        hasMeaningfulBits(root))
      return failure(); // a clip, perhaps behind a bias
    rewriter.setInsertionPoint(root);
    rewriter.replaceOpWithNewOp<HardSigmoidOp>(
        root, x, rewriter.getF64FloatAttr(alpha * scale),
        rewriter.getF64FloatAttr(beta * scale));
    return success();
  }
};
} // namespace

void nnc::populateActivations(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  // Gates must be matched before the factors of a product are merged with ops
  // around it.
  patterns.add<RecomposeGate>(context, /*benefit=*/2);
  patterns.add<RecomposeHardSigmoid>(context, /*benefit=*/2);
  patterns.add<RecomposeSigmoid, MergeBounds>(context);
}
