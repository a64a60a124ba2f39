//===- Control.cpp - Branches and loops -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LoopRuns.h"
#include "frontends/torch/graph/Node.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// The largest number of runs of a loop that is unrolled.
static constexpr int64_t kMaxRuns = 4096;
/// A loop is unrolled if its runs have at most this number of nodes in all.
static constexpr int64_t kFewNodes = 32;

using NamedGraph = std::pair<const json::Object *, std::string>;

static bool inlineGraph(Node &node, const NamedGraph &graph,
                        ArrayRef<Value> inputs,
                        SmallVectorImpl<Value> &results) {
  return graph.first && node.getImporter().inlineGraph(
                            *graph.first, graph.second, node, inputs, results);
}

/// Sets the node's results, and returns the first.
static Value setResults(Node &node, ArrayRef<Value> results) {
  if (results.size() != node.getNumResults())
    return node.broken("has " + Twine(node.getNumResults()) +
                       " results; its graph has " + Twine(results.size()));
  for (auto [i, result] : llvm::enumerate(results))
    node.setResult(i, result);
  return results.empty() ? Value() : results[0];
}

/// Converts wrap_with_set_grad_enabled and wrap_with_autocast, the graphs of
/// blocks such as `with torch.no_grad()`. They may change their inputs in
/// place. The dtypes in the graph of an autocast are those that it makes.
Value convertWrapped(Node &node) {
  size_t first = node.getOp() == "higher_order.wrap_with_autocast" ? 4 : 1;
  NamedGraph graph = node.getGraph(first);
  if (!graph.first)
    return {};
  SmallVector<Value> inputs, results, after;
  SmallVector<std::string> names;
  for (size_t i = first + 1; i < node.getNumInputs(); ++i) {
    names.push_back(node.getTensorNameAt(i).str());
    inputs.push_back(names.back().empty() ? node.getScalarAt(i)
                                          : node.getTensorAt(i));
  }
  if (node.hasFailed() ||
      !node.getImporter().inlineGraph(*graph.first, graph.second, node, inputs,
                                      results, &after))
    return {};
  for (auto [name, before, now] : llvm::zip_equal(names, inputs, after))
    if (!name.empty() && before != now)
      node.getImporter().setValue(node.getScope(), name, now, node);
  return setResults(node, results);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Imports a branch as a function. Returns false, without a function, after an
/// error.
static bool importBranch(Node &node, const NamedGraph &graph,
                         ArrayRef<Value> inputs, Body &body,
                         SmallVectorImpl<Type> &types) {
  SmallVector<Value> given, results;
  for (Value input : inputs)
    given.push_back(body.capture(input));
  if (!inlineGraph(node, graph, given, results)) {
    body.erase();
    return false;
  }
  for (Value result : results)
    types.push_back(result.getType());
  body.finish(results);
  return true;
}

/// Converts cond. Where the condition is known, only the branch that runs is
/// imported, in place.
Value convertCond(Node &node) {
  Value condition = node.getTensorNameAt(0).empty() ? node.getScalarAt(0)
                                                    : node.getTensorAt(0);
  NamedGraph graphs[] = {node.getGraph(1), node.getGraph(2)};
  SmallVector<Value> inputs = node.getTensorsAt(3);
  if (!condition || node.hasFailed())
    return {};
  if (getNumElements(condition) != 1)
    return node.broken("needs one condition, not a tensor of shape " +
                       toString(getShape(condition)));
  condition =
      node.castTo(node.reshape(condition, {}), node.getBuilder().getI1Type());
  if (auto known = readElements(condition)) {
    SmallVector<Value> results;
    return inlineGraph(node, graphs[known->ints[0] ? 0 : 1], inputs, results)
               ? setResults(node, results)
               : Value();
  }
  OpBuilder &builder = node.getImporter().getBuilder();
  SmallVector<Type> types[2];
  std::optional<Body> bodies[2];
  bool isImported = true;
  for (int i : {0, 1}) {
    bodies[i].emplace(builder, graphs[i].second, node.getLoc());
    bool isOwn = importBranch(node, graphs[i], inputs, *bodies[i], types[i]);
    if (!isOwn)
      bodies[i].reset();
    isImported &= isOwn;
  }
  if (isImported && types[0] == types[1])
    return setResults(node, createIf(builder, node.getLoc(), condition,
                                     *bodies[0], *bodies[1]));
  for (std::optional<Body> &body : bodies)
    if (body)
      body->erase();
  return isImported ? node.unsupported("has branches whose results have "
                                       "different shapes or types")
                    : Value();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop: each run computes the carried values of the next one and, for scan
/// and map, a slice of each collected result.
struct Loop {
  NamedGraph body, condition = {nullptr, ""};
  SmallVector<Value> inits;    ///< first carried values
  SmallVector<Value> sliced;   ///< tensors of which a run reads a slice
  SmallVector<Value> captured; ///< values that all runs read
  std::optional<int64_t> runs = std::nullopt;
};
} // namespace

/// Appends the inputs of a run: the carried values, slices and what all runs
/// read.
static SmallVector<Value> getInputs(Node &node, ArrayRef<Value> carried,
                                    ArrayRef<Value> sliced, Value run,
                                    ArrayRef<Value> captured) {
  SmallVector<Value> inputs(carried);
  for (Value x : sliced)
    inputs.push_back(node.create<nn::GatherOp>(x, run, int64_t(0)));
  llvm::append_range(inputs, captured);
  return inputs;
}

/// Returns the condition for these carried values; null after an error.
static Value getCondition(Node &node, const Loop &loop, ArrayRef<Value> carried,
                          ArrayRef<Value> captured) {
  SmallVector<Value> inputs(carried), results;
  llvm::append_range(inputs, captured);
  if (!inlineGraph(node, loop.condition, inputs, results))
    return {};
  if (results.size() != 1 || getNumElements(results[0]) != 1)
    return node.broken("needs one condition");
  return node.castTo(node.reshape(results[0], {}),
                     node.getBuilder().getI1Type());
}

/// Imports one run. Returns false after an error.
static bool importRun(Node &node, const Loop &loop, ArrayRef<Value> inputs,
                      SmallVectorImpl<Value> &results) {
  if (!inlineGraph(node, loop.body, inputs, results))
    return false;
  if (results.size() < loop.inits.size()) {
    node.broken("has a body that gives fewer values than it carries");
    return false;
  }
  for (auto [init, next] : llvm::zip_first(loop.inits, results))
    if (init.getType() != next.getType()) {
      node.unsupported("carries a value whose shape or type changes from run "
                       "to run");
      return false;
    }
  return true;
}

/// Imports a loop run by run. Its condition, if it has one, must be known in
/// each.
static Value unroll(Node &node, const Loop &loop) {
  SmallVector<Value> carried(loop.inits);
  SmallVector<SmallVector<Value>> collected;
  for (int64_t run = 0;; ++run) {
    if (loop.runs && run == *loop.runs)
      break;
    if (loop.condition.first) {
      Value condition = getCondition(node, loop, carried, loop.captured);
      auto known = condition ? readElements(condition) : std::nullopt;
      if (!known)
        return condition ? node.unsupported("has a condition that is known in "
                                            "the first runs alone")
                         : Value();
      if (!known->ints[0])
        break;
    }
    if (run == kMaxRuns)
      return node.fail(ImportStatus::limit,
                       "runs more than " + Twine(kMaxRuns) + " times");
    Value number =
        node.splat(static_cast<double>(run), node.getBuilder().getI64Type());
    SmallVector<Value> results;
    if (!importRun(node, loop,
                   getInputs(node, carried, loop.sliced, number, loop.captured),
                   results))
      return {};
    carried.assign(results.begin(), results.begin() + loop.inits.size());
    collected.resize(results.size() - loop.inits.size());
    for (auto [list, value] :
         llvm::zip(collected, llvm::drop_begin(results, loop.inits.size())))
      list.push_back(node.unsqueeze(value, 0));
  }
  for (ArrayRef<Value> list : collected)
    carried.push_back(list.size() == 1 ? list[0]
                                       : node.create<nn::ConcatOp>(
                                             ValueRange(list), int64_t(0)));
  // Without a run, collected results have no elements.
  for (size_t i = carried.size(); i < node.getNumResults(); ++i) {
    auto shape = node.getStatedShape(i);
    Type type = getComputedType(node.getStatedType(i));
    if (!shape || !type)
      return node.unsupported("runs not once");
    carried.push_back(node.splat(0, type, *shape));
  }
  return setResults(node, carried);
}

/// Returns the number of nodes of a graph.
static int64_t countNodes(const NamedGraph &graph) {
  return graph.first ? getList(*graph.first, "nodes").size() : 0;
}

/// Imports a loop as an nn.loop. Returns nullopt without an error if it should
/// be unrolled. `first` is the condition before the first run, or null.
static std::optional<Value> importLoop(Node &node, const Loop &loop,
                                       Value first) {
  OpBuilder &builder = node.getImporter().getBuilder();
  Body body(builder, loop.body.second, node.getLoc());
  Value run = body.addArgument(
      RankedTensorType::get({}, node.getBuilder().getI64Type()));
  if (first)
    body.addArgument(first.getType());
  SmallVector<Value> carried, sliced, captured, results;
  for (Value init : loop.inits)
    carried.push_back(body.addArgument(init.getType()));
  for (Value x : loop.sliced)
    sliced.push_back(body.capture(x));
  for (Value x : loop.captured)
    captured.push_back(body.capture(x));
  Value condition;
  bool isImported = importRun(
      node, loop, getInputs(node, carried, sliced, run, captured), results);
  ArrayRef<Value> next =
      ArrayRef(results).take_front(isImported ? loop.inits.size() : 0);
  if (isImported && first) {
    condition = getCondition(node, loop, next, captured);
    isImported = bool(condition);
  }
  if (!isImported) {
    body.erase();
    return Value();
  }
  std::optional<int64_t> runs = loop.runs;
  int64_t most = std::numeric_limits<int64_t>::max();
  if (first && readElements(first)) {
    SmallVector<Carried> all;
    for (auto [init, argument, value] :
         llvm::zip_equal(loop.inits, carried, next))
      all.push_back({init, argument, value});
    auto found = countRuns(condition, run, body.getBlock().getArgument(1), all,
                           /*limit=*/std::nullopt);
    if (found && found->isExact) {
      runs = found->most;
      if (*runs * (countNodes(loop.body) + countNodes(loop.condition)) <=
          kFewNodes) {
        body.erase();
        return std::nullopt;
      }
      body.getBlock().eraseArgument(1);
    } else if (found) {
      most = found->most; // Data may end it earlier.
    }
  }
  bool isConditional = !runs;
  SmallVector<Value> inits(loop.inits), given(next);
  if (isConditional) {
    inits.insert(inits.begin(), first);
    given.insert(given.begin(), condition);
  }
  SmallVector<Type> types(ValueRange(given).getTypes());
  for (Value part : llvm::drop_begin(results, loop.inits.size())) {
    SmallVector<int64_t> shape = {*runs};
    llvm::append_range(shape, getShape(part));
    types.push_back(RankedTensorType::get(shape, getElement(part)));
    given.push_back(part);
  }
  body.finish(given);
  body.dropUnread();
  auto op = builder.create<nn::LoopOp>(
      node.getLoc(), types, /*count=*/Value(), inits, body.getCaptured(),
      body.getFunction().getSymName(), runs.value_or(most), isConditional);
  SmallVector<Value> last(op.getLast().drop_front(isConditional ? 1 : 0));
  llvm::append_range(last, op.getCollected());
  return setResults(node, last);
}

Value convertWhileLoop(Node &node) {
  Loop loop;
  loop.condition = node.getGraph(0);
  loop.body = node.getGraph(1);
  loop.inits = node.getTensorsAt(2);
  loop.captured = node.getTensorsAt(3);
  if (node.hasFailed())
    return {};
  Value first = getCondition(node, loop, loop.inits, loop.captured);
  if (!first)
    return {};
  auto known = readElements(first);
  if (known && !known->ints[0])
    return setResults(node, loop.inits);
  auto found = importLoop(node, loop, first);
  return found ? *found : unroll(node, loop);
}

/// Imports scan or map over slices of the first axis of `loop.sliced`.
static Value importScan(Node &node, Loop &loop) {
  if (node.hasFailed())
    return {};
  for (Value x : loop.sliced) {
    if (getRank(x) == 0 || (loop.runs && getShape(x)[0] != *loop.runs))
      return node.broken("scans tensors of different lengths");
    loop.runs = getShape(x)[0];
  }
  if (!loop.runs)
    return node.broken("scans no tensors");
  if (*loop.runs * countNodes(loop.body) <= kFewNodes)
    return unroll(node, loop);
  return importLoop(node, loop, {}).value_or(Value());
}

Value convertScanLoop(Node &node) {
  Loop loop;
  loop.body = node.getGraph(0);
  loop.inits = node.getTensorsAt(1);
  loop.sliced = node.getTensorsAt(2);
  loop.captured = node.getTensorsAt(3);
  return importScan(node, loop);
}

Value convertMap(Node &node) {
  Loop loop;
  loop.body = node.getGraph(0);
  loop.sliced = node.getTensorsAt(1);
  loop.captured = node.getTensorsAt(2);
  return importScan(node, loop);
}

} // namespace nnc::torch
