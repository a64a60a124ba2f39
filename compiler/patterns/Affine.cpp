//===- Affine.cpp - Scales and shifts of channels -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Affine.h"

#include "compiler/patterns/Accuracy.h"
#include "compiler/patterns/Constants.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The least magnitude of a shift that is taken to round its operand on
/// purpose: a pair of such shifts is a rounding in disguise (x + 1.5 * 2^23 -
/// 1.5 * 2^23).
static constexpr double kLargeShift = 1 << 20;

bool Affine::scales(Type type) const {
  return llvm::any_of(scale, [&](double v) {
    return type.isF64() ? v != 1.0 : static_cast<float>(v) != 1.0f;
  });
}
bool Affine::shifts() const {
  return llvm::any_of(shift, [](double v) { return v != 0.0; });
}

/// Returns element i of a list, or its only element if it has one.
template <class T> static const T &getAt(const SmallVector<T> &list, size_t i) {
  return list.size() == 1 ? list[0] : list[i];
}

/// Returns the list of f(a[i], b[i], c[i]). A list of one value has this value
/// at every i.
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

/// Returns x * scale. Products with powers of two and with zero are exact, and
/// add no rounding.
Affine Affine::scaling(ArrayRef<double> scale) {
  Affine affine;
  affine.scale.assign(scale.begin(), scale.end());
  affine.rounded.assign(scale.size(), Range());
  for (auto [range, value] : llvm::zip(affine.rounded, scale))
    if (value != 0 && !isPowerOfTwo(value))
      range.add(0);
  return affine;
}

Affine Affine::shifting(ArrayRef<double> shift) {
  Affine affine;
  affine.shift.assign(shift.begin(), shift.end());
  affine.rounded.assign(shift.size(), Range());
  for (auto [range, value] : llvm::zip(affine.rounded, shift))
    if (value != 0)
      range.add(value);
  return affine;
}

Affine Affine::startingFrom(Value value) {
  Affine affine;
  if (isInexact(value))
    affine.rounded[0].add(0);
  return affine;
}

Affine Affine::then(const Affine &next) const {
  Affine both;
  both.scale = zipWith(scale, next.scale, next.scale,
                       [](double a, double b, double) { return a * b; });
  both.shift = zipWith(shift, next.scale, next.shift,
                       [](double a, double b, double c) { return a * b + c; });
  size_t size = std::max({scale.size(), shift.size(), rounded.size(),
                          next.scale.size(), next.rounded.size()});
  both.rounded.assign(size, Range());
  for (size_t i = 0; i < size; ++i) {
    double factor = getAt(next.scale, i), before = getAt(shift, i) * factor;
    Range first = getAt(rounded, i), second = getAt(next.rounded, i);
    if (first.least <= first.most) {
      both.rounded[i].add(first.least * factor);
      both.rounded[i].add(first.most * factor);
    }
    if (second.least <= second.most) {
      both.rounded[i].add(before + second.least);
      both.rounded[i].add(before + second.most);
    }
  }
  return both;
}

bool Affine::isExact() const {
  return !shifts() && llvm::all_of(scale, isPowerOfTwo);
}

bool Affine::isAccurate() const {
  // The shifts are sums in double, which may differ in the last bit if they are
  // added in another order.
  constexpr double slack = 1 + 1e-12;
  size_t size = std::max(shift.size(), rounded.size());
  for (size_t i = 0; i < size; ++i)
    if (!(std::abs(getAt(shift, i)) <= getAt(rounded, i).getWidth() * slack))
      return false;
  return true;
}

bool Affine::roundsOnce() const {
  return llvm::all_of(scale, isPowerOfTwo) && llvm::all_of(shift, [](double t) {
           return static_cast<float>(t) == t;
         });
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
/// The operands of a binary op, one of which is constant.
struct ConstantSide {
  Value x;
  int64_t axis; ///< axis along which the constant varies, or -1
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
  SmallVector<double> factor =
      zipWith(*scale, *variance, *variance, [&](double s, double v, double) {
        return s / std::sqrt(v + epsilon);
      });
  Affine affine = Affine::shifting(map(*mean, negate))
                      .then(Affine::scaling(factor))
                      .then(Affine::shifting(*bias));
  return AffineOp{op.getX(), 1, affine};
}

/// Returns true if `value` holds small whole numbers, whose sums are exact. The
/// x - zero_point of quantized data is left as it is.
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
    return AffineOp{neg.getX(), -1, Affine::scaling({-1.0})};
  if (!isa<AddOp, SubOp, MulOp, DivOp>(op))
    return std::nullopt;
  std::optional<ConstantSide> side = splitOperands(op);
  if (!side || (isa<AddOp, SubOp>(op) && isWhole(side->x)))
    return std::nullopt;
  AffineOp result{side->x, side->axis, {}};
  if (isa<AddOp>(op)) {
    result.affine = Affine::shifting(side->values);
  } else if (isa<MulOp>(op)) {
    result.affine = Affine::scaling(side->values);
  } else if (isa<SubOp>(op)) {
    if (side->isFirst)
      result.affine =
          Affine::scaling({-1.0}).then(Affine::shifting(side->values));
    else
      result.affine = Affine::shifting(map(side->values, negate));
  } else {
    if (side->isFirst)
      return std::nullopt;
    result.affine = Affine::scaling(map(side->values, invert));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getWeightShape(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(1).getType()).getShape();
}

/// Returns the view of a matrix product's right operand by its columns, or by
/// its rows (the product's k).
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
