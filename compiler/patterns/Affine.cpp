//===- Affine.cpp - Scales and shifts of channels -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Affine.h"

#include "compiler/patterns/Constants.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Adding a number of this size to data of a network's size rounds it: such a
/// pair of shifts is a rounding in disguise (x + 1.5 * 2^23 - 1.5 * 2^23).
static constexpr double kLargeShift = 1 << 20;

bool Affine::scales(Type type) const {
  return llvm::any_of(scale, [&](double v) {
    return type.isF64() ? v != 1.0 : static_cast<float>(v) != 1.0f;
  });
}
bool Affine::shifts() const {
  return llvm::any_of(shift, [](double v) { return v != 0.0; });
}

/// f(a[i], b[i], c[i]) where lists of one value serve every i.
template <class F>
static SmallVector<double> zipWith(ArrayRef<double> a, ArrayRef<double> b,
                                   ArrayRef<double> c, F f) {
  SmallVector<double> result;
  size_t size = std::max({a.size(), b.size(), c.size()});
  auto at = [](ArrayRef<double> list, size_t i) {
    return list.size() == 1 ? list[0] : list[i];
  };
  for (size_t i = 0; i < size; ++i)
    result.push_back(f(at(a, i), at(b, i), at(c, i)));
  return result;
}

Affine Affine::then(const Affine &next) const {
  Affine both;
  both.scale = zipWith(scale, next.scale, next.scale,
                       [](double a, double b, double) { return a * b; });
  both.shift = zipWith(shift, next.scale, next.shift,
                       [](double a, double b, double c) { return a * b + c; });
  return both;
}

bool Affine::isHarmless(Type type) const {
  auto isFinite = [&](double value) {
    return type.isF32() ? std::isfinite(static_cast<float>(value))
                        : std::isfinite(value);
  };
  return (type.isF32() || type.isF64()) && llvm::all_of(scale, isFinite) &&
         llvm::all_of(shift,
                      [](double v) { return std::abs(v) < kLargeShift; });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// An op's operands, one of them constant.
struct ConstantSide {
  Value x;
  int64_t axis; ///< along which the constant varies, or -1
  SmallVector<double> values;
  bool isFirst; ///< whether the constant stands before x
};
} // namespace

static std::optional<ConstantSide> splitOperands(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (unsigned i : {1u, 0u}) {
    Value constant = op->getOperand(i), x = op->getOperand(1 - i);
    if (!constant.getDefiningOp<ConstantOp>() ||
        x.getDefiningOp<ConstantOp>() || x.getType() != type)
      continue;
    std::optional<int64_t> axis = getVaryingAxis(constant, type);
    if (!axis)
      continue;
    if (auto values = getChannelValues(constant, type, *axis))
      return ConstantSide{x, values->size() == 1 ? -1 : *axis, *values, i == 0};
  }
  return std::nullopt;
}

static SmallVector<double> map(ArrayRef<double> values, double (*f)(double)) {
  return llvm::to_vector(llvm::map_range(values, f));
}
static double negate(double value) { return -value; }
static double invert(double value) { return 1.0 / value; }

static std::optional<AffineOp> matchBatchNorm(BatchNormOp op) {
  auto read = [&](Value value) {
    return getChannelValues(value, getLogicalType(op.getScale().getType()), 0);
  };
  auto scale = read(op.getScale()), bias = read(op.getBias()),
       mean = read(op.getMean()), variance = read(op.getVariance());
  if (!scale || !bias || !mean || !variance)
    return std::nullopt;
  double epsilon = op.getEpsilon().convertToDouble();
  Affine affine;
  affine.scale =
      zipWith(*scale, *variance, *variance, [&](double s, double v, double) {
        return s / std::sqrt(v + epsilon);
      });
  affine.shift =
      zipWith(*bias, *mean, affine.scale,
              [](double b, double m, double s) { return b - m * s; });
  return AffineOp{op.getX(), 1, affine};
}

/// Small whole numbers, on which sums are exact: x - zero_point of quantized
/// data stays that.
static bool isWhole(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isa<IntegerType>(getElementTypeOrSelf(cast.getX().getType()));
}

std::optional<AffineOp> nnc::matchAffine(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  if (auto norm = dyn_cast<BatchNormOp>(op))
    return matchBatchNorm(norm);
  if (auto neg = dyn_cast<NegOp>(op))
    return AffineOp{neg.getX(), -1, {{-1.0}, {0.0}}};
  if (!isa<AddOp, SubOp, MulOp, DivOp>(op))
    return std::nullopt;
  std::optional<ConstantSide> side = splitOperands(op);
  if (!side || (isa<AddOp, SubOp>(op) && isWhole(side->x)))
    return std::nullopt;
  AffineOp result{side->x, side->axis, {}};
  if (isa<AddOp>(op)) {
    result.affine.shift = side->values;
  } else if (isa<MulOp>(op)) {
    result.affine.scale = side->values;
  } else if (isa<SubOp>(op)) {
    if (side->isFirst)
      result.affine = {{-1.0}, side->values};
    else
      result.affine.shift = map(side->values, negate);
  } else {
    if (side->isFirst)
      return std::nullopt;
    result.affine.scale = map(side->values, invert);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getWeightShape(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
}

/// The rows (of the product's k) or the columns of a matrix product's right
/// side.
static WeightView getMatrixView(MatMulOp matmul, bool columns) {
  ArrayRef<int64_t> w = getWeightShape(matmul);
  size_t rank = w.size();
  bool last = columns != matmul.getTransposeB();
  int64_t batch = product(w.drop_back(2));
  if (last)
    return {1, batch * w[rank - 2], w[rank - 1], 1, batch * w[rank - 2]};
  return {1, batch, w[rank - 2], w[rank - 1], batch};
}

std::optional<WeightView> nnc::getOutputView(Operation *anchor) {
  if (isa<ConvOp>(anchor)) {
    ArrayRef<int64_t> w = getWeightShape(anchor);
    return WeightView{1, 1, w[0], product(w.drop_front(1)), 1};
  }
  if (auto conv = dyn_cast<ConvTransposeOp>(anchor)) {
    ArrayRef<int64_t> w = getWeightShape(anchor);
    int64_t perGroup = w[0] / static_cast<int64_t>(conv.getGroups());
    return WeightView{1, w[0], w[1], product(w.drop_front(2)), perGroup};
  }
  if (auto matmul = dyn_cast<MatMulOp>(anchor))
    return getMatrixView(matmul, /*columns=*/true);
  return std::nullopt;
}

std::optional<WeightView> nnc::getInputView(Operation *anchor) {
  if (auto conv = dyn_cast<ConvOp>(anchor)) {
    ArrayRef<int64_t> w = getWeightShape(anchor);
    int64_t perGroup = w[0] / static_cast<int64_t>(conv.getGroups());
    return WeightView{1, w[0], w[1], product(w.drop_front(2)), perGroup};
  }
  if (isa<ConvTransposeOp>(anchor)) {
    ArrayRef<int64_t> w = getWeightShape(anchor);
    return WeightView{1, 1, w[0], product(w.drop_front(1)), 1};
  }
  if (auto matmul = dyn_cast<MatMulOp>(anchor))
    if (!matmul.getTransposeA())
      return getMatrixView(matmul, /*columns=*/false);
  return std::nullopt;
}
