//===- Control.cpp - Branches and loops -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The operators _cond, _foreach and _while_loop have their bodies as subgraphs.
// The branch of a _cond with a known condition is imported in place; otherwise
// both become functions, of which nn.if runs one. A loop becomes an nn.loop,
// except that a _foreach of few nodes is imported run by run.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"
#include "frontends/common/LoopRuns.h"
#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// A _foreach is imported run by run if its runs have at most this number of
/// nodes in all.
static constexpr int64_t kFewNodes = 32;

/// Returns the subgraph `i` of the node; null after an error.
static const Symbol *getSubgraph(Layer &layer, size_t i) {
  ArrayRef<Symbol> graphs = layer.getNode().subgraphs;
  if (i < graphs.size())
    return &graphs[i];
  layer.broken("has " + Twine(graphs.size()) + " subgraphs; it needs one more");
  return nullptr;
}

/// Returns the tuple of places `name`, each less than `count`; nullopt after an
/// error.
static std::optional<SmallVector<int64_t>>
readPlaces(Layer &layer, StringRef name, size_t count) {
  auto places = layer.getInts(name).value_or(SmallVector<int64_t>());
  if (layer.hasFailed())
    return std::nullopt;
  for (int64_t place : places)
    if (place < 0 || place >= int64_t(count)) {
      layer.broken("has " + name + " " + toString(places) + " for " +
                   Twine(count) + " values");
      return std::nullopt;
    }
  return places;
}

/// Returns the inputs of the node at the places that the attribute `name` has.
static std::optional<SmallVector<Value>> readInputs(Layer &layer,
                                                    StringRef name) {
  auto places = readPlaces(layer, name, layer.getNumInputs());
  if (!places)
    return std::nullopt;
  SmallVector<Value> inputs;
  for (int64_t place : *places)
    inputs.push_back(layer.getInput(place));
  return inputs;
}

static std::string nameBody(Layer &layer, StringRef name) {
  return (nn::getModelName(layer.getLoc(), "function") + "_" + name).str();
}

/// Sets the node's results and returns the first.
static Value setResults(Layer &layer, ArrayRef<Value> results) {
  for (auto [i, result] : llvm::enumerate(results))
    layer.setResult(i, result);
  return results.empty() ? Value() : results[0];
}

/// Imports a graph whose result is a condition, a number that is not 0 where it
/// holds. Returns it as a scalar of type i1; null after an error.
static Value importCondition(Layer &layer, const Symbol &graph,
                             ArrayRef<Value> inputs) {
  SmallVector<Value> results;
  if (!layer.getImporter().importSubgraph(layer, graph, inputs, results))
    return {};
  if (results.size() != 1 || getNumElements(results[0]) != 1)
    return layer.broken("needs a condition that is one number");
  return layer.castTo(layer.reshape(results[0], {}),
                      layer.getBuilder().getI1Type());
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Imports a branch as the function `body`. Returns false, without a function,
/// after an error.
static bool importBranch(Layer &layer, const Symbol &graph,
                         ArrayRef<Value> inputs, Body &body,
                         SmallVectorImpl<Type> &types) {
  SmallVector<Value> given, results;
  for (Value input : inputs)
    given.push_back(body.capture(input));
  if (!layer.getImporter().importSubgraph(layer, graph, given, results)) {
    body.erase();
    return false;
  }
  llvm::append_range(types, ValueRange(results).getTypes());
  body.finish(results);
  body.dropUnread();
  return true;
}

Value convertCond(Layer &layer) {
  const Symbol *graphs[3];
  SmallVector<Value> inputs[3];
  static constexpr StringLiteral kPlaces[] = {
      "cond_input_locs", "then_input_locs", "else_input_locs"};
  for (int i = 0; i < 3; ++i) {
    graphs[i] = getSubgraph(layer, i);
    auto given = graphs[i] ? readInputs(layer, kPlaces[i]) : std::nullopt;
    if (!given)
      return {};
    inputs[i] = *given;
  }
  Value condition = importCondition(layer, *graphs[0], inputs[0]);
  if (!condition)
    return {};
  if (auto known = readElements(condition)) {
    int taken = known->ints[0] ? 1 : 2;
    SmallVector<Value> results;
    return layer.getImporter().importSubgraph(layer, *graphs[taken],
                                              inputs[taken], results)
               ? setResults(layer, results)
               : Value();
  }
  OpBuilder &builder = layer.getImporter().getBuilder();
  SmallVector<Type> types[2];
  std::optional<Body> bodies[2];
  bool isImported = true;
  for (int i = 0; i < 2; ++i) {
    bodies[i].emplace(builder, nameBody(layer, i ? "else" : "then"),
                      layer.getLoc());
    if (!importBranch(layer, *graphs[i + 1], inputs[i + 1], *bodies[i],
                      types[i])) {
      bodies[i].reset();
      isImported = false;
    }
  }
  if (isImported && types[0] == types[1])
    return setResults(layer, createIf(builder, layer.getLoc(), condition,
                                      *bodies[0], *bodies[1]));
  for (std::optional<Body> &body : bodies)
    if (body)
      body->erase();
  return isImported ? layer.unsupported("has branches whose results have "
                                        "different shapes or types")
                    : Value();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop: each run computes a slice of each collected result and the carried
/// values of the next run. Places are those of inputs of the node.
struct Loop {
  const Symbol *body = nullptr, *condition = nullptr;
  SmallVector<Value> inputs;
  SmallVector<int64_t> read;    ///< what the variables of the body stand for
  SmallVector<int64_t> tested;  ///< what those of the condition stand for
  SmallVector<int64_t> carried; ///< in the order of the body's results
  SmallVector<int64_t> sliced;  ///< tensors of which a run reads a slice
  int64_t collected = 0;        ///< number of results that are collected
  int64_t runs = 0;             ///< number of runs, or the largest one
};
} // namespace

static SmallVector<Value> pick(ArrayRef<Value> values,
                               ArrayRef<int64_t> places) {
  SmallVector<Value> picked;
  for (int64_t place : places)
    picked.push_back(values[place]);
  return picked;
}

/// Imports the run with the number `run`, with `values` in place of the inputs.
/// Appends the collected results and the next carried values to `results`, or
/// returns false after an error.
static bool importRun(Layer &layer, const Loop &loop, Value run,
                      SmallVector<Value> values,
                      SmallVectorImpl<Value> &results) {
  for (int64_t place : loop.sliced)
    values[place] =
        layer.create<nn::GatherOp>(values[place], run, /*axis=*/int64_t(0));
  if (!layer.getImporter().importSubgraph(layer, *loop.body,
                                          pick(values, loop.read), results))
    return false;
  if (results.size() == loop.collected + loop.carried.size())
    return true;
  layer.broken("has a body of " + Twine(results.size()) +
               " results; it needs " + Twine(loop.collected) +
               " to collect and " + Twine(loop.carried.size()) + " to carry");
  return false;
}

/// Imports a _foreach run by run.
static Value unroll(Layer &layer, const Loop &loop) {
  SmallVector<Value> values = loop.inputs;
  SmallVector<SmallVector<Value>> lists(loop.collected);
  for (int64_t run = 0; run < loop.runs; ++run) {
    SmallVector<Value> results;
    Value number = layer.splat(double(run), layer.getI64());
    if (!importRun(layer, loop, number, values, results))
      return {};
    for (auto [list, part] : llvm::zip_first(lists, results)) {
      SmallVector<int64_t> shape = {1};
      llvm::append_range(shape, getShape(part));
      list.push_back(layer.reshape(part, shape));
    }
    for (auto [i, place] : llvm::enumerate(loop.carried))
      values[place] = results[loop.collected + i];
  }
  SmallVector<Value> results;
  for (ArrayRef<Value> list : lists)
    results.push_back(list.size() == 1
                          ? list[0]
                          : layer.create<nn::ConcatOp>(ValueRange(list),
                                                       /*axis=*/int64_t(0)));
  llvm::append_range(results, pick(values, loop.carried));
  return setResults(layer, results);
}

/// Gives first values of size 1, such as states of an open batch, the shapes of
/// the next ones. Sets `isExpanded` if one had another shape, and returns false
/// after an error.
static bool expandFirst(Layer &layer, Loop &loop, ArrayRef<Type> next,
                        bool &isExpanded) {
  for (auto [i, place] : llvm::enumerate(loop.carried)) {
    Value &first = loop.inputs[place];
    auto type = cast<RankedTensorType>(next[i]);
    if (first.getType() == type)
      continue;
    bool fits = getElement(first) == type.getElementType() &&
                getRank(first) == type.getRank();
    for (auto [a, b] : llvm::zip(getShape(first), type.getShape()))
      fits &= a == b || a == 1;
    if (!fits) {
      layer.unsupported("carries a value of shape " +
                        toString(getShape(first)) + ", which has shape " +
                        toString(type.getShape()) + " in the next run");
      return false;
    }
    first = layer.expand(first, type.getShape());
    isExpanded = true;
  }
  return true;
}

namespace {
/// An importer of a loop whose body becomes a function.
class LoopImporter {
public:
  LoopImporter(Layer &layer, Loop &loop)
      : layer(layer), loop(loop), body(layer.getImporter().getBuilder(),
                                       nameBody(layer, "run"), layer.getLoc()) {
  }

  /// Imports the body, and the condition of the run that follows. `first` is
  /// the condition of the first run, or null. Returns false after an error.
  bool importBody(Value first);
  /// Returns the number of runs, if the condition does not depend on data.
  std::optional<int64_t> countRuns();
  SmallVector<Type> getNextTypes() {
    return SmallVector<Type>(ValueRange(getNext()).getTypes());
  }
  void erase() { body.erase(); }
  /// Creates the nn.loop, of `runs` runs if that is known, and returns the
  /// results of the operator.
  SmallVector<Value> finish(Value first, std::optional<int64_t> runs);

private:
  ArrayRef<Value> getNext() {
    return ArrayRef(results).drop_front(loop.collected);
  }

  Layer &layer;
  Loop &loop;
  Body body;
  Value run, isRunning, condition;
  SmallVector<Value> arguments, results;
};
} // namespace

bool LoopImporter::importBody(Value first) {
  run = body.addArgument(RankedTensorType::get({}, layer.getI64()));
  if (first)
    isRunning = body.addArgument(first.getType());
  SmallVector<Value> values(loop.inputs.size());
  for (int64_t place : loop.carried) {
    values[place] = body.addArgument(loop.inputs[place].getType());
    arguments.push_back(values[place]);
  }
  for (auto [value, input] : llvm::zip_equal(values, loop.inputs))
    if (!value)
      value = body.capture(input);
  if (!importRun(layer, loop, run, values, results))
    return false;
  if (!first)
    return true;
  for (auto [place, next] : llvm::zip_equal(loop.carried, getNext()))
    values[place] = next;
  condition =
      importCondition(layer, *loop.condition, pick(values, loop.tested));
  return condition != nullptr;
}

std::optional<int64_t> LoopImporter::countRuns() {
  SmallVector<Carried> all;
  for (auto [place, argument, next] :
       llvm::zip_equal(loop.carried, arguments, getNext()))
    all.push_back({loop.inputs[place], argument, next});
  auto found = frontends::countRuns(condition, run, isRunning, all, loop.runs);
  return found && found->isExact ? std::optional(found->most) : std::nullopt;
}

SmallVector<Value> LoopImporter::finish(Value first,
                                        std::optional<int64_t> runs) {
  bool isConditional = !runs;
  if (isRunning && !isConditional) {
    OpBuilder &builder = layer.getImporter().getBuilder();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body.getBlock());
    isRunning.replaceAllUsesWith(
        layer.splat(1, layer.getBuilder().getI1Type()));
    body.getBlock().eraseArgument(1);
  }
  SmallVector<Value> inits = pick(loop.inputs, loop.carried),
                     given = llvm::to_vector(getNext());
  if (isConditional) {
    inits.insert(inits.begin(), first);
    given.insert(given.begin(), condition);
  }
  int64_t most = runs.value_or(loop.runs);
  SmallVector<Type> types(ValueRange(given).getTypes());
  for (Value part : ArrayRef(results).take_front(loop.collected)) {
    SmallVector<int64_t> shape = {most};
    llvm::append_range(shape, getShape(part));
    types.push_back(RankedTensorType::get(shape, getElement(part)));
    given.push_back(part);
  }
  body.finish(given);
  body.dropUnread();
  auto op = layer.getImporter().getBuilder().create<nn::LoopOp>(
      layer.getLoc(), types, /*count=*/Value(), inits, body.getCaptured(),
      body.getFunction().getSymName(), most, isConditional);
  SmallVector<Value> all;
  for (Value part : op.getCollected()) {
    // MXNet's results have slices for the largest number of runs.
    if (most < loop.runs) {
      SmallVector<int64_t> pads(2 * getRank(part), 0);
      pads[getRank(part)] = loop.runs - most;
      part = layer.create<nn::PadOp>(nn::PadMode::constant, part, pads,
                                     APFloat(0.0));
    }
    all.push_back(part);
  }
  llvm::append_range(all, op.getLast().drop_front(isConditional ? 1 : 0));
  return all;
}

static Value importLoop(Layer &layer, Loop &loop) {
  for (;;) {
    Value first;
    if (loop.condition) {
      first = importCondition(layer, *loop.condition,
                              pick(loop.inputs, loop.tested));
      if (!first)
        return {};
    }
    LoopImporter importer(layer, loop);
    if (!importer.importBody(first)) {
      importer.erase();
      return {};
    }
    SmallVector<Type> next = importer.getNextTypes();
    if (next == SmallVector<Type>(
                    ValueRange(pick(loop.inputs, loop.carried)).getTypes())) {
      std::optional<int64_t> runs = loop.runs;
      if (first)
        runs = readElements(first) && readElements(first)->ints[0]
                   ? importer.countRuns()
                   : std::nullopt;
      return setResults(layer, importer.finish(first, runs));
    }
    importer.erase();
    bool isExpanded = false;
    if (!expandFirst(layer, loop, next, isExpanded))
      return {};
  }
}

Value convertForeach(Layer &layer) {
  Loop loop;
  loop.body = getSubgraph(layer, 0);
  loop.inputs = llvm::to_vector(layer.getInputs());
  loop.collected = layer.getInt("num_out_data", 0);
  size_t count = loop.inputs.size();
  loop.read.assign(count, -1);
  int64_t next = 0;
  for (StringRef name : {"in_data_locs", "in_state_locs", "remain_locs"}) {
    auto places = readPlaces(layer, name, count);
    if (!loop.body || !places)
      return {};
    for (int64_t place : *places) {
      if (next == int64_t(count) || loop.read[place] >= 0)
        return layer.broken("gives its " + Twine(count) +
                            " inputs to other places of its body");
      if (name == "in_data_locs")
        loop.sliced.push_back(next);
      if (name == "in_state_locs")
        loop.carried.push_back(next);
      loop.read[place] = next++;
    }
  }
  if (next != int64_t(count) || loop.sliced.empty() || loop.collected < 0)
    return layer.broken("gives " + Twine(next) + " of its " + Twine(count) +
                        " inputs to its body");
  for (int64_t place : loop.sliced) {
    ArrayRef<int64_t> shape = getShape(loop.inputs[place]);
    if (shape.empty() || shape[0] == 0 || (loop.runs && shape[0] != loop.runs))
      return layer.broken("runs over slices of a tensor of shape " +
                          toString(shape));
    loop.runs = shape[0];
  }
  return loop.runs * loop.body->countNodes() <= kFewNodes
             ? unroll(layer, loop)
             : importLoop(layer, loop);
}

Value convertWhileLoop(Layer &layer) {
  Loop loop;
  loop.condition = getSubgraph(layer, 0);
  loop.body = loop.condition ? getSubgraph(layer, 1) : nullptr;
  loop.inputs = llvm::to_vector(layer.getInputs());
  loop.collected = layer.getInt("num_out_data", 0);
  loop.runs = layer.getInt("max_iterations", 0);
  auto tested = readPlaces(layer, "cond_input_locs", loop.inputs.size());
  auto read = readPlaces(layer, "func_input_locs", loop.inputs.size());
  auto variables =
      read ? readPlaces(layer, "func_var_locs", read->size()) : std::nullopt;
  if (!loop.body || !tested || !variables)
    return {};
  loop.tested = *tested;
  loop.read = *read;
  for (int64_t place : *variables) {
    loop.carried.push_back(loop.read[place]);
    if (llvm::count(loop.carried, loop.read[place]) > 1)
      return layer.unsupported("carries two values that begin as one");
  }
  if (loop.runs < 1 || loop.runs > INT32_MAX || loop.collected < 0)
    return layer.broken("has max_iterations " + Twine(loop.runs) + " and " +
                        Twine(loop.collected) + " collected results");
  return importLoop(layer, loop);
}

} // namespace nnc::mxnet
