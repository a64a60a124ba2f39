//===- Control.cpp - If, Loop, Scan ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"
#include "frontends/common/DecidingInputs.h"
#include "frontends/onnx/control/Loops.h"
#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/graph/CarrierTypes.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// Imports a branch into the function `body` and appends its results to
/// `results`, in the model's types. Returns false, without a body, where the
/// importer has reported a problem.
static bool importBranch(Node &node, StringRef name, Body &body,
                         SmallVectorImpl<Value> &results) {
  SmallVector<Value> given;
  bool isImported = node.inlineGraph(name, {}, &body, results);
  for (Value result : results)
    given.push_back(getCarrier(result));
  if (!isImported) {
    body.erase();
    return false;
  }
  body.finish(given);
  return true;
}

/// Returns the inputs that alone decide `condition`, if any do.
static std::optional<DecidingInputs> findDecidingInputs(Node &node,
                                                        Value condition) {
  return frontends::findDecidingInputs(condition, [&](BlockArgument argument) {
    return node.getImporter().getOutside(argument);
  });
}

/// Imports both branches into `bodies`, which the value of the condition
/// indexes. Returns false after an error. If only one branch fails and inputs
/// such as a sample rate decide the condition, that branch is meant for other
/// values of these inputs: the report then names the option that fixes them.
static bool importBothBranches(Node &node, Value condition,
                               MutableArrayRef<std::optional<Body>> bodies,
                               SmallVectorImpl<Value> &ofElse,
                               SmallVectorImpl<Value> &ofThen) {
  std::optional<Attempt> attempts[2];
  std::string why[2];
  bool fits[2];
  for (int which : {1, 0}) {
    StringRef name = which ? "then_branch" : "else_branch";
    attempts[which].emplace(node.getImporter());
    bodies[which].emplace(node.getOpBuilder(),
                          node.getPath() + "/" + name.str(), node.getLoc());
    fits[which] =
        importBranch(node, name, *bodies[which], which ? ofThen : ofElse) &&
        !attempts[which]->hasFailed();
    // Only a branch that is invalid with these shapes may be meant for other
    // input values. Errors of unsupported operators and of the file are always
    // reported.
    if (!fits[which] && attempts[which]->isBroken() &&
        !attempts[which]->isLasting())
      why[which] = attempts[which]->describe();
  }
  // Attempts are nested: the one that began last, of else_branch, ends first.
  auto finish = [&](bool isReported) {
    for (auto &attempt : attempts) {
      if (isReported)
        attempt->report();
      attempt.reset();
    }
  };
  bool wrong = fits[0];
  auto inputs = fits[0] != fits[1] && !why[wrong].empty()
                    ? findDecidingInputs(node, condition)
                    : std::nullopt;
  finish(/*isReported=*/!inputs);
  if (fits[0] && fits[1])
    return true;
  if (fits[!wrong])
    bodies[!wrong]->erase();
  if (!inputs)
    return false;
  node.fail(ImportStatus::unbound,
            "has a branch that this network cannot run, in " +
                Twine(wrong ? "then_branch" : "else_branch") + " (" +
                why[wrong] + "); if the input '" + inputs->names.front() +
                "' never chooses it, leave it out with " +
                inputs->getOptions(!wrong),
            "branches that both fit the network's shapes", why[wrong]);
  return false;
}

/// Imports an If whose condition the network computes: both branches become
/// functions, and each run calls one of them. Returns false after an error.
static bool importBranches(Node &node, Value condition,
                           SmallVectorImpl<Value> &results) {
  OpBuilder &builder = node.getOpBuilder();
  SmallVector<Value> others;
  std::optional<Body> bodies[2]; // else_branch, then_branch
  if (!importBothBranches(node, condition, bodies, others, results))
    return false;
  if (results.size() != others.size() ||
      results.size() != node.getNumResults()) {
    node.broken("has " + Twine(node.getNumResults()) +
                " results, its branches " + Twine(results.size()) + " and " +
                Twine(others.size()));
    return false;
  }
  for (auto [result, other] : llvm::zip_equal(results, others))
    if (result.getType() != other.getType() ||
        !isa<RankedTensorType>(result.getType())) {
      auto inputs = findDecidingInputs(node, condition);
      node.unsupported(
          "gives a result of another type or shape depending on " +
          (inputs ? "the input '" + inputs->names.front() + "'; pass " +
                        inputs->getOptions(true) +
                        " to compile then_branch, or another value to compile "
                        "else_branch"
                  : "what the network computes"));
      return false;
    }
  condition = node.reshape(condition, {});
  SmallVector<Type> elements = llvm::map_to_vector(
      results, [](Value result) { return getElement(result); });
  SmallVector<Value> chosen =
      createIf(builder, node.getLoc(), condition, *bodies[1], *bodies[0]);
  for (auto [result, y, element] : llvm::zip_equal(results, chosen, elements))
    result = node.asModelType(y, element);
  return true;
}

/// Converts If. Where the condition is known, as it is where exporters guard
/// shapes and these are static, only the branch that runs is imported, in
/// place.
Value convertIf(Node &node) {
  Value condition = node.getOperand(0);
  if (getNumElements(condition) != 1)
    return node.broken("needs one condition, not a tensor of shape " +
                       toString(getShape(condition)));
  SmallVector<Value> results;
  auto known = readElements(condition);
  if (!known && !importBranches(node, condition, results))
    return {};
  if (known && !node.inlineGraph(known->ints[0] ? "then_branch" : "else_branch",
                                 {}, nullptr, results))
    return {};
  if (results.size() != node.getNumResults())
    return node.broken("has " + Twine(node.getNumResults()) +
                       " results, its branch " + Twine(results.size()));
  for (auto [i, result] : llvm::enumerate(results))
    node.setResult(i, result);
  return results.empty() ? Value() : results[0];
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Sets a node's results and returns the first one, or null without results.
static Value setResults(Node &node, ArrayRef<Value> results) {
  for (auto [i, result] : llvm::enumerate(results))
    node.setResult(i, result);
  return results.empty() ? Value() : results[0];
}

Value convertLoop(Node &node) {
  LoopForm form;
  ::onnx::GraphProto &body = node.getGraph("body");
  form.inits = llvm::to_vector(node.getModelOperands().drop_front(
      std::min<size_t>(2, node.getNumOperands())));
  size_t carried = form.inits.size();
  if (llvm::is_contained(form.inits, Value()))
    return node.broken("lacks the first value of something that it carries");
  if (size_t(body.input_size()) != 2 + carried)
    return node.broken("has a body of " + Twine(body.input_size()) +
                       " inputs; carrying " + Twine(carried) +
                       " values, it needs " + Twine(2 + carried));
  if (node.getNumResults() < carried)
    return node.broken("carries " + Twine(carried) + " values, but has " +
                       Twine(node.getNumResults()) + " results");
  form.collected = node.getNumResults() - carried;
  form.hasCondition = form.takesRun = true;
  form.condition = node.getOperand(1);
  form.getInputs = [](Value, Body *) { return SmallVector<Value>(); };
  for (Value limit : node.getOperands().take_front(2))
    if (limit && !isTensor(limit))
      return node.broken("needs a trip count and a condition that are tensors");
  if (form.condition && getNumElements(form.condition) != 1)
    return node.broken("needs one condition, not a tensor of shape " +
                       toString(getShape(form.condition)));
  if (Value count = node.getOperand(0)) {
    if (getNumElements(count) != 1)
      return node.broken("needs one trip count, not a tensor of shape " +
                         toString(getShape(count)));
    if (auto known = readElements(count))
      form.runs = std::max<int64_t>(known->ints[0], 0);
    else
      form.count = count;
  }
  auto found = importLoop(node, form);
  if (!found)
    return {};
  llvm::append_range(found->carried, found->collected);
  return setResults(node, found->carried);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Returns the `count` integers of the attribute `name`, or zeros if the node
/// lacks it. Returns nullopt after an error if it has another number of them.
static std::optional<SmallVector<int64_t>>
getScanInts(Node &node, StringRef name, size_t count) {
  SmallVector<int64_t> values =
      node.getInts(name).value_or(SmallVector<int64_t>(count));
  if (values.size() == count)
    return values;
  node.broken("has " + Twine(values.size()) + " values in " + name +
              "; needs " + Twine(count));
  return std::nullopt;
}

/// Returns the permutation of `rank` axes that moves `axis` to the front, or,
/// with `isBack`, its inverse, which moves the first axis to `axis`.
static SmallVector<int64_t> moveAxis(int64_t axis, int64_t rank, bool isBack) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  order.insert(order.begin(), axis);
  if (!isBack)
    return order;
  SmallVector<int64_t> back(rank);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  return back;
}

/// Imports the loop of a Scan over slices of the first axis of `scanned`. The
/// results are the last states and the collected outputs, whose first axis
/// counts the trips. Returns nullopt after an error.
static std::optional<LoopResults> importScan(Node &node, ArrayRef<Value> states,
                                             ArrayRef<Value> scanned) {
  LoopForm form;
  form.inits = llvm::to_vector(states);
  form.collected = node.getNumResults() - states.size();
  form.runs = getShape(scanned.front())[0];
  for (Value x : scanned)
    if (getShape(x)[0] != *form.runs) {
      node.broken("scans " + Twine(*form.runs) + " slices of one input and " +
                  Twine(getShape(x)[0]) + " of another");
      return std::nullopt;
    }
  form.getInputs = [&](Value run, Body *body) {
    SmallVector<Value> slices;
    for (Value x : scanned) {
      Value carrier = getCarrier(x);
      if (body)
        carrier = body->capture(carrier);
      slices.push_back(node.asModelType(
          node.create<nn::GatherOp>(carrier, run, int64_t(0)), getElement(x)));
    }
    return slices;
  };
  return importLoop(node, form);
}

/// Moves the scanned axis of `x` to the front, and reverses it if the Scan
/// reads it backward.
static Value prepareScanned(Node &node, Value x, int64_t axis,
                            bool isBackward) {
  Value carrier = getCarrier(x);
  carrier = node.transpose(carrier, moveAxis(axis, getRank(carrier), false));
  if (carrier && isBackward)
    carrier = reverseFirst(node, carrier);
  return carrier ? node.asModelType(carrier, getElement(x)) : carrier;
}

/// Returns the slice of `x` at index `b` of its first axis, the batch.
static Value takeBatch(Node &node, Value x, int64_t b) {
  Value index = node.reshape(node.constant(ArrayRef<int64_t>{b}), {});
  Value carrier = node.create<nn::GatherOp>(getCarrier(x), index, int64_t(0));
  return carrier ? node.asModelType(carrier, getElement(x)) : carrier;
}

/// Converts a Scan of opset 8. Its first operand gives the lengths of
/// sequences, and the first axis of all other operands is the batch.
static Value convertBatchScan(Node &node, size_t count) {
  if (node.getOperand(0))
    return node.unsupported("takes sequence_lens; nnc handles sequences that "
                            "are all as long as the input");
  ArrayRef<Value> operands = node.getModelOperands().drop_front();
  size_t states = operands.size() - count;
  if (llvm::is_contained(operands, Value()) ||
      llvm::any_of(operands, [](Value x) { return getRank(x) < 1; }) ||
      llvm::any_of(operands.take_back(count),
                   [](Value x) { return getRank(x) < 2; }))
    return node.broken("needs inputs with an axis for the batch");
  auto directions = getScanInts(node, "directions", count);
  if (!directions)
    return {};
  SmallVector<SmallVector<Value>> results(node.getNumResults());
  int64_t batch = getShape(operands[0])[0];
  for (Value x : operands)
    if (getShape(x)[0] != batch || batch == 0)
      return node.broken("needs one batch size for all inputs");
  for (int64_t b = 0; b < batch; ++b) {
    SmallVector<Value> inits, scanned;
    for (auto [i, x] : llvm::enumerate(operands)) {
      Value one = takeBatch(node, x, b);
      if (i >= states && one)
        one = prepareScanned(node, one, 0, (*directions)[i - states] != 0);
      if (!one)
        return {};
      (i < states ? inits : scanned).push_back(one);
    }
    auto found = importScan(node, inits, scanned);
    if (!found)
      return {};
    llvm::append_range(found->carried, found->collected);
    for (auto [all, value] : llvm::zip_equal(results, found->carried))
      all.push_back(value);
  }
  SmallVector<Value> joined;
  for (ArrayRef<Value> all : results)
    joined.push_back(stack(node, all, 0));
  return setResults(node, joined);
}

Value convertScan(Node &node) {
  ::onnx::GraphProto &body = node.getGraph("body");
  int64_t given = node.getInt("num_scan_inputs");
  bool isBatch = node.getVersion() < 9;
  int64_t operands = int64_t(node.getNumOperands()) - (isBatch ? 1 : 0);
  if (given < 1 || given > operands)
    return node.broken("scans " + Twine(given) + " of " + Twine(operands) +
                       " inputs");
  size_t count = given, states = operands - given;
  if (body.input_size() != operands)
    return node.broken("has a body of " + Twine(body.input_size()) +
                       " inputs; needs " + Twine(operands));
  if (node.getNumResults() < states)
    return node.broken("carries " + Twine(states) + " values, but has " +
                       Twine(node.getNumResults()) + " results");
  if (isBatch)
    return convertBatchScan(node, count);
  if (llvm::is_contained(node.getModelOperands(), Value()))
    return node.broken("lacks an input");
  size_t collected = node.getNumResults() - states;
  auto axes = getScanInts(node, "scan_input_axes", count),
       directions = getScanInts(node, "scan_input_directions", count),
       outAxes = getScanInts(node, "scan_output_axes", collected),
       outDirections = getScanInts(node, "scan_output_directions", collected);
  if (!axes || !directions || !outAxes || !outDirections)
    return {};
  SmallVector<Value> scanned;
  for (size_t i = 0; i < count; ++i) {
    Value x = node.getModelOperands()[states + i];
    auto axis = node.normalizeAxis((*axes)[i], getRank(x));
    if (!axis)
      return {};
    scanned.push_back(prepareScanned(node, x, *axis, (*directions)[i] != 0));
    if (!scanned.back())
      return {};
  }
  auto found =
      importScan(node, node.getModelOperands().take_front(states), scanned);
  if (!found)
    return {};
  for (auto [i, value] : llvm::enumerate(found->collected)) {
    auto axis = node.normalizeAxis((*outAxes)[i], getRank(value));
    if (!axis)
      return {};
    Value carrier = getCarrier(value);
    if ((*outDirections)[i] != 0 && getNumElements(carrier) != 0)
      carrier = reverseFirst(node, carrier);
    carrier = node.transpose(carrier, moveAxis(*axis, getRank(carrier), true));
    if (!carrier)
      return {};
    found->carried.push_back(node.asModelType(carrier, getElement(value)));
  }
  return setResults(node, found->carried);
}

} // namespace nnc::onnx
