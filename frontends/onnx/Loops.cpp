//===- Loops.cpp - Subgraphs that run several times -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Loops.h"

#include "frontends/common/Body.h"
#include "frontends/onnx/Narrow.h"
#include "frontends/onnx/Sequences.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

/// Loops that run more often are not imported run by run.
static constexpr int64_t kMaxUnrolled = 4096;
/// A loop becomes no loop if that takes no more nodes.
static constexpr int64_t kFewNodes = 32;

static Type getBool(Node &node) { return node.getBuilder().getI1Type(); }

static RankedTensorType getScalar(Type element) {
  return RankedTensorType::get({}, element);
}

/// Whether a value is one truth value; reports where not.
static bool checkCondition(Node &node, Value condition) {
  bool fits = isTensor(condition) && getElement(condition).isInteger(1) &&
              getNumElements(condition) == 1;
  if (!fits)
    node.broken("needs conditions of one bool");
  return fits;
}

/// Returns a value of one element with as many axes as the body declares for
/// its input `i`: some exporters give the number of a run and the condition
/// one.
static Value shapeAsDeclared(Node &node, Value value, int i) {
  const ::onnx::GraphProto &body = node.getGraph("body");
  const auto &type = body.input(i).type().tensor_type();
  bool hasAxis =
      body.input_size() > i && type.has_shape() && type.shape().dim_size() == 1;
  return hasAxis ? node.reshape(value, {1}) : value;
}

/// Checks the number of a graph's results, its condition's type, and splits
/// them.
static bool splitResults(Node &node, const LoopForm &form,
                         ArrayRef<Value> results, Value &condition,
                         ArrayRef<Value> &next, ArrayRef<Value> &collected) {
  size_t first = form.hasCondition ? 1 : 0;
  if (results.size() != first + form.inits.size() + form.collected) {
    node.broken("has a body with " + Twine(results.size()) +
                " results; needs " +
                Twine(first + form.inits.size() + form.collected));
    return false;
  }
  if (first && !checkCondition(node, results[0]))
    return false;
  condition = first ? results[0] : Value();
  next = results.slice(first, form.inits.size());
  collected = results.take_back(form.collected);
  return true;
}

//===----------------------------------------------------------------------===//
// Run by run
//===----------------------------------------------------------------------===//

std::optional<LoopResults> nnc::onnx::unrollLoop(Node &node,
                                                 const LoopForm &form) {
  LoopResults found{form.inits, {}, {}};
  found.all.resize(form.collected);
  Value condition = form.condition;
  for (int64_t run = 0; !form.runs || run < *form.runs; ++run) {
    auto known = condition ? readElements(condition) : std::nullopt;
    if (condition && !known) {
      node.unsupported("ends by a condition that the network computes");
      return std::nullopt;
    }
    if (known && !known->ints[0])
      return found;
    if (form.count || run == kMaxUnrolled) {
      node.fail(ImportStatus::limit, "has a number of runs that is not known, "
                                     "or more than " +
                                         Twine(kMaxUnrolled));
      return std::nullopt;
    }
    SmallVector<Value> inputs;
    Value number = node.reshape(node.constant(ArrayRef<int64_t>{run}), {});
    if (form.takesRun)
      inputs.push_back(shapeAsDeclared(node, number, 0));
    if (form.hasCondition)
      inputs.push_back(shapeAsDeclared(node, node.splat(1, getBool(node)), 1));
    llvm::append_range(inputs, found.carried);
    llvm::append_range(inputs, form.getInputs(number, nullptr));
    SmallVector<Value> results;
    ArrayRef<Value> next, collected;
    if (llvm::is_contained(inputs, Value()) ||
        !node.inlineGraph("body", inputs, nullptr, results) ||
        !splitResults(node, form, results, condition, next, collected))
      return std::nullopt;
    found.carried = llvm::to_vector(next);
    for (auto [all, value] : llvm::zip_equal(found.all, collected))
      all.push_back(value);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// As a loop
//===----------------------------------------------------------------------===//

namespace {
class LoopImporter {
public:
  LoopImporter(Node &node, const LoopForm &form) : node(node), form(form) {}
  std::optional<LoopResults> build();
  /// Returns what a loop that never runs collects.
  std::optional<LoopResults> buildNone();

private:
  bool importBody(Body &body);
  bool checkTypes();
  void dropCondition(Body &body);

  Node &node;
  const LoopForm &form;
  /// The condition that the body takes, as the model sees it, and gives.
  Value condition, givenCondition, nextCondition;
  /// The body's argument for the number of runs before it; null where no
  /// condition decides how much is collected.
  Value runsSoFar;
  /// Values of the body as the model sees them.
  SmallVector<Value> results, carried;
  ArrayRef<Value> next, collected;
};
} // namespace

bool LoopImporter::importBody(Body &body) {
  Value run = body.addArgument(getScalar(node.getBuilder().getI64Type()));
  SmallVector<Value> inputs;
  if (form.takesRun)
    inputs.push_back(shapeAsDeclared(node, run, 0));
  if (form.hasCondition) {
    condition = body.addArgument(getScalar(getBool(node)));
    inputs.push_back(shapeAsDeclared(node, condition, 1));
    givenCondition = inputs.back();
  }
  for (Value init : form.inits) {
    if (!isTensor(init)) {
      node.unsupported("carries a sequence, so that the number of its runs has "
                       "to be known when compiling");
      return false;
    }
    Value argument = body.addArgument(getCarrier(init).getType());
    carried.push_back(node.asModelType(argument, getElement(init)));
  }
  if (form.collected && form.hasCondition)
    runsSoFar = body.addArgument(run.getType());
  llvm::append_range(inputs, carried);
  llvm::append_range(inputs, form.getInputs(run, &body));
  return !llvm::is_contained(inputs, Value()) &&
         node.inlineGraph("body", inputs, &body, results) &&
         splitResults(node, form, results, nextCondition, next, collected) &&
         checkTypes();
}

bool LoopImporter::checkTypes() {
  for (auto [i, value, init] : llvm::enumerate(next, form.inits))
    if (value.getType() != init.getType()) {
      node.unsupported(
          "carries value " + Twine(i) +
          ", which is of another type or shape in the next run; nnc needs a "
          "loop that has as many runs as is known when compiling, or values "
          "that keep their shapes");
      return false;
    }
  for (Value value : collected)
    if (!isTensor(value)) {
      node.unsupported("collects sequences");
      return false;
    }
  return true;
}

/// Makes a condition that stays true a constant.
void LoopImporter::dropCondition(Body &body) {
  OpBuilder::InsertionGuard guard(node.getOpBuilder());
  node.getOpBuilder().setInsertionPointToStart(&body.getBlock());
  unsigned number = cast<BlockArgument>(condition).getArgNumber();
  condition.replaceAllUsesWith(node.splat(1, getBool(node)));
  body.getBlock().eraseArgument(number);
}

std::optional<LoopResults> LoopImporter::build() {
  OpBuilder &builder = node.getOpBuilder();
  Body body(builder, node.getPath(), node.getLoc());
  if (!importBody(body)) {
    body.erase();
    return std::nullopt;
  }
  bool isConditional = false;
  if (form.hasCondition) {
    auto known = readElements(nextCondition);
    isConditional = form.condition || !(nextCondition == givenCondition ||
                                        (known && known->ints[0] != 0));
    nextCondition = node.reshape(nextCondition, {});
    if (!isConditional)
      dropCondition(body);
  }
  // How many runs there are may be known only then.
  bool isOpen = !collected.empty() && (isConditional || form.count);
  if (!collected.empty() && !form.runs) {
    body.erase();
    node.unsupported("collects a value of every run, but nothing limits how "
                     "many there are; nnc needs a largest trip count that is "
                     "known when compiling");
    return std::nullopt;
  }
  SmallVector<Value> given, inits;
  SmallVector<Type> types;
  if (isConditional)
    given.push_back(nextCondition);
  for (Value value : next)
    given.push_back(getCarrier(value));
  Type integer = node.getBuilder().getI64Type();
  bool isCounted = isOpen && isConditional;
  if (runsSoFar && !isCounted)
    body.getBlock().eraseArgument(
        cast<BlockArgument>(runsSoFar).getArgNumber());
  if (isCounted)
    given.push_back(node.createElementwise(
        "add", {body.getBlock().getArgument(0), node.splat(1, integer)}));
  for (Value value : given)
    types.push_back(value.getType());
  for (Value value : collected) {
    given.push_back(getCarrier(value));
    SmallVector<int64_t> shape = {*form.runs};
    llvm::append_range(shape, getShape(value));
    types.push_back(
        RankedTensorType::get(shape, getElement(getCarrier(value))));
  }
  body.finish(given);
  if (isConditional)
    inits.push_back(form.condition ? node.reshape(form.condition, {})
                                   : node.splat(1, getBool(node)));
  for (Value init : form.inits)
    inits.push_back(getCarrier(init));
  if (isCounted)
    inits.push_back(node.splat(0, integer));
  for (Type type : types)
    if (!node.checkSize(type)) {
      body.erase();
      return std::nullopt;
    }
  auto loop = builder.create<nn::LoopOp>(
      node.getLoc(), types, form.count ? node.reshape(form.count, {}) : Value(),
      inits, body.getCaptured(), body.getFunction().getSymName(),
      form.runs.value_or(std::numeric_limits<int64_t>::max()), isConditional);
  LoopResults found;
  for (auto [y, value] :
       llvm::zip(loop.getLast().drop_front(isConditional ? 1 : 0), next))
    found.carried.push_back(node.asModelType(y, getElement(value)));
  std::optional<unsigned> size;
  if (isOpen) {
    // A count that is too large for the result has to show.
    Value count = isCounted ? loop.getLast().back()
                            : node.createElementwise(
                                  "max", {form.count, node.splat(0, integer)});
    SmallVector<size_t> places;
    for (size_t i = 0; i < collected.size(); ++i)
      places.push_back(form.inits.size() + i);
    size = node.addLength(*form.runs, count, places);
    if (!size)
      return std::nullopt;
  }
  for (auto [y, value] : llvm::zip_equal(loop.getCollected(), collected))
    found.collected.push_back(
        node.asModelType(size ? node.cut(y, size) : y, getElement(value)));
  return found;
}

std::optional<LoopResults> LoopImporter::buildNone() {
  LoopResults found{form.inits, {}, {}};
  if (form.collected == 0)
    return found;
  Body body(node.getOpBuilder(), node.getPath(), node.getLoc());
  bool isKnown = importBody(body);
  SmallVector<RankedTensorType> types;
  for (Value value : isKnown ? collected : ArrayRef<Value>()) {
    SmallVector<int64_t> shape = {0};
    llvm::append_range(shape, getShape(value));
    types.push_back(RankedTensorType::get(shape, getElement(value)));
  }
  body.erase();
  if (!isKnown)
    return std::nullopt;
  for (RankedTensorType type : types) {
    Type carrier = getCarrier(type.getElementType());
    found.collected.push_back(
        node.asModelType(node.constant(DenseElementsAttr::get(
                             type.clone(carrier), ArrayRef<Attribute>())),
                         type.getElementType()));
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

/// Unrolls a loop and joins what it collects; nullopt where that fails.
static std::optional<LoopResults> unrollAndJoin(Node &node,
                                                const LoopForm &form) {
  auto found = unrollLoop(node, form);
  if (!found)
    return std::nullopt;
  for (ArrayRef<Value> all : found->all) {
    if (all.empty())
      return LoopImporter(node, form).buildNone();
    found->collected.push_back(stack(node, all, 0));
    if (!found->collected.back())
      return std::nullopt;
  }
  return found;
}

std::optional<LoopResults> nnc::onnx::importLoop(Node &node,
                                                 const LoopForm &form) {
  auto known = form.condition ? readElements(form.condition) : std::nullopt;
  if (form.runs == 0 || (known && !known->ints[0]))
    return LoopImporter(node, form).buildNone();
  LoopForm simple = form;
  if (known)
    simple.condition = {};
  // How many runs are few must not depend on sizes.
  bool isShort = !node.getImporter().isSample() && form.runs && !form.count &&
                 *form.runs <= kFewNodes &&
                 *form.runs * node.getGraph("body").node_size() <= kFewNodes;
  bool hasSequences = !llvm::all_of(form.inits, isTensor);
  bool isTried = isShort || hasSequences;
  if (isTried) {
    Attempt attempt(node.getImporter());
    auto found = unrollAndJoin(node, simple);
    if (found && !attempt.hasFailed())
      return found;
    if (hasSequences) {
      attempt.report();
      return std::nullopt;
    }
  }
  bool mayUnroll =
      !isTried && !form.count && form.runs.value_or(0) <= kMaxUnrolled;
  if (!mayUnroll)
    return LoopImporter(node, simple).build();
  {
    Attempt attempt(node.getImporter());
    auto found = LoopImporter(node, simple).build();
    if (found && !attempt.hasFailed())
      return found;
  }
  {
    Attempt attempt(node.getImporter());
    auto found = unrollAndJoin(node, simple);
    if (found && !attempt.hasFailed())
      return found;
  }
  // The problems of a loop say more than those of its runs.
  return LoopImporter(node, simple).build();
}

Value nnc::onnx::reverseFirst(Node &node, Value x) {
  SmallVector<int64_t> order;
  for (int64_t i = getShape(x)[0]; i-- > 0;)
    order.push_back(i);
  return node.create<nn::GatherOp>(x, node.constant(order), int64_t(0));
}
