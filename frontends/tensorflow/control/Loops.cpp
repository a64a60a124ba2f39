//===- Loops.cpp - While --------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The body of a loop becomes a function that nn.loop runs. A loop with a known
// number of runs is imported run by run instead where these are few, or where
// they differ in more than the values that they compute. Lists of tensors are
// carried as tensors; where each run sets the element of its own number, the
// elements are collected.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LoopRuns.h"
#include "frontends/tensorflow/control/Control.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// The largest number of runs of a loop that is imported run by run.
static constexpr int64_t kMaxRuns = 4096;
/// A loop is imported run by run if its runs have at most this number of nodes
/// in all.
static constexpr int64_t kFewNodes = 32;

/// Imports the condition of a loop; null after an error.
static Value importCondition(Layer &layer, ArrayRef<Passed> values) {
  SmallVector<Passed> results;
  if (!layer.inlineFunction(layer.getFunction("cond"), values, results))
    return {};
  if (results.size() != 1 || !results[0].isTensor() ||
      getNumElements(results[0].value) != 1)
    return layer.broken("has a condition that is not one bool");
  return layer.castTo(layer.reshape(results[0].value, {}),
                      layer.getBuilder().getI1Type());
}

/// Imports one run of the body. Returns false after an error.
static bool importBody(Layer &layer, ArrayRef<Passed> values,
                       SmallVectorImpl<Passed> &next) {
  if (!layer.inlineFunction(layer.getFunction("body"), values, next))
    return false;
  bool fits = next.size() == values.size();
  for (size_t i = 0; fits && i < next.size(); ++i)
    fits = next[i].kind == values[i].kind &&
           (!next[i].hasValue() || !values[i].hasValue() ||
            getElement(next[i].value) == getElement(values[i].value));
  if (!fits)
    layer.broken("has a body whose results are of another number or of other "
                 "types than the " +
                 Twine(values.size()) + " values that it is given");
  return fits;
}

namespace {
/// A value that a loop carries from run to run.
struct LoopValue : Carried {
  /// Its number among the values of the loop, behind which the variables that
  /// the model assigns follow.
  size_t index;
  bool isKept = false; ///< no run changes it
  /// The value that each run puts into a list at the place of its number; null
  /// for other values.
  Value collected = {};

  bool isCarried() const { return !isKept && !collected; }
};

/// An importer of a loop whose body becomes a function.
class LoopImporter {
public:
  LoopImporter(Layer &layer, ArrayRef<Passed> values)
      : layer(layer), importer(layer.getImporter()), values(values),
        body(importer.getBuilder(), nameOfBody(layer, "run"), layer.getLoc()) {}

  /// Imports the body and the condition of a run. Returns false after an error.
  bool importRun();
  /// Returns the number of runs of the loop if it has any; nullopt if the
  /// network determines it.
  std::optional<int64_t> countRuns();
  /// Creates the nn.loop. `first` is the condition before the first run. If
  /// `runs` is given, the loop has that number of runs and no condition.
  void finish(Value first, std::optional<int64_t> runs);
  void erase() { body.erase(); }
  /// Returns the number of ops of the body.
  int64_t countOps() { return int64_t(body.getBlock().getOperations().size()); }

private:
  void captureKept();
  void collectElements(int64_t runs);
  void dropCondition();

  Layer &layer;
  GraphImporter &importer;
  ArrayRef<Passed> values;
  Body body;
  Value condition; ///< whether another run follows
  SmallVector<LoopValue> all;
};
} // namespace

/// Returns true if the body gives on its argument `i` as it is.
static bool isGivenOn(const Graph &body, size_t i) {
  if (i >= body.results.size() || i >= body.arguments.size())
    return false;
  StringRef result = body.results[i];
  for (int steps = 0; steps < 64; ++steps) {
    Reference reference = parseReference(result);
    const pb::NodeDef *node = body.nodes.lookup(reference.node);
    if (!node) {
      Reference argument = parseReference(body.arguments[i]);
      return reference.node == argument.node &&
             reference.index == argument.index;
    }
    if (node->op() != "Identity" || node->input().empty())
      return false;
    result = node->input(0);
  }
  return false;
}

bool LoopImporter::importRun() {
  const Graph *function =
      importer.findFunction(layer.getFunction("body"), layer);
  if (!function)
    return false;
  Builder &builder = layer.getBuilder();
  body.addArgument(RankedTensorType::get({}, builder.getI64Type()));
  body.addArgument(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Passed> given = llvm::to_vector(values), next;
  // Constants that no run changes stay known in the body.
  auto isConstant = [&](size_t i) {
    return values[i].hasValue() &&
           values[i].value.getDefiningOp<nn::ConstantOp>() &&
           isGivenOn(*function, i);
  };
  for (auto [i, value] : llvm::enumerate(given))
    if (value.hasValue() && !isConstant(i))
      value.value = body.addArgument(value.value.getType());
  for (auto [i, value] : llvm::enumerate(given))
    if (isConstant(i))
      value.value = body.capture(value.value);
  SmallVector<Value> before = importer.getVariables(), variables, assigned;
  {
    GraphImporter::BodyScope scope(importer, [&](Value value) {
      return body.addArgument(value.getType());
    });
    llvm::append_range(variables, scope.getGiven());
    if (!importBody(layer, given, next))
      return false;
    condition = importCondition(layer, next);
    assigned = importer.getVariables();
  }
  if (!condition)
    return false;
  for (auto [i, value] : llvm::enumerate(values)) {
    bool fits =
        next[i].hasValue() == value.hasValue() &&
        next[i].length == value.length &&
        (value.hasValue() ? next[i].value.getType() == given[i].value.getType()
                          : next[i].name == given[i].name);
    if (!fits) {
      layer.unsupported(
          "carries value " + Twine(i) +
          ", which is of another shape in the next run; nnc needs shapes that "
          "stay, as it is not known when compiling how often the loop runs");
      return false;
    }
    if (value.hasValue() && !isConstant(i))
      all.push_back({{value.value, given[i].value, next[i].value}, i});
  }
  for (size_t i = 0; i < before.size(); ++i)
    all.push_back({{before[i], variables[i], assigned[i]}, values.size() + i});
  return true;
}

std::optional<int64_t> LoopImporter::countRuns() {
  SmallVector<Carried> carried(all.begin(), all.end());
  Block &block = body.getBlock();
  auto found =
      frontends::countRuns(condition, block.getArgument(0),
                           block.getArgument(1), carried, std::nullopt);
  return found && found->isExact ? std::optional(found->most) : std::nullopt;
}

/// Captures the values that no run changes.
void LoopImporter::captureKept() {
  OpBuilder &builder = importer.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  for (LoopValue &value : all) {
    if (value.next != value.argument)
      continue;
    builder.setInsertionPointToStart(&body.getBlock());
    auto argument = cast<BlockArgument>(value.argument);
    Value captured = body.capture(value.init);
    argument.replaceAllUsesWith(captured);
    for (LoopValue &other : all)
      if (!other.isKept && &other != &value && other.next == argument)
        other.next = captured;
    body.getBlock().eraseArgument(argument.getArgNumber());
    value.isKept = true;
  }
}

/// Returns the value that `x` is, behind ops that leave a number as it is.
static Value skipMoves(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::CastOp>(op))
      break;
    x = op->getOperand(0);
  }
  return x;
}

/// Finds the lists in which each of `runs` runs sets the element of its own
/// number, and that nothing else reads.
void LoopImporter::collectElements(int64_t runs) {
  // The numbers that count the runs from 0 on.
  SmallVector<Value> counters = {Value(body.getBlock().getArgument(0))};
  for (const LoopValue &value : all) {
    if (value.isKept)
      continue;
    auto first = readElements(value.init);
    auto add = value.next.getDefiningOp<nn::AddOp>();
    if (!first || first->ints.size() != 1 || first->ints[0] != 0 || !add)
      continue;
    for (auto [a, b] : {std::pair(0, 1), std::pair(1, 0)}) {
      auto step = readElements(add->getOperand(b));
      if (add->getOperand(a) == value.argument && step &&
          step->ints.size() == 1 && step->ints[0] == 1)
        counters.push_back(value.argument);
    }
  }
  for (LoopValue &value : all) {
    if (value.isKept)
      continue;
    auto scatter = value.next.getDefiningOp<nn::ScatterOp>();
    bool fits = scatter && value.index < values.size() &&
                values[value.index].kind == Passed::list &&
                values[value.index].length == runs &&
                scatter.getX() == value.argument &&
                scatter.getKind() == nn::ScatterKind::replace &&
                value.argument.hasOneUse() && value.next.use_empty() &&
                llvm::is_contained(counters, skipMoves(scatter.getPositions()));
    if (!fits)
      continue;
    Sizes shape(getShape(scatter.getUpdates()).drop_front());
    value.collected = layer.reshape(scatter.getUpdates(), shape);
    scatter.erase();
    body.getBlock().eraseArgument(
        cast<BlockArgument>(value.argument).getArgNumber());
  }
}

/// Replaces the body's argument for the condition by a constant.
void LoopImporter::dropCondition() {
  OpBuilder &builder = importer.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body.getBlock());
  Value isTrue = layer.splat(1, layer.getBuilder().getI1Type());
  body.getBlock().getArgument(1).replaceAllUsesWith(isTrue);
  body.getBlock().eraseArgument(1);
}

void LoopImporter::finish(Value first, std::optional<int64_t> runs) {
  captureKept();
  SmallVector<Value> inits, given, collected;
  if (runs) {
    collectElements(*runs);
    dropCondition();
  } else {
    inits.push_back(first);
    given.push_back(condition);
  }
  for (const LoopValue &value : all)
    if (value.isCarried()) {
      inits.push_back(value.init);
      given.push_back(value.next);
    }
  SmallVector<Type> types(ValueRange(given).getTypes());
  for (const LoopValue &value : all) {
    if (!value.collected)
      continue;
    Sizes shape = {*runs};
    llvm::append_range(shape, getShape(value.collected));
    types.push_back(RankedTensorType::get(shape, getElement(value.collected)));
    given.push_back(value.collected);
  }
  body.finish(given);
  body.dropUnread();
  auto loop = importer.getBuilder().create<nn::LoopOp>(
      layer.getLoc(), types, /*count=*/Value(), inits, body.getCaptured(),
      body.getFunction().getSymName(),
      runs.value_or(std::numeric_limits<int64_t>::max()),
      /*conditional=*/!runs);
  auto last = std::next(loop.getLast().begin(), runs ? 0 : 1);
  auto parts = loop.getCollected().begin();
  SmallVector<Passed> results = llvm::to_vector(values);
  for (const LoopValue &value : all) {
    Value result = value.isKept      ? value.init
                   : value.collected ? Value(*parts++)
                                     : Value(*last++);
    if (value.index < values.size())
      results[value.index].value = result;
    else
      importer.setVariable(value.index - values.size(), result);
  }
  setResults(layer, results);
}

/// Finds out, by an import that is dropped, the shapes of elements of lists
/// that are empty before the loop and that the loop fills with elements of one
/// shape. Returns false after an error.
static bool fillLists(Layer &layer, SmallVectorImpl<Passed> &values) {
  auto isOpen = [](const Passed &value) {
    return value.kind == Passed::list && !value.hasValue() && value.length > 0;
  };
  if (llvm::none_of(values, isOpen))
    return true;
  SmallVector<Type> types(values.size());
  {
    Body trial(layer.getImporter().getBuilder(), nameOfBody(layer, "trial"),
               layer.getLoc());
    SmallVector<Passed> given = llvm::to_vector(values), next;
    for (Passed &value : given)
      if (value.hasValue())
        value.value = trial.addArgument(value.value.getType());
    Attempt attempt(layer.getImporter());
    GraphImporter::BodyScope scope(
        layer.getImporter(), [&](Value value) { return trial.capture(value); });
    if (layer.inlineFunction(layer.getFunction("body"), given, next) &&
        next.size() == values.size())
      for (auto [i, value] : llvm::enumerate(next))
        if (isOpen(values[i]) && value.hasValue())
          types[i] = value.value.getType();
    trial.erase();
  }
  for (auto [value, type] : llvm::zip(values, types))
    if (type) {
      auto tensor = cast<RankedTensorType>(type);
      value.value =
          layer.splat(0.0, tensor.getElementType(), tensor.getShape());
      if (!value.value)
        return false;
    }
  return true;
}

/// Imports the loop run by run. Its condition must be known in every run.
static void unroll(Layer &layer, SmallVector<Passed> values) {
  for (int64_t runs = 0;; ++runs) {
    Value condition = importCondition(layer, values);
    if (!condition)
      return;
    auto known = readElements(condition);
    if (!known) {
      layer.unsupported("has a number of runs that the network computes, and "
                        "runs that differ in more than their values");
      return;
    }
    if (!known->ints[0]) {
      setResults(layer, values);
      return;
    }
    if (runs == kMaxRuns) {
      layer.fail(ImportStatus::limit,
                 "runs more than " + Twine(kMaxRuns) + " times");
      return;
    }
    SmallVector<Passed> next;
    if (!importBody(layer, values, next))
      return;
    values = std::move(next);
  }
}

Value convertWhile(Layer &layer) {
  SmallVector<Passed> values = llvm::to_vector(layer.getInputs());
  Value condition = importCondition(layer, values);
  if (!condition)
    return {};
  auto known = readElements(condition);
  if (known && !known->ints[0]) {
    setResults(layer, values);
    return {};
  }
  SmallVector<Passed> filled = values;
  if (!fillLists(layer, filled))
    return {};
  if (!known) {
    LoopImporter loop(layer, filled);
    if (loop.importRun())
      loop.finish(condition, std::nullopt);
    else
      loop.erase();
    return {};
  }
  {
    Attempt attempt(layer.getImporter());
    LoopImporter loop(layer, filled);
    if (loop.importRun() && !attempt.hasFailed()) {
      auto runs = loop.countRuns();
      // A loop that data may end has to be one, as its first run takes place.
      if (!runs || *runs * loop.countOps() > kFewNodes) {
        loop.finish(condition, runs);
        return {};
      }
    }
    loop.erase();
    if (layer.getImporter().hasTooManyNodes()) {
      attempt.report();
      return {};
    }
  }
  unroll(layer, std::move(values));
  return {};
}

} // namespace nnc::tensorflow
