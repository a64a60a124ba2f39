//===- Accuracy.cpp - Rounding in rewrites of real arithmetic -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Accuracy.h"

#include "compiler/patterns/Affine.h"
#include "dialects/nn/tensors/TensorData.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The largest number of values that a search visits.
static constexpr size_t kMostValues = 1024;

bool nnc::isPowerOfTwo(double value) {
  int exponent;
  return std::abs(std::frexp(value, &exponent)) == 0.5;
}

static bool isOfFloats(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// Returns true if each element of the result is an element of an operand or a
/// zero.
static bool isMove(Operation *op) {
  return isa<ReshapeOp, TransposeOp, ExpandOp, SliceOp, GatherOp, PadOp,
             ConcatOp, AdaptOp>(op);
}

/// Returns true if each element of the result is an element of an operand,
/// possibly moved, clipped or with its sign changed.
static bool keepsElements(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::max ||
           reduce.getKind() == ReduceKind::min;
  if (auto resize = dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::nearest;
  return isMove(op) ||
         isa<MaxPoolOp, AbsOp, NegOp, ReluOp, ClipOp, MaxOp, MinOp, SelectOp,
             LeakyReluOp, PreluOp, ThresholdedReluOp>(op);
}

/// Returns true if the op rounds its result exactly once, so that every
/// implementation gives the same bits.
static bool isCorrectlyRounded(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return isOfFloats(cast.getX().getType());
  return isa<AddOp, SubOp, MulOp, DivOp, SqrtOp, ReciprocalOp, FmodOp, ModOp>(
      op);
}

/// Returns true if the op is a step function, whose result jumps where an
/// operand changes by one bit.
static bool isStep(Operation *op) {
  if (isa<RoundOp, FloorOp, CeilOp, SignOp, FmodOp, ModOp, ArgMaxOp, ArgMinOp,
          ThresholdedReluOp>(op))
    return true;
  // Comparisons and casts to integers or to bool are steps too.
  return isa<ElementwiseOpInterface>(op) &&
         !isOfFloats(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// Backward search: whether a value has an error of its own
//===----------------------------------------------------------------------===//

/// Returns true if a constant holds whole numbers only.
static bool holdsWholeNumbers(Value constant) {
  std::optional<TensorData> data = TensorData::get(constant);
  if (!data)
    return false;
  for (int64_t i = 0; i < data->getNumElements(); ++i)
    if (double value = data->getReal(i); value != std::trunc(value))
      return false;
  return true;
}

/// Returns true if `value` holds whole numbers, whose sums of products are
/// exact.
static bool isOfWholes(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 16)
    return false;
  if (isa<ConstantOp>(op))
    return holdsWholeNumbers(value);
  if (isa<RoundOp, FloorOp, CeilOp, SignOp>(op))
    return true;
  if (auto cast = dyn_cast<CastOp>(op);
      cast && !isOfFloats(cast.getX().getType()))
    return true;
  if (!isMove(op) &&
      !isa<AddOp, SubOp, MulOp, NegOp, AbsOp, ReluOp, CastOp>(op))
    return false;
  unsigned count = isa<GatherOp>(op) ? 1 : op->getNumOperands();
  return llvm::all_of(op->getOperands().take_front(count), [&](Value operand) {
    return isOfWholes(operand, depth + 1);
  });
}

/// Returns true if a convolution or matrix product rounds. It does not if it
/// selects one element for each result, at most times a power of two, or
/// computes with whole numbers.
static bool sumsProducts(Operation *anchor) {
  std::optional<TensorData> weight = TensorData::get(anchor->getOperand(1));
  std::optional<WeightView> view = getOutputView(anchor);
  if (!weight || !view)
    return true;
  SmallVector<char> isUsed;
  bool rounds = false;
  int64_t index = 0, size = weight->getNumElements();
  for (int64_t outer = 0; outer < view->outer && !rounds; ++outer)
    for (int64_t c = 0; c < view->channels && !rounds; ++c) {
      auto channel = static_cast<size_t>(view->getChannel(outer, c));
      if (channel >= isUsed.size())
        isUsed.resize(channel + 1, 0);
      for (int64_t i = 0; i < view->inner && index < size; ++i) {
        double value = weight->getReal(index++);
        if (value == 0)
          continue;
        rounds |= isUsed[channel] || !isPowerOfTwo(value);
        isUsed[channel] = 1;
        if (rounds)
          break;
      }
    }
  return rounds && !(isOfWholes(anchor->getOperand(0)) &&
                     holdsWholeNumbers(anchor->getOperand(1)));
}

namespace {
/// A backward search for ops with rounding errors of their own among those that
/// compute a value. A value that is reached on several paths is visited once.
class ErrorSearch {
public:
  bool isInexact(Value value) {
    if (!isOfFloats(value.getType()))
      return false;
    auto [known, isNew] = found.try_emplace(value, true);
    if (!isNew)
      return known->second;
    bool result = found.size() <= kMostValues && look(value.getDefiningOp());
    found[value] = result;
    return result;
  }

private:
  bool look(Operation *op) {
    if (!op || isa<ConstantOp>(op))
      return false;
    if (isa<ConvOp, ConvTransposeOp, MatMulOp>(op))
      return sumsProducts(op) ||
             (isInexact(op->getOperand(0)) || isInexact(op->getOperand(1)));
    if (keepsElements(op)) {
      // All real operands that are not constant must be inexact.
      bool any = false;
      for (Value operand : op->getOperands()) {
        if (!isOfFloats(operand.getType()) ||
            operand.getDefiningOp<ConstantOp>())
          continue;
        if (!isInexact(operand))
          return false;
        any = true;
      }
      return any;
    }
    if (isCorrectlyRounded(op))
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isInexact(operand); });
    if (isStep(op) || isa<CastOp>(op))
      return false;
    if (isa<ElementwiseOpInterface, SoftmaxOp, LayerNormOp, BatchNormOp,
            AttentionOp, BlockMatMulOp>(op))
      return true;
    if (isa<ReduceOp, AvgPoolOp, ResizeOp>(op))
      return !isOfWholes(op->getOperand(0));
    return false;
  }

  DenseMap<Value, bool> found;
};
} // namespace

bool nnc::isInexact(Value value) { return ErrorSearch().isInexact(value); }

//===----------------------------------------------------------------------===//
// Forward search: whether the bits of a value matter
//===----------------------------------------------------------------------===//

/// Returns true if a difference in the last bit of an operand is still present
/// in the result of the op, and not drowned in the op's own rounding errors.
static bool passesBits(Operation *op) {
  if (keepsElements(op) || isCorrectlyRounded(op))
    return true;
  // A product whose sums have a single term passes on the bits of its operands.
  return isa<ConvOp, ConvTransposeOp, MatMulOp>(op) && !sumsProducts(op);
}

bool nnc::reachesStep(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (i > kMostValues)
      return true;
    for (Operation *user : reached[i].getUsers()) {
      if (user->getNumResults() == 0)
        continue;
      if (isStep(user))
        return true;
      if (passesBits(user))
        reached.insert(user->result_begin(), user->result_end());
    }
  }
  return false;
}
