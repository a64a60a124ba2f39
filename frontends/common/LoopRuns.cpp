//===- LoopRuns.cpp - How often a loop runs -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LoopRuns.h"

#include "frontends/common/Elements.h"
#include "frontends/common/Fold.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// The largest number of ops that are evaluated to count the iterations of a
/// loop, which takes less than a second.
static constexpr int64_t kMostSteps = 1 << 17;

namespace {
/// An evaluator of the condition of a loop, iteration by iteration, from values
/// that are known at compile time: constants, the number of the iteration, and
/// carried values that begin as constants and are computed from such values.
class ConditionRuns {
public:
  ConditionRuns(Value condition, Value run, Value isRunning,
                ArrayRef<Carried> carried)
      : condition(condition), run(run), isRunning(isRunning), carried(carried) {
  }

  /// Returns false if the condition does not depend on any known value.
  bool prepare();
  std::optional<LoopRuns> count(std::optional<int64_t> limit);

private:
  Block *getBlock() { return run.getParentBlock(); }
  bool isKnowable(Operation *op) const;
  bool findKnowable();
  std::optional<TensorData> evaluate(Operation *op) const;
  void setKnown(Value value, const std::optional<TensorData> &data);

  Value condition, run, isRunning;
  ArrayRef<Carried> carried;
  /// The values of the body that can be known in every iteration.
  DenseSet<Value> knowable;
  /// The carried values that the condition depends on, and the ops that compute
  /// it and these, in order.
  SmallVector<const Carried *> needed;
  SmallVector<Operation *> ops;
  /// The known values of the current iteration.
  DenseMap<Value, TensorData> known;
};
} // namespace

/// Returns "logical_and" or "logical_or" if the op is that operation on single
/// bools, otherwise an empty string.
static StringRef getLogical(Operation *op) {
  auto elementwise = dyn_cast<nn::ElementwiseOpInterface>(op);
  StringRef function = elementwise ? elementwise.getFunction() : StringRef();
  bool isOne =
      (function == "logical_and" || function == "logical_or") &&
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() == 1;
  return isOne ? function : StringRef();
}

static bool isTrue(const TensorData &data) { return data.getBytes()[0] != 0; }

static TensorData makeOne(Value like, int64_t value) {
  return TensorData::splat(cast<RankedTensorType>(like.getType()),
                           static_cast<double>(value));
}

bool ConditionRuns::isKnowable(Operation *op) const {
  if (op->getNumResults() != 1)
    return false;
  if (isa<nn::ConstantOp>(op))
    return readElements(op->getResult(0)).has_value();
  auto isKnown = [&](Value operand) { return knowable.contains(operand); };
  if (!getLogical(op).empty())
    return llvm::any_of(op->getOperands(), isKnown);
  return isa<nn::ReshapeOp, nn::ElementwiseOpInterface, nn::RoutineOpInterface>(
             op) &&
         llvm::all_of(op->getOperands(), isKnown);
}

/// Computes which values are knowable under the assumption that the carried
/// values in `knowable` are. If the assumption is wrong for some of these,
/// removes them and returns false.
bool ConditionRuns::findKnowable() {
  for (Operation &op : *getBlock())
    if (isKnowable(&op))
      knowable.insert(op.getResult(0));
  SmallVector<Value> lost;
  for (const Carried &value : carried)
    if (knowable.contains(value.argument) && !knowable.contains(value.next))
      lost.push_back(value.argument);
  if (lost.empty())
    return true;
  for (Operation &op : *getBlock())
    for (Value result : op.getResults())
      knowable.erase(result);
  for (Value argument : lost)
    knowable.erase(argument);
  return false;
}

bool ConditionRuns::prepare() {
  knowable.insert(run);
  if (isRunning)
    knowable.insert(isRunning);
  for (const Carried &value : carried)
    if (readElements(value.init))
      knowable.insert(value.argument);
  while (!findKnowable())
    ;
  if (!knowable.contains(condition))
    return false;
  llvm::SetVector<Value> values;
  values.insert(condition);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    for (const Carried &other : carried)
      if (other.argument == value) {
        needed.push_back(&other);
        values.insert(other.next);
        known[value] = *TensorData::get(other.init);
      }
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        if (knowable.contains(operand))
          values.insert(operand);
  }
  if (isRunning)
    known[isRunning] = makeOne(isRunning, 1);
  for (Operation &op : *getBlock()) {
    if (op.getNumResults() != 1 || !values.contains(op.getResult(0)))
      continue;
    if (auto constant = dyn_cast<nn::ConstantOp>(op))
      known[constant] = *TensorData::get(constant.getValue());
    else
      ops.push_back(&op);
  }
  return true;
}

/// Returns the result of an op if its known operands determine it.
std::optional<TensorData> ConditionRuns::evaluate(Operation *op) const {
  StringRef logical = getLogical(op);
  SmallVector<TensorData> operands;
  bool isComplete = true;
  for (Value operand : op->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end()) {
      isComplete = false;
      continue;
    }
    operands.push_back(found->second);
    // One operand alone may determine the result.
    if (!logical.empty() && isTrue(found->second) == (logical == "logical_or"))
      return makeOne(op->getResult(0), logical == "logical_or");
  }
  if (!isComplete)
    return std::nullopt;
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op))
    return operands.front().withType(reshape.getType());
  return foldShapes(op, operands);
}

void ConditionRuns::setKnown(Value value,
                             const std::optional<TensorData> &data) {
  if (data)
    known[value] = *data;
  else
    known.erase(value);
}

std::optional<LoopRuns> ConditionRuns::count(std::optional<int64_t> limit) {
  bool isExact = true;
  int64_t steps = 0;
  for (int64_t number = 0; !limit || number < *limit; ++number) {
    steps += 1 + ops.size();
    if (steps > kMostSteps)
      return std::nullopt;
    known[run] = makeOne(run, number);
    for (Operation *op : ops)
      setKnown(op->getResult(0), evaluate(op));
    auto found = known.find(condition);
    if (found != known.end() && !isTrue(found->second))
      return LoopRuns{number + 1, isExact};
    isExact &= found != known.end();
    // All values are read before any is set, because carried values may be
    // swapped.
    SmallVector<std::optional<TensorData>> next;
    for (const Carried *value : needed) {
      auto data = known.find(value->next);
      next.push_back(data == known.end() ? std::nullopt
                                         : std::optional(data->second));
    }
    for (auto [value, data] : llvm::zip_equal(needed, next))
      setKnown(value->argument, data);
  }
  return LoopRuns{*limit, isExact};
}

std::optional<LoopRuns>
nnc::frontends::countRuns(Value condition, Value run, Value isRunning,
                          ArrayRef<Carried> carried,
                          std::optional<int64_t> limit) {
  ConditionRuns runs(condition, run, isRunning, carried);
  return runs.prepare() ? runs.count(limit) : std::nullopt;
}
