//===- Control.cpp - Operators that run subgraphs -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The subgraph of a CALL and the branch of an IF with a known condition are
// imported in place. If the network computes the condition, both branches
// become functions, of which nn.if runs one. The body of a loop becomes a
// function that nn.loop runs. A loop with a known number of iterations is
// unrolled instead if these are few or if they differ in more than the values
// that they compute.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Appended.h"
#include "frontends/common/Body.h"
#include "frontends/common/LoopRuns.h"
#include "frontends/tflite/graph/Layer.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// The largest number of iterations of a loop that is unrolled. GraphImporter
/// also limits the number of operators of all iterations.
static constexpr int64_t kMaxRuns = 4096;
/// A loop is always unrolled if its iterations have at most this number of
/// operators in all.
static constexpr int64_t kFewOperators = 32;

/// Returns the inputs from `first` on; nullopt if one has no value.
static std::optional<SmallVector<Passed>> getPassed(Layer &layer,
                                                    size_t first) {
  SmallVector<Passed> passed;
  for (size_t i = first; i < layer.getNumInputs(); ++i) {
    if (!layer.hasInput(i)) {
      layer.broken("lacks operand " + Twine(i));
      return std::nullopt;
    }
    passed.push_back(layer.getPassed(i));
    if (!passed.back().isHandle && !passed.back().value)
      return std::nullopt;
  }
  return passed;
}

/// Sets the layer's results, and returns the first.
static Value setResults(Layer &layer, ArrayRef<Passed> results) {
  if (results.size() != layer.getNumResults())
    return layer.broken("has " + Twine(layer.getNumResults()) +
                        " results; its subgraph has " + Twine(results.size()));
  for (auto [i, result] : llvm::enumerate(results))
    layer.setPassed(i, result);
  return results.empty() ? Value() : results[0].value;
}

/// Imports a subgraph, whose index is checked here for being negative and by
/// the importer for being too large.
static bool inlineGraph(Layer &layer, int32_t subgraph, ArrayRef<Passed> given,
                        SmallVectorImpl<Passed> &results) {
  if (subgraph >= 0)
    return layer.inlineGraph(static_cast<uint32_t>(subgraph), given, results);
  layer.broken("calls subgraph " + Twine(subgraph));
  return false;
}

Value convertCall(Layer &layer) {
  const auto *options = layer.getOptions<fb::CallOptions>(fb::Options::Call);
  auto inputs = getPassed(layer, 0);
  SmallVector<Passed> results;
  if (!options || !inputs ||
      !layer.inlineGraph(options->subgraph(), *inputs, results))
    return {};
  return setResults(layer, results);
}

//===----------------------------------------------------------------------===//
// IF
//===----------------------------------------------------------------------===//

/// Returns true if a value is a single bool; otherwise reports an error.
static bool isCondition(Layer &layer, Value condition) {
  if (condition && getElement(condition).isInteger(1) &&
      getNumElements(condition) == 1)
    return true;
  if (condition)
    layer.broken("needs a condition that is one BOOL, not " +
                 getTypeName(getElement(condition)) + " of shape " +
                 toString(getShape(condition)));
  return false;
}

namespace {
/// A branch of an IF as a function that the network runs conditionally.
/// Variables are arguments and results of the function.
struct Branch {
  Body body;
  SmallVector<Passed> results;
  /// The values of variables at the beginning and at the end of the branch.
  SmallVector<Value> first, last;

  Branch(Layer &layer, StringRef name)
      : body(layer.getImporter().getBuilder(),
             (nn::getModelName(layer.getLoc(), "subgraph") + "_" + name).str(),
             layer.getLoc()) {}
};
} // namespace

/// Imports a subgraph into the function of a branch. Returns false after an
/// error.
static bool importBranch(Layer &layer, Branch &branch, int32_t subgraph,
                         ArrayRef<Passed> inputs, ArrayRef<Value> variables) {
  GraphImporter &importer = layer.getImporter();
  SmallVector<Passed> given(inputs);
  for (Passed &input : given)
    if (!input.isHandle)
      input.value = branch.body.capture(input.value);
  for (Value value : variables)
    branch.first.push_back(branch.body.capture(value));
  importer.setVariableValues(branch.first);
  bool isImported = inlineGraph(layer, subgraph, given, branch.results);
  branch.last = importer.getVariableValues();
  importer.setVariableValues(variables);
  return isImported;
}

/// Ends the function of a branch. It returns the results that are values and
/// the variables in the set `isChanged`.
static void finishBranch(Branch &branch,
                         const llvm::SmallBitVector &isChanged) {
  SmallVector<Value> given;
  for (const Passed &result : branch.results)
    if (!result.isHandle)
      given.push_back(result.value);
  for (unsigned i : isChanged.set_bits())
    given.push_back(branch.last[i]);
  branch.body.finish(given);
  branch.body.dropUnread();
}

/// Returns true if the results of two branches have the same types; otherwise
/// reports an error.
static bool areAlike(Layer &layer, ArrayRef<Passed> results,
                     ArrayRef<Passed> others) {
  if (results.size() != others.size()) {
    layer.broken("has branches with " + Twine(results.size()) + " and " +
                 Twine(others.size()) + " results");
    return false;
  }
  for (auto [result, other] : llvm::zip_equal(results, others)) {
    if (result.isHandle != other.isHandle || result.handle != other.handle) {
      layer.unsupported("chooses a variable depending on what the network "
                        "computes");
      return false;
    }
    Value a = result.value, b = other.value;
    if (!result.isHandle && a.getType() != b.getType()) {
      layer.unsupported(
          "gives " + getTypeName(getElement(a)) + " of shape " +
          toString(getShape(a)) + " or " + getTypeName(getElement(b)) +
          " of shape " + toString(getShape(b)) +
          ", depending on what the network computes; nnc needs branches whose "
          "results are alike");
      return false;
    }
  }
  return true;
}

/// Imports both branches as functions of an nn.if. Changed variables are
/// additional results of the functions.
static Value chooseBranch(Layer &layer, Value condition,
                          const fb::IfOptions &options,
                          ArrayRef<Passed> inputs) {
  GraphImporter &importer = layer.getImporter();
  if (importer.isPreparing())
    return layer.unsupported("prepares the first run in a way that the network "
                             "computes; nnc handles constants");
  bool before = importer.isConditional();
  importer.setConditional(true);
  auto restore =
      llvm::make_scope_exit([&] { importer.setConditional(before); });
  condition = layer.reshape(condition, {});
  SmallVector<Value> start = importer.getVariableValues();
  Branch taken(layer, "then");
  bool isImported =
      importBranch(layer, taken, options.then_subgraph(), inputs, start);
  taken.body.setOutside();
  Branch other(layer, "else");
  isImported = isImported && importBranch(layer, other, options.else_subgraph(),
                                          inputs, start);
  other.body.setOutside();
  SmallVector<Value> known = importer.getVariableValues();
  if (!isImported || known.size() != start.size()) {
    other.body.erase();
    taken.body.erase();
    // If a branch has created variables, both are imported again, now with
    // these variables.
    return isImported ? chooseBranch(layer, condition, options, inputs)
                      : Value();
  }
  llvm::SmallBitVector isChanged(start.size());
  for (unsigned i = 0; i < start.size(); ++i)
    if (taken.last[i] != taken.first[i] || other.last[i] != other.first[i])
      isChanged.set(i);
  if (!areAlike(layer, taken.results, other.results)) {
    other.body.erase();
    taken.body.erase();
    return {};
  }
  finishBranch(other, isChanged);
  finishBranch(taken, isChanged);
  SmallVector<Value> chosen = createIf(importer.getBuilder(), layer.getLoc(),
                                       condition, taken.body, other.body);
  auto next = chosen.begin();
  for (Passed &result : taken.results)
    if (!result.isHandle)
      result.value = *next++;
  for (unsigned i : isChanged.set_bits())
    start[i] = *next++;
  importer.setVariableValues(start);
  return setResults(layer, taken.results);
}

Value convertIf(Layer &layer) {
  const auto *options = layer.getOptions<fb::IfOptions>(fb::Options::If);
  Value condition = layer.getInput(0);
  auto inputs = getPassed(layer, 1);
  if (!options || !inputs || !isCondition(layer, condition))
    return {};
  auto known = readElements(condition);
  if (!known)
    return chooseBranch(layer, condition, *options, *inputs);
  SmallVector<Passed> results;
  if (!inlineGraph(layer,
                   known->ints[0] ? options->then_subgraph()
                                  : options->else_subgraph(),
                   *inputs, results))
    return {};
  return setResults(layer, results);
}

//===----------------------------------------------------------------------===//
// WHILE
//===----------------------------------------------------------------------===//

/// Imports the condition of a loop and returns its value; null after an error.
static Value getCondition(Layer &layer, int32_t subgraph,
                          ArrayRef<Passed> values) {
  SmallVector<Passed> results;
  if (!inlineGraph(layer, subgraph, values, results))
    return {};
  if (results.size() != 1 || results[0].isHandle)
    return layer.broken("has a condition, subgraph " + Twine(subgraph) +
                        ", with " + Twine(results.size()) +
                        " results; needs one BOOL");
  return isCondition(layer, results[0].value) ? results[0].value : Value();
}

/// Returns true if the next values of a loop have the same number and types as
/// the previous ones; otherwise reports an error.
static bool checkNext(Layer &layer, int32_t subgraph, ArrayRef<Passed> values,
                      ArrayRef<Passed> next) {
  bool fits = next.size() == values.size();
  for (size_t i = 0; fits && i < next.size(); ++i)
    fits = next[i].isHandle == values[i].isHandle &&
           getElement(next[i].value) == getElement(values[i].value);
  if (!fits)
    layer.broken("has a body, subgraph " + Twine(subgraph) +
                 ", whose results are of another number or of other types than "
                 "the " +
                 Twine(values.size()) + " values that it is given");
  return fits;
}

/// Returns the number of uses of a tensor as an operand of operators or as an
/// output of the subgraph.
static int64_t countReads(const fb::SubGraph &graph, int32_t tensor) {
  int64_t count = llvm::count(getList(graph.outputs()), tensor);
  if (graph.operators())
    for (const fb::Operator *op : *graph.operators())
      count += llvm::count(getList(op->inputs()), tensor);
  return count;
}

/// Returns the axis along which the body of a loop appends to its value `i`, if
/// neither body nor condition reads the value otherwise; nullopt if there is
/// none.
static std::optional<int64_t> findAppended(const fb::SubGraph &body,
                                           const fb::SubGraph &condition,
                                           size_t i) {
  int32_t given = getList(body.inputs())[i], next = getList(body.outputs())[i];
  if (countReads(body, given) != 1 || countReads(body, next) != 1 ||
      countReads(condition, getList(condition.inputs())[i]) != 0 ||
      !body.operators())
    return std::nullopt;
  for (const fb::Operator *op : *body.operators())
    if (const auto *concat = op->options_as_Concatenation();
        concat && !getList(op->inputs()).empty() &&
        getList(op->inputs())[0] == given &&
        llvm::is_contained(getList(op->outputs()), next))
      return concat->axis();
  return std::nullopt;
}

namespace {
/// A loop-carried value or a variable.
struct LoopValue : Carried {
  /// The axis along which each iteration appends to the value, if it only does
  /// that.
  std::optional<int64_t> appended = std::nullopt;
  /// True if no iteration changes the value.
  bool isKept = false;

  bool isCarried() const { return !appended && !isKept; }
};

/// An importer of a loop whose body becomes a function.
class LoopImporter {
public:
  LoopImporter(Layer &layer, const fb::WhileOptions &options,
               ArrayRef<Passed> values)
      : layer(layer), importer(layer.getImporter()), options(options),
        values(values), start(importer.getVariableValues()), run(layer, "run") {
  }

  /// Imports the body and the condition of an iteration. Returns false after an
  /// error.
  bool importRun();
  /// Returns true if the import of the loop has created variables, so that it
  /// must be repeated.
  bool hasNewVariables() const {
    return importer.getVariableValues().size() != start.size();
  }
  /// Returns the number of iterations of the loop if it has any; nullopt if the
  /// network determines it.
  std::optional<int64_t> countRuns();
  /// Creates the nn.loop. `first` is the condition before the first iteration.
  /// If `runs` is given, the loop has that number of iterations and no
  /// condition. Returns null after an error.
  Value finish(Value first, std::optional<int64_t> runs);
  void erase() { run.body.erase(); }

private:
  void findAppends();
  bool addValue(size_t i, Value argument, Value next);
  void captureKept();
  bool collectAppended(bool isExact);
  void dropCondition();

  Layer &layer;
  GraphImporter &importer;
  const fb::WhileOptions &options;
  ArrayRef<Passed> values;
  /// The values of variables before the loop.
  SmallVector<Value> start;
  Branch run;
  /// The condition on which another iteration follows.
  Value condition;
  /// For each passed value: the axis along which iterations append to it, if
  /// any.
  SmallVector<std::optional<int64_t>> appends;
  /// The passed values that are not handles, then the variables.
  SmallVector<LoopValue> all;
  /// The tensors that iterations append.
  SmallVector<Value> collected;
};
} // namespace

/// Finds the values that iterations append to.
void LoopImporter::findAppends() {
  appends.resize(values.size());
  const fb::Model &model = *importer.getModel().model;
  auto find = [&](int32_t subgraph) -> const fb::SubGraph * {
    bool isThere =
        subgraph >= 0 && uint32_t(subgraph) < model.subgraphs()->size();
    const auto *graph = isThere ? model.subgraphs()->Get(subgraph) : nullptr;
    bool fits = graph && getList(graph->inputs()).size() == values.size();
    return fits ? graph : nullptr;
  };
  const fb::SubGraph *body = find(options.body_subgraph()),
                     *ends = find(options.cond_subgraph());
  if (!body || !ends || getList(body->outputs()).size() != values.size())
    return;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value.isHandle)
      continue;
    int64_t rank = getRank(value.value);
    auto axis = findAppended(*body, *ends, i);
    if (axis && *axis < 0)
      *axis += rank;
    if (axis && *axis >= 0 && *axis < rank)
      appends[i] = axis;
  }
}

bool LoopImporter::addValue(size_t i, Value argument, Value next) {
  bool fits = appends[i] || next.getType() == argument.getType();
  if (fits)
    all.push_back({{values[i].value, argument, next}, appends[i]});
  else
    layer.unsupported("carries value " + Twine(i) +
                      ", which is of another shape in the next run; nnc needs "
                      "shapes that stay, as it is not known when compiling "
                      "how often the loop runs");
  return fits;
}

bool LoopImporter::importRun() {
  findAppends();
  Builder &builder = layer.getBuilder();
  run.body.addArgument(RankedTensorType::get({}, builder.getI64Type()));
  run.body.addArgument(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Passed> given(values), next;
  for (auto [value, axis] : llvm::zip(given, appends)) {
    if (value.isHandle)
      continue;
    auto type = cast<RankedTensorType>(value.value.getType());
    value.value =
        run.body.addArgument(axis ? getAppendedType(type, *axis) : type);
  }
  for (Value value : start)
    run.first.push_back(run.body.addArgument(value.getType()));
  importer.setVariableValues(run.first);
  if (inlineGraph(layer, options.body_subgraph(), given, next) &&
      checkNext(layer, options.body_subgraph(), values, next))
    condition = getCondition(layer, options.cond_subgraph(), next);
  run.last = importer.getVariableValues();
  importer.setVariableValues(start);
  if (!condition)
    return false;
  condition = layer.reshape(condition, {});
  for (auto [i, value, first] : llvm::enumerate(next, given)) {
    if (!value.isHandle && !addValue(i, first.value, value.value))
      return false;
    if (value.isHandle && value.handle != first.handle) {
      layer.unsupported("carries the handle of another variable in the next "
                        "run");
      return false;
    }
  }
  for (auto [init, first, last] : llvm::zip(start, run.first, run.last))
    all.push_back({{init, first, last}});
  return true;
}

std::optional<int64_t> LoopImporter::countRuns() {
  Block &block = run.body.getBlock();
  SmallVector<Carried> carried;
  for (const LoopValue &value : all)
    if (value.isCarried())
      carried.push_back(value);
  auto found = frontends::countRuns(condition, block.getArgument(0),
                                    block.getArgument(1), carried,
                                    /*limit=*/std::nullopt);
  return found && found->isExact ? std::optional(found->most) : std::nullopt;
}

/// Captures the values that no iteration changes.
void LoopImporter::captureKept() {
  OpBuilder &builder = importer.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  for (LoopValue &value : all) {
    if (value.next != value.argument)
      continue;
    builder.setInsertionPointToStart(&run.body.getBlock());
    auto argument = cast<BlockArgument>(value.argument);
    argument.replaceAllUsesWith(run.body.capture(value.init));
    run.body.getBlock().eraseArgument(argument.getArgNumber());
    value.isKept = true;
  }
}

/// Turns the values that iterations append to into collected ones. Returns
/// false after an error if iterations do anything else with them.
bool LoopImporter::collectAppended(bool isExact) {
  for (LoopValue &value : all) {
    if (!value.appended)
      continue;
    Value part = isExact ? takeAppended(layer, value.argument, value.next,
                                        *value.appended)
                         : Value();
    if (!part) {
      layer.unsupported("carries a value that grows from run to run; nnc needs "
                        "a loop that has as many runs as is known when "
                        "compiling, and appends to it in each of them");
      return false;
    }
    run.body.getBlock().eraseArgument(
        cast<BlockArgument>(value.argument).getArgNumber());
    collected.push_back(part);
  }
  return true;
}

/// Replaces the body's argument for the condition by a constant.
void LoopImporter::dropCondition() {
  OpBuilder &builder = importer.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&run.body.getBlock());
  Value isTrue = layer.splat(1, layer.getBuilder().getI1Type());
  run.body.getBlock().getArgument(1).replaceAllUsesWith(isTrue);
  run.body.getBlock().eraseArgument(1);
}

Value LoopImporter::finish(Value first, std::optional<int64_t> runs) {
  if (!collectAppended(runs.has_value())) {
    erase();
    return {};
  }
  captureKept();
  SmallVector<Value> inits, given;
  if (runs) {
    dropCondition();
  } else {
    given.push_back(condition);
  }
  for (const LoopValue &value : all)
    if (value.isCarried()) {
      inits.push_back(value.init);
      given.push_back(value.next);
    }
  SmallVector<Type> types(ValueRange(given).getTypes());
  for (Value part : collected) {
    SmallVector<int64_t> shape = {*runs};
    llvm::append_range(shape, getShape(part));
    types.push_back(RankedTensorType::get(shape, getElement(part)));
    given.push_back(part);
  }
  run.body.finish(given);
  run.body.dropUnread();
  if (!runs)
    inits.insert(inits.begin(), layer.reshape(first, {}));
  auto loop = importer.getBuilder().create<nn::LoopOp>(
      layer.getLoc(), types, /*count=*/Value(), inits, run.body.getCaptured(),
      run.body.getFunction().getSymName(),
      runs.value_or(std::numeric_limits<int64_t>::max()),
      /*conditional=*/!runs);
  auto last = std::next(loop.getLast().begin(), runs ? 0 : 1);
  auto parts = loop.getCollected().begin();
  SmallVector<Value> results;
  for (const LoopValue &value : all)
    results.push_back(value.isKept     ? value.init
                      : value.appended ? joinAppended(layer, value.init,
                                                      *parts++, *value.appended)
                                       : *last++);
  if (llvm::is_contained(results, Value()))
    return {};
  SmallVector<Passed> passed(values);
  auto next = results.begin();
  for (Passed &value : passed)
    if (!value.isHandle)
      value.value = *next++;
  importer.setVariableValues(ArrayRef<Value>(next, results.end()));
  return setResults(layer, passed);
}

/// Returns the number of operators in a loop's body and condition; 0 if such a
/// subgraph does not exist.
static int64_t countOperators(Layer &layer, const fb::WhileOptions &options) {
  const auto *graphs = layer.getImporter().getModel().model->subgraphs();
  int64_t count = 0;
  for (int32_t subgraph : {options.body_subgraph(), options.cond_subgraph()})
    if (subgraph >= 0 && uint32_t(subgraph) < graphs->size())
      if (const auto *operators = graphs->Get(subgraph)->operators())
        count += operators->size();
  return count;
}

/// Imports a loop as an nn.loop. `condition` is its condition before the first
/// iteration. Returns nullopt without an error if the loop should be unrolled:
/// its condition follows from constants, and its iterations are few or can only
/// be counted by importing them.
static std::optional<Value> convertLoop(Layer &layer,
                                        const fb::WhileOptions &options,
                                        Value condition,
                                        ArrayRef<Passed> values) {
  GraphImporter &importer = layer.getImporter();
  bool isKnown = readElements(condition).has_value();
  if (importer.isPreparing())
    return isKnown ? std::nullopt
                   : std::optional(layer.unsupported(
                         "prepares the first run in a way that the network "
                         "computes; nnc handles constants"));
  bool before = importer.isConditional();
  importer.setConditional(true);
  auto restore =
      llvm::make_scope_exit([&] { importer.setConditional(before); });
  LoopImporter loop(layer, options, values);
  bool isImported = loop.importRun();
  if (!isImported || loop.hasNewVariables()) {
    loop.erase();
    return isImported ? convertLoop(layer, options, condition, values)
                      : std::optional(Value());
  }
  std::optional<int64_t> runs;
  if (isKnown) {
    runs = loop.countRuns();
    if (!runs || *runs * countOperators(layer, options) <= kFewOperators) {
      loop.erase();
      return std::nullopt;
    }
  }
  return loop.finish(condition, runs);
}

/// Imports a loop unrolled. Its condition must be known in every iteration.
static Value unrollLoop(Layer &layer, const fb::WhileOptions &options,
                        SmallVector<Passed> values) {
  for (int64_t runs = 0;; ++runs) {
    Value condition = getCondition(layer, options.cond_subgraph(), values);
    if (!condition)
      return {};
    auto known = readElements(condition);
    if (!known)
      return convertLoop(layer, options, condition, values).value_or(Value());
    if (!known->ints[0])
      return setResults(layer, values);
    if (runs == kMaxRuns)
      return layer.fail(ImportStatus::limit,
                        "runs more than " + Twine(kMaxRuns) + " times");
    SmallVector<Passed> next;
    if (!inlineGraph(layer, options.body_subgraph(), values, next) ||
        !checkNext(layer, options.body_subgraph(), values, next))
      return {};
    values = std::move(next);
  }
}

Value convertWhile(Layer &layer) {
  const auto *options = layer.getOptions<fb::WhileOptions>(fb::Options::While);
  auto values = getPassed(layer, 0);
  if (!options || !values)
    return {};
  Value condition = getCondition(layer, options->cond_subgraph(), *values);
  if (!condition)
    return {};
  auto known = readElements(condition);
  if (!known)
    return convertLoop(layer, *options, condition, *values).value_or(Value());
  if (known->ints[0]) {
    Attempt attempt(layer.getImporter());
    auto found = convertLoop(layer, *options, condition, *values);
    if (found && *found && !attempt.hasFailed())
      return *found;
    if (layer.getImporter().hasTooManyOperators()) {
      attempt.report();
      return {};
    }
  }
  return unrollLoop(layer, *options, std::move(*values));
}

} // namespace nnc::tflite
