//===- Quotients.cpp - Sizes divided by strides ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Quotients.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/TensorData.h"

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Quotients as expressions
//===----------------------------------------------------------------------===//

AffineBinaryOpExpr nnc::getQuotient(AffineExpr expression) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (binary && binary.getKind() == AffineExprKind::Add &&
      isa<AffineConstantExpr>(binary.getRHS()))
    binary = dyn_cast<AffineBinaryOpExpr>(binary.getLHS());
  return binary && binary.getKind() == AffineExprKind::FloorDiv &&
                 isa<AffineConstantExpr>(binary.getRHS())
             ? binary
             : AffineBinaryOpExpr(nullptr);
}

bool ExpressionFinder::addQuotient(AffineExpr quotient,
                                   ArrayRef<int64_t> values) {
  if (!getQuotient(quotient) || !isSound(quotient, values))
    return false;
  if (!factors.count(quotient))
    addSum(quotient);
  return true;
}

bool ExpressionFinder::isSound(AffineExpr quotient,
                               ArrayRef<int64_t> values) const {
  for (auto [point, value] : llvm::zip_equal(samples, values))
    if (evaluate(quotient, point) != value)
      return false;
  // Emitted code divides as C does, which rounds down only what is not
  // negative.
  constexpr int64_t kPoints = 2048;
  AffineExpr numerator = getQuotient(quotient).getLHS();
  return llvm::all_of(
      chooseChecks(ranges, kPoints, /*withZeros=*/true),
      [&](const SizePoint &point) { return evaluate(numerator, point) >= 0; });
}

AffineExpr ExpressionFinder::findQuotient(ArrayRef<int64_t> values) const {
  for (const Term &term : quotients)
    if (AffineExpr found = fit(&term, values))
      return found;
  // Most samples are close to the largest size, where a quotient hardly varies:
  // with two values, it would fit anything beside a size.
  auto isDetermined = [](const Term &quotient) {
    llvm::SmallDenseSet<int64_t> distinct(quotient.values.begin(),
                                          quotient.values.end());
    return distinct.size() > 2;
  };
  for (size_t i = 0; i < quotients.size(); ++i) {
    if (!isDetermined(quotients[i]))
      continue;
    for (const Term &term : terms)
      if (AffineExpr found = fit({&term, &quotients[i]}, values))
        return found;
    for (size_t j = 0; j < i; ++j)
      if (isDetermined(quotients[j]))
        if (AffineExpr found = fit({&quotients[j], &quotients[i]}, values))
          return found;
  }
  // A quotient of one size by a small number. It is taken only if no other
  // rounding, and no other number, gives these values at the samples.
  constexpr int64_t kMostDivisor = 8;
  AffineExpr only;
  for (unsigned i = 0; i < ranges.size(); ++i) {
    AffineExpr size = getAffineSymbolExpr(i, context);
    for (int64_t divisor = 2; divisor <= kMostDivisor; ++divisor) {
      int64_t least = INT64_MIN, most = INT64_MAX;
      for (auto [point, value] : llvm::zip_equal(samples, values)) {
        least = std::max(least, divisor * value - point[i]);
        most = std::min(most, divisor * value - point[i] + divisor - 1);
      }
      if (least > most)
        continue;
      AffineExpr found = (size + least).floorDiv(divisor);
      if (only || least < most || !getQuotient(found) || !isChecked(found) ||
          !isSound(found, values))
        return {};
      only = found;
    }
  }
  return only;
}

//===----------------------------------------------------------------------===//
// Quotients of the ops
//===----------------------------------------------------------------------===//

namespace {
/// An axis of an op's result along which windows move by a stride.
struct StridedAxis {
  nn::AxisWindows windows;
  int64_t operand, result; ///< the lengths of the axis
};
} // namespace

/// Returns the windows that a gather takes from an axis, each of which is a row
/// of a matrix of constant indices; nullopt if there are none.
static std::optional<nn::AxisWindows> readWindows(nn::GatherOp op) {
  auto indices = TensorData::get(op.getIndices());
  if (!indices || indices->getShape().size() != 2 ||
      !indices->getElementType().isInteger(64))
    return std::nullopt;
  const int64_t rows = indices->getShape()[0], columns = indices->getShape()[1];
  if (rows < 2 || columns < 1)
    return std::nullopt;
  ArrayRef<int64_t> places = indices->getAs<int64_t>();
  if (!llvm::all_of(places, [](int64_t i) { return i >= 0 && i <= INT32_MAX; }))
    return std::nullopt;
  nn::AxisWindows windows;
  windows.kernel = columns;
  windows.stride = places[columns] - places[0];
  windows.dilation = columns > 1 ? places[1] - places[0] : 1;
  windows.before = -places[0];
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (places[row * columns + column] !=
          row * windows.stride + column * windows.dilation - windows.before)
        return std::nullopt;
  return windows;
}

/// Appends to `axes` the axes along which an op that is no convolution or pool
/// reads windows with a stride above 1: a short-time Fourier transform, a
/// gather of windows by constant indices, or a slice with a step.
static void addWindows(Operation *op, std::vector<StridedAxis> &axes) {
  auto add = [&](int64_t axis, const nn::AxisWindows &windows) {
    if (windows.stride > 1 && windows.dilation > 0)
      axes.push_back({windows,
                      nn::getTensorType(op->getOperand(0)).getDimSize(axis),
                      nn::getTensorType(op->getResult(0)).getDimSize(axis)});
  };
  nn::AxisWindows windows;
  if (auto dft = dyn_cast<nn::DftOp>(op)) {
    windows.kernel = static_cast<int64_t>(dft.getLength());
    windows.stride = static_cast<int64_t>(dft.getStep());
    add(static_cast<int64_t>(dft.getAxis()), windows);
  } else if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    if (auto found = readWindows(gather))
      add(static_cast<int64_t>(gather.getAxis()), *found);
  } else if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    for (auto [axis, step] : llvm::enumerate(slice.getSteps())) {
      windows.stride = step;
      windows.before = -slice.getStarts()[axis];
      add(static_cast<int64_t>(axis), windows);
    }
  }
}

/// Returns all strided axes in a module, in the order of its ops.
static std::vector<StridedAxis> listStridedAxes(ModuleOp module) {
  std::vector<StridedAxis> axes;
  module.walk([&](Operation *any) {
    addWindows(any, axes);
    auto op = dyn_cast<nn::AxisOpInterface>(any);
    if (!op)
      return;
    RankedTensorType y = nn::getTensorType(op->getResult(0)),
                     x = nn::getTensorType(op->getOperand(0));
    for (int64_t axis = 0; axis < y.getRank(); ++axis) {
      nn::AxisUse use = nn::getAxisUse(op, axis);
      if (use.kind == nn::AxisKind::windows && use.windows.stride > 1 &&
          use.axes[0] >= 0)
        axes.push_back(
            {use.windows, x.getDimSize(use.axes[0]), y.getDimSize(axis)});
    }
  });
  return axes;
}

/// Returns (length + offset) / divisor, rounded down. If `length` is a
/// quotient, too, the result is one quotient.
static AffineExpr divide(AffineExpr length, int64_t offset, int64_t divisor) {
  AffineBinaryOpExpr quotient = getQuotient(length);
  if (!quotient)
    return (length + offset).floorDiv(divisor);
  if (length != quotient)
    offset +=
        cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(length).getRHS())
            .getValue();
  auto inner = cast<AffineConstantExpr>(quotient.getRHS());
  return (quotient.getLHS() + offset * inner.getValue())
      .floorDiv(divisor * inner.getValue());
}

void nnc::noteQuotients(ArrayRef<ModuleOp> modules, ExpressionFinder &finder) {
  std::vector<std::vector<StridedAxis>> all;
  for (ModuleOp module : modules) {
    all.push_back(listStridedAxes(module));
    if (all.back().size() != all[0].size())
      return;
  }
  for (size_t i = 0; i < all[0].size(); ++i) {
    SmallVector<int64_t> lengths, results;
    for (const auto &axes : all) {
      lengths.push_back(axes[i].operand);
      results.push_back(axes[i].result);
    }
    AffineExpr length = finder.find(lengths);
    if (!length || finder.find(results))
      continue;
    // One window more than there are steps. A pool may round up.
    const nn::AxisWindows &windows = all[0][i].windows;
    int64_t offset =
        windows.before + windows.after - windows.getExtent() + windows.stride;
    if (!finder.addQuotient(divide(length, offset, windows.stride), results) &&
        windows.after + windows.stride <= windows.getExtent())
      finder.addQuotient(
          divide(length, offset + windows.stride - 1, windows.stride), results);
  }
}
