//===- DecidingInputs.cpp - Inputs that decide which branch runs ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/DecidingInputs.h"

#include "dialects/evaluate/Evaluate.h"
#include "frontends/common/Elements.h"
#include "frontends/common/LayerBuilder.h"
#include "frontends/common/SizeGuesses.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// The largest number of ops of a condition that is analyzed. A condition on an
/// option consists of a few comparisons.
static constexpr size_t kMostOps = 64;

namespace {
/// The ops that compute a condition, from its inputs on.
class Computation {
public:
  using GetOutside = llvm::function_ref<Value(BlockArgument)>;
  explicit Computation(GetOutside getOutside) : getOutside(getOutside) {}

  /// Adds the ops that compute `value`. Returns false if they use anything
  /// other than inputs of one element, constants and ops on these.
  bool add(Value value);
  /// Returns the element of `value` if the element of the only input is
  /// `input`.
  std::optional<double> evaluate(Value value, double input);

  llvm::MapVector<BlockArgument, StringRef> inputs;
  std::vector<double> constants; ///< candidates for comparisons

private:
  FailureOr<TensorData> compute(Value value, double input);
  bool addArgument(BlockArgument argument);

  GetOutside getOutside;
  llvm::DenseSet<Value> added;
};
} // namespace

bool Computation::addArgument(BlockArgument argument) {
  if (Value outside = getOutside(argument))
    return add(outside);
  StringAttr name = getInputName(argument);
  if (!name || getNumElements(argument) != 1 ||
      !isReadable(getElement(argument)))
    return false;
  inputs.insert({argument, name.getValue()});
  return true;
}

bool Computation::add(Value value) {
  if (!added.insert(value).second)
    return true;
  if (added.size() > kMostOps)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return addArgument(argument);
  Operation *op = value.getDefiningOp();
  if (auto known = readElements(value)) {
    llvm::append_range(constants, known->ints);
    llvm::append_range(constants, known->reals);
    return true;
  }
  return op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return add(operand); });
}

FailureOr<TensorData> Computation::compute(Value value, double input) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Value outside = getOutside(argument))
      return compute(outside, input);
    return TensorData::splat(cast<RankedTensorType>(value.getType()), input);
  }
  if (auto known = TensorData::get(value))
    return *known;
  Operation *op = value.getDefiningOp();
  SmallVector<TensorData> operands;
  for (Value operand : op->getOperands()) {
    auto known = compute(operand, input);
    if (failed(known))
      return failure();
    operands.push_back(*known);
  }
  // A value of a type that exists only during the import is a cast of its
  // carrier.
  return isa<UnrealizedConversionCastOp>(op) ? FailureOr(operands[0])
                                             : nnc::evaluate(op, operands);
}

std::optional<double> Computation::evaluate(Value value, double input) {
  auto result = compute(value, input);
  if (failed(result) || result->getNumElements() != 1)
    return std::nullopt;
  return result->getReal(0);
}

std::string DecidingInputs::getOptions(bool wanted) const {
  std::string options;
  for (const std::string &name : names) {
    bool isKnown = names.size() == 1 && !values[wanted].empty();
    options += (options.empty() ? "--value=" : " and --value=") +
               quoteForShell(name + "=" + (isKnown ? values[wanted] : "..."));
  }
  return options;
}

std::optional<DecidingInputs> nnc::frontends::findDecidingInputs(
    Value condition, llvm::function_ref<Value(BlockArgument)> getOutside) {
  Computation computation(getOutside);
  if (!computation.add(condition) || computation.inputs.empty())
    return std::nullopt;
  DecidingInputs found;
  for (auto [argument, name] : computation.inputs)
    found.names.push_back(name.str());
  if (found.names.size() != 1)
    return found;
  Type element = getElement(computation.inputs.front().first);
  std::vector<double> candidates = computation.constants;
  for (double value : computation.constants)
    for (double step : {1, -1})
      candidates.push_back(value + step);
  candidates.insert(candidates.end(), {0, 1});
  for (double value : candidates) {
    auto integer = dyn_cast<IntegerType>(element);
    bool fits = !integer || (value == std::trunc(value) &&
                             (value >= 0 || !integer.isUnsigned()) &&
                             (integer.getWidth() > 1 || value <= 1));
    auto result = fits ? computation.evaluate(condition, value) : std::nullopt;
    if (result && found.values[*result != 0].empty())
      found.values[*result != 0] =
          integer ? std::to_string(int64_t(value)) : toString(value);
  }
  return found;
}
