//===- Control.cpp - Operators that run subgraphs -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Subgraphs are imported in place: that of a CALL once, those of a loop as
// often as it runs, which has to be known. Of a condition that the network
// computes both branches run, and results are chosen by element.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/Layer.h"

#include "llvm/ADT/ScopeExit.h"

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

/// Returns a where the condition holds, else b; null, and a report, where they
/// differ in more than their values.
static Value choose(Layer &layer, Value condition, Value a, Value b) {
  if (a == b)
    return a;
  if (a.getType() != b.getType())
    return layer.unsupported(
        "gives " + getTypeName(getElement(a)) + " of shape " +
        toString(getShape(a)) + " or " + getTypeName(getElement(b)) +
        " of shape " + toString(getShape(b)) +
        ", depending on what the network computes; nnc needs branches whose "
        "results are alike");
  return layer.createElementwise("select", {condition, a, b});
}

/// Imports both branches. What each makes of variables is chosen like results.
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
  SmallVector<Passed> results, others;
  SmallVector<Value> start = importer.getVariableValues();
  if (!inlineGraph(layer, options.then_subgraph(), inputs, results))
    return {};
  SmallVector<Value> after = importer.getVariableValues();
  importer.setVariableValues(start);
  if (!inlineGraph(layer, options.else_subgraph(), inputs, others))
    return {};
  // Variables that the second branch makes are unchanged in the first.
  SmallVector<Value> variables = importer.getVariableValues();
  for (auto [value, changed] : llvm::zip(variables, after))
    if (!(value = choose(layer, condition, changed, value)))
      return {};
  for (size_t i = after.size(); i < variables.size(); ++i)
    if (!(variables[i] = choose(layer, condition, importer.getFirstValue(i),
                                variables[i])))
      return {};
  importer.setVariableValues(variables);
  if (results.size() != others.size())
    return layer.broken("has branches with " + Twine(results.size()) + " and " +
                        Twine(others.size()) + " results");
  for (auto [result, other] : llvm::zip_equal(results, others)) {
    if (result.isHandle != other.isHandle || result.handle != other.handle)
      return layer.unsupported("chooses a variable depending on what the "
                               "network computes");
    if (!result.isHandle &&
        !(result.value = choose(layer, condition, result.value, other.value)))
      return {};
  }
  return setResults(layer, results);
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

/// Computes whether a loop goes on; nullopt, and a report, where that is not
/// known.
static std::optional<bool> goesOn(Layer &layer, int32_t subgraph,
                                  ArrayRef<Passed> values) {
  SmallVector<Passed> results;
  if (!inlineGraph(layer, subgraph, values, results))
    return std::nullopt;
  if (results.size() != 1 || results[0].isHandle) {
    layer.broken("has a condition, subgraph " + Twine(subgraph) + ", with " +
                 Twine(results.size()) + " results; needs one BOOL");
    return std::nullopt;
  }
  if (!isCondition(layer, results[0].value))
    return std::nullopt;
  auto known = readElements(results[0].value);
  if (known)
    return known->ints[0] != 0;
  layer.unsupported(
      "runs for as long as subgraph " + Twine(subgraph) +
      " says, which depends on what the network computes; nnc needs a loop "
      "whose runs are known when compiling: convert the model with a counter "
      "that ends it, or without the loop");
  return std::nullopt;
}

Value convertWhile(Layer &layer) {
  const auto *options = layer.getOptions<fb::WhileOptions>(fb::Options::While);
  auto values = getPassed(layer, 0);
  if (!options || !values)
    return {};
  for (int64_t runs = 0;; ++runs) {
    std::optional<bool> more = goesOn(layer, options->cond_subgraph(), *values);
    if (!more)
      return {};
    if (!*more)
      return setResults(layer, *values);
    if (runs == kMaxRuns)
      return layer.fail(ImportStatus::limit,
                        "runs more than " + Twine(kMaxRuns) + " times");
    SmallVector<Passed> next;
    if (!inlineGraph(layer, options->body_subgraph(), *values, next))
      return {};
    bool fits = next.size() == values->size();
    for (size_t i = 0; fits && i < next.size(); ++i)
      fits = next[i].isHandle == (*values)[i].isHandle &&
             getElement(next[i].value) == getElement((*values)[i].value);
    if (!fits)
      return layer.broken("has a body, subgraph " +
                          Twine(options->body_subgraph()) +
                          ", whose results are of another number or of other "
                          "types than the " +
                          Twine(values->size()) + " values that it is given");
    *values = std::move(next);
  }
}

} // namespace nnc::tflite
