//===- Control.cpp - Operators that run subgraphs -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Subgraphs are imported in place: that of a CALL once, those of a loop as
// often as it runs while that is known. Where the network computes a condition,
// they become functions: nn.if runs one of two, nn.loop one several times.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"
#include "frontends/tflite/Layer.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Loops that run more often are nobody's network. GraphImporter limits the
/// operators of all runs, too.
static constexpr int64_t kMaxRuns = 4096;

/// Returns the inputs from `first` on; nullopt where one has no value.
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

/// Whether a value is one truth value; reports where not.
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
/// A subgraph as a function that runs depending on what the network computes.
/// Variables are values that it takes and gives.
struct Branch {
  Body body;
  SmallVector<Passed> results;
  /// The values of variables that it begins with and ends with.
  SmallVector<Value> first, last;

  Branch(Layer &layer, StringRef name)
      : body(layer.getImporter().getBuilder(),
             (nn::getModelName(layer.getLoc(), "subgraph") + "_" + name).str(),
             layer.getLoc()) {}
};
} // namespace

/// Imports a subgraph into the function of a branch; false where that fails.
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

/// Ends the function with the results that are values, and the variables that
/// `isChanged` names.
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

/// Whether two branches give results that differ in their values alone; reports
/// where not.
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

/// Imports both branches as functions, of which one runs. What each makes of
/// variables is a result like others.
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
    // Variables that a branch is the first to use are there the next time.
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

/// Computes the condition of a loop; null, and a report, where that fails.
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

/// Whether the next values of a loop are as many, and of the types of those
/// before; reports where not.
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

/// Imports what one run of a loop does into a function: the next values, the
/// condition behind them, and the next values of variables. Returns them, or
/// nothing where that fails.
static SmallVector<Value> importRun(Layer &layer, Branch &run,
                                    const fb::WhileOptions &options,
                                    ArrayRef<Passed> values,
                                    ArrayRef<Value> variables) {
  GraphImporter &importer = layer.getImporter();
  Builder &builder = layer.getBuilder();
  run.body.addArgument(RankedTensorType::get({}, builder.getI64Type()));
  run.body.addArgument(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Passed> given(values), next;
  for (Passed &value : given)
    if (!value.isHandle)
      value.value = run.body.addArgument(value.value.getType());
  for (Value value : variables)
    run.first.push_back(run.body.addArgument(value.getType()));
  importer.setVariableValues(run.first);
  Value condition;
  if (inlineGraph(layer, options.body_subgraph(), given, next) &&
      checkNext(layer, options.body_subgraph(), values, next))
    condition = getCondition(layer, options.cond_subgraph(), next);
  run.last = importer.getVariableValues();
  importer.setVariableValues(variables);
  if (!condition)
    return {};
  SmallVector<Value> results = {layer.reshape(condition, {})};
  for (auto [i, value, first] : llvm::enumerate(next, given)) {
    if (value.isHandle && value.handle == first.handle)
      continue;
    if (value.isHandle || value.value.getType() != first.value.getType()) {
      layer.unsupported(
          "carries value " + Twine(i) +
          ", which is of another shape in the next run; nnc needs "
          "shapes that stay, as it is not known when compiling "
          "how often the loop runs");
      return {};
    }
    results.push_back(value.value);
  }
  llvm::append_range(results, run.last);
  return results;
}

/// Imports a loop that runs for as long as the network says; `condition` is
/// that before the first run.
static Value convertLoop(Layer &layer, const fb::WhileOptions &options,
                         Value condition, ArrayRef<Passed> values) {
  GraphImporter &importer = layer.getImporter();
  if (importer.isPreparing())
    return layer.unsupported("prepares the first run in a way that the network "
                             "computes; nnc handles constants");
  bool before = importer.isConditional();
  importer.setConditional(true);
  auto restore =
      llvm::make_scope_exit([&] { importer.setConditional(before); });
  SmallVector<Value> start = importer.getVariableValues();
  Branch run(layer, "run");
  SmallVector<Value> results = importRun(layer, run, options, values, start);
  SmallVector<Value> known = importer.getVariableValues();
  if (results.empty() || known.size() != start.size()) {
    run.body.erase();
    // Variables that the loop is the first to use are there the next time.
    return results.empty() ? Value()
                           : convertLoop(layer, options, condition, values);
  }
  run.body.finish(results);
  SmallVector<Value> inits = {layer.reshape(condition, {})};
  for (const Passed &value : values)
    if (!value.isHandle)
      inits.push_back(value.value);
  llvm::append_range(inits, start);
  auto loop = importer.getBuilder().create<nn::LoopOp>(
      layer.getLoc(), TypeRange(ValueRange(results)), /*count=*/Value(), inits,
      ValueRange(), run.body.getFunction().getSymName(),
      std::numeric_limits<int64_t>::max(), /*conditional=*/true);
  SmallVector<Passed> last(values);
  auto next = std::next(loop.getYs().begin());
  for (Passed &value : last)
    if (!value.isHandle)
      value.value = *next++;
  for (Value &value : start)
    value = *next++;
  importer.setVariableValues(start);
  return setResults(layer, last);
}

/// A loop becomes its runs while its condition is known.
Value convertWhile(Layer &layer) {
  const auto *options = layer.getOptions<fb::WhileOptions>(fb::Options::While);
  auto values = getPassed(layer, 0);
  if (!options || !values)
    return {};
  for (int64_t runs = 0;; ++runs) {
    Value condition = getCondition(layer, options->cond_subgraph(), *values);
    if (!condition)
      return {};
    auto known = readElements(condition);
    if (!known)
      return convertLoop(layer, *options, condition, *values);
    if (!known->ints[0])
      return setResults(layer, *values);
    if (runs == kMaxRuns)
      return layer.fail(ImportStatus::limit,
                        "runs more than " + Twine(kMaxRuns) + " times");
    SmallVector<Passed> next;
    if (!inlineGraph(layer, options->body_subgraph(), *values, next) ||
        !checkNext(layer, options->body_subgraph(), *values, next))
      return {};
    *values = std::move(next);
  }
}

} // namespace nnc::tflite
