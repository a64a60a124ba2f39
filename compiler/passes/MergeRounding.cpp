//===- MergeRounding.cpp - Shorter forms of quantizations -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/IntegerRange.h"
#include "dialects/target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace nnc {
#define GEN_PASS_DEF_MERGEROUNDING
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The most integers between which a quotient is compared with a product. It
/// suffices for bytes.
static constexpr int64_t kMaxSteps = 1024;

/// Returns the value of a constant f32, or nothing.
static std::optional<float> getReal(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto real = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!real || !real.getType().isF32())
    return {};
  return real.getValue().convertToFloat();
}

/// Returns a number as an integer, if it is one of at most 24 bits, or nothing.
static std::optional<int64_t> getWhole(double value) {
  if (value != std::nearbyint(value) || std::abs(value) > 0x1p24)
    return {};
  return static_cast<int64_t>(value);
}

namespace {
/// The reciprocal of a scale as a sum of two floats: the nearest float, and
/// what that one lacks.
struct Reciprocal {
  float factor, rest;

  explicit Reciprocal(float scale)
      : factor(1.0f / scale), rest(std::fma(-factor, scale, 1.0f) / scale) {}

  /// Returns x times the reciprocal, as requantize_parts of
  /// runtime/simd/requantize.h computes it for results from low to high.
  float multiply(float x, int64_t low, int64_t high) const {
    float limited =
        std::min(std::max(x, float(low) / factor), float(high) / factor);
    float product = limited * rest;
    return std::fma(limited, factor, product);
  }

  /// Returns true if the product with any float, limited to [low, high] and
  /// rounded to an integer, is the rounded quotient with `scale`. Both are
  /// monotonic, so that it suffices that both have the same smallest float for
  /// each integer.
  bool isExact(float scale, int64_t low, int64_t high) const {
    auto product = [&](float x) {
      return std::nearbyint(multiply(x, low, high));
    };
    auto next = [](float x, int direction) {
      return std::nextafter(x, float(direction) * HUGE_VALF);
    };
    for (int64_t n = low + 1; n <= high; ++n) {
      auto reaches = [&](float x) {
        return std::nearbyint(x / scale) >= float(n);
      };
      auto least = static_cast<float>((double(n) - 0.5) * double(scale));
      while (reaches(least))
        least = next(least, -1);
      while (!reaches(least))
        least = next(least, 1);
      if (product(least) < float(n) || product(next(least, -1)) >= float(n))
        return false;
    }
    return product(-HUGE_VALF) == float(low) &&
           product(HUGE_VALF) == float(high);
  }
};

/// A quotient with a constant scale that becomes an integer: saturate(round(x /
/// scale) + zero).
struct Quantization {
  Value x;
  float scale;
  int64_t zero = 0, low, high;

  /// Returns the quantization whose last op is `cast`, or nothing.
  static std::optional<Quantization> match(CastOp cast);
};
} // namespace

std::optional<Quantization> Quantization::match(CastOp cast) {
  auto to = dyn_cast<IntegerType>(cast.getY().getType());
  if (!to || to.getWidth() > 16 || to.getWidth() < 8)
    return {};
  Quantization result;
  std::tie(result.low, result.high) = getIntegerRange(to);
  Value value = cast.getX();
  if (auto clip = value.getDefiningOp<ClipOp>()) {
    auto low = getWhole(clip.getMin().convertToDouble());
    auto high = getWhole(clip.getMax().convertToDouble());
    if (!low || !high)
      return {};
    result.low = std::max(result.low, *low);
    result.high = std::min(result.high, *high);
    value = clip.getX();
  }
  if (auto add = value.getDefiningOp<AddOp>()) {
    auto real = getReal(add.getB());
    auto zero = real ? getWhole(*real) : std::nullopt;
    if (!zero)
      return {};
    result.zero = *zero;
    value = add.getA();
  }
  auto round = value.getDefiningOp<RoundOp>();
  auto quotient = round && round->hasOneUse()
                      ? round.getX().getDefiningOp<DivOp>()
                      : DivOp();
  if (!quotient || !quotient->hasOneUse() || !quotient.getA().getType().isF32())
    return {};
  auto scale = getReal(quotient.getB());
  if (!scale)
    return {};
  result.x = quotient.getA();
  result.scale = *scale;
  return result;
}

namespace {
struct MergeRoundingPass : nnc::impl::MergeRoundingBase<MergeRoundingPass> {
  void runOnOperation() override {
    auto machine = target::getTarget(getOperation());
    if (failed(machine))
      return signalPassFailure();
    getOperation().walk([&](LayerOp layer) {
      // The layer's device may be another than the host.
      bool divides = !machine->getHost().hasFusedMultiplyAdd() ||
                     machine->getDevices().size() > 1;
      for (Region &region : layer->getRegions())
        for (Block &block : region)
          for (Operation &op : llvm::make_early_inc_range(block)) {
            if (auto cast = dyn_cast<CastOp>(op)) {
              if (cast.getY().getType().isF32())
                makeReal(cast);
              else if (!divides)
                multiply(cast);
            } else if (auto sub = dyn_cast<SubOp>(op)) {
              subtract(sub);
            }
          }
    });
  }

private:
  /// Replaces a quantization by a product where that gives equal results.
  static void multiply(CastOp cast) {
    auto quantization = Quantization::match(cast);
    if (!quantization)
      return;
    float scale = quantization->scale;
    int64_t low = quantization->low - quantization->zero,
            high = quantization->high - quantization->zero;
    // Within these bounds neither the reciprocal nor a product is subnormal.
    if (!(scale > 0x1p-60f && scale < 0x1p60f) || low >= high ||
        high - low > kMaxSteps || std::max(-low, high) > 2 * kMaxSteps)
      return;
    Reciprocal reciprocal(scale);
    if (!reciprocal.isExact(scale, low, high))
      return;
    OpBuilder builder(cast);
    auto constant = [&](float value) -> Value {
      return builder.create<arith::ConstantOp>(cast.getLoc(),
                                               builder.getF32FloatAttr(value));
    };
    Value factor = constant(reciprocal.factor),
          rest = constant(reciprocal.rest);
    replace(cast, builder, Rescale::parts, {quantization->x, factor, rest},
            cast.getY().getType(), quantization->zero, quantization->low,
            quantization->high);
  }

  /// Lets a requantization whose result is only read as a float make the float.
  static void makeReal(CastOp cast) {
    auto from = cast.getX().getDefiningOp<RequantizeOp>();
    if (!from || from.getRescale() != Rescale::real || !from->hasOneUse() ||
        from->hasAttr(kActivationAttr))
      return;
    auto [low, high] = from.getRange();
    if (std::max(-low, high) >= 1 << 23)
      return;
    OpBuilder builder(cast);
    replace(cast, builder, Rescale::real, from->getOperands(),
            builder.getF32Type(), from.getZeroPoint(), low, high);
    from.erase();
  }

  /// Moves the subtraction of an integer into the requantization that made the
  /// float.
  static void subtract(SubOp sub) {
    auto from = sub.getA().getDefiningOp<RequantizeOp>();
    auto real = getReal(sub.getB());
    auto offset = real ? getWhole(*real) : std::nullopt;
    if (!from || !offset || !from->hasOneUse() ||
        !from.getY().getType().isF32())
      return;
    OpBuilder builder(sub);
    auto [low, high] = from.getRange();
    replace(sub, builder, from.getRescale(), from->getOperands(),
            builder.getF32Type(), from.getZeroPoint() - *offset, low - *offset,
            high - *offset);
    from.erase();
  }

  /// Replaces `op`, and the ops that it alone reads, by a requantization.
  static void replace(Operation *op, OpBuilder &builder, Rescale rescale,
                      ValueRange operands, Type element, int64_t zero,
                      int64_t low, int64_t high) {
    auto made = builder.create<RequantizeOp>(
        op->getLoc(), TypeRange(element), operands,
        ArrayRef<NamedAttribute>{
            builder.getNamedAttr("rescale",
                                 RescaleAttr::get(op->getContext(), rescale)),
            builder.getNamedAttr("element", TypeAttr::get(element)),
            builder.getNamedAttr("zero_point", builder.getI64IntegerAttr(zero)),
            builder.getNamedAttr("low", builder.getI64IntegerAttr(low)),
            builder.getNamedAttr("high", builder.getI64IntegerAttr(high))});
    op->getResult(0).replaceAllUsesWith(made.getY());
    eraseUnread(op);
  }

  /// Erases an op without readers, and what only it reads.
  static void eraseUnread(Operation *op) {
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->use_empty() && !isa<RequantizeOp>(maker))
        eraseUnread(maker);
  }
};
} // namespace
