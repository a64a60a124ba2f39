//===- Loops.cpp - Subgraphs that run several times -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/control/Loops.h"

#include "frontends/common/Appended.h"
#include "frontends/common/Body.h"
#include "frontends/common/LoopRuns.h"
#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Sort.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

/// The largest number of iterations of a loop that is unrolled.
static constexpr int64_t kMaxUnrolled = 4096;
/// A loop is always unrolled if the iterations have at most this number of
/// nodes in all.
static constexpr int64_t kFewNodes = 32;

static Type getBool(Node &node) { return node.getBuilder().getI1Type(); }

static RankedTensorType getScalar(Type element) {
  return RankedTensorType::get({}, element);
}

/// Returns true if a value is a single bool; otherwise reports an error.
static bool checkCondition(Node &node, Value condition) {
  bool fits = isTensor(condition) && getElement(condition).isInteger(1) &&
              getNumElements(condition) == 1;
  if (!fits)
    node.broken("needs conditions of one bool");
  return fits;
}

/// Reshapes a value of one element to the number of axes that the body declares
/// for its input `i`. Some exporters declare one axis for the iteration number
/// and the condition.
static Value shapeAsDeclared(Node &node, Value value, int i) {
  const ::onnx::GraphProto &body = node.getGraph("body");
  const auto &type = body.input(i).type().tensor_type();
  bool hasAxis =
      body.input_size() > i && type.has_shape() && type.shape().dim_size() == 1;
  return hasAxis ? node.reshape(value, {1}) : value;
}

namespace {
/// The loop-carried values that need not be carried.
struct Uncarried {
  /// Set for each value that no iteration changes.
  llvm::SmallBitVector isKept;
  /// For each value that iterations only append to and that nothing else reads:
  /// the axis of a tensor along which they append, or 0 for a sequence.
  SmallVector<std::optional<int64_t>> appends;
};
} // namespace

/// Finds values that need not be carried, from the names in the graph of the
/// loop's body.
static Uncarried findUncarried(Node &node, const LoopForm &form) {
  const ::onnx::GraphProto &body = node.getGraph("body");
  llvm::StringMap<const ::onnx::NodeProto *> makers;
  llvm::StringMap<int> reads;
  for (const auto &inner : body.node()) {
    for (const std::string &name : inner.output())
      makers[name] = &inner;
    collectUses(inner, [&](const std::string &name) { ++reads[name]; });
  }
  for (const auto &result : body.output())
    ++reads[result.name()];
  auto getMaker = [&](StringRef name, StringRef op) {
    const ::onnx::NodeProto *maker = makers.lookup(name);
    bool fits = maker && maker->op_type() == op && maker->domain().empty() &&
                maker->input_size() > 0 && maker->output_size() == 1;
    return fits ? maker : nullptr;
  };
  unsigned output = form.hasCondition ? 1 : 0, input = output + form.takesRun;
  unsigned count = form.inits.size();
  Uncarried found{llvm::SmallBitVector(count),
                  SmallVector<std::optional<int64_t>>(count)};
  for (unsigned i = 0; i < count; ++i) {
    if (int(output + i) >= body.output_size() ||
        int(input + i) >= body.input_size())
      break;
    StringRef name = body.output(output + i).name();
    const std::string &given = body.input(input + i).name();
    // The number of nodes limits the length of a chain of copies.
    for (int link = 0; link < body.node_size(); ++link) {
      const auto *copy = getMaker(name, "Identity");
      if (!copy)
        break;
      name = copy->input(0);
    }
    found.isKept[i] = name == given;
    if (reads.lookup(given) != 1 || reads.lookup(name) != 1)
      continue;
    const auto *concat = getMaker(name, "Concat"),
               *insert = getMaker(name, "SequenceInsert");
    if (insert && insert->input(0) == given &&
        (insert->input_size() == 2 || insert->input(2).empty()))
      found.appends[i] = 0;
    if (concat && concat->input(0) == given)
      for (const auto &attribute : concat->attribute())
        if (attribute.name() == "axis")
          found.appends[i] = attribute.i();
  }
  return found;
}

/// Returns true if `runs` iterations have so few nodes that the loop is always
/// unrolled. This decision must not depend on data-dependent sizes.
static bool isShort(Node &node, int64_t runs) {
  return !node.getImporter().isSample() && runs <= kFewNodes &&
         runs * node.getGraph("body").node_size() <= kFewNodes;
}

/// Checks the number of a graph's results and the type of its condition, and
/// splits the results into condition, carried and collected ones.
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
// Unrolled
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
  LoopImporter(Node &node, const LoopForm &form)
      : node(node), form(form), runs(form.runs),
        uncarried(findUncarried(node, form)) {}
  /// Builds the loop. Returns nullopt after an error, or without one if
  /// `mayBeShort` is set and the loop turns out to be short enough to be
  /// unrolled.
  std::optional<LoopResults> build(bool mayBeShort = false);
  /// Returns the results of a loop without iterations.
  std::optional<LoopResults> buildNone();

private:
  bool importBody(Body &body);
  bool checkTypes();
  /// Reports that carried value `i` changes its shape; returns false.
  bool reportShapes(unsigned i);
  void dropCondition(Body &body);
  void captureKept(Body &body);
  /// Turns the values that iterations append to into collected ones. Returns
  /// false after an error if iterations do anything else with them.
  bool collectAppended(Body &body, bool isExact);
  Value append(Value init, Value parts, Type element, int64_t axis);
  /// Counts the iterations as far as the condition follows from constants.
  /// Returns true if the condition still has to be computed at run time.
  bool countRuns(Body &body);
  /// Takes a list with one value for each carried value of the model's loop,
  /// and returns the entries of those that the nn.loop carries, too.
  SmallVector<Value> takeCarried(ArrayRef<Value> all) const;

  Node &node;
  const LoopForm &form;
  /// The largest number of iterations, if it is known.
  std::optional<int64_t> runs;
  Uncarried uncarried;
  /// The condition: the argument of the body, its value in the model's type,
  /// and the body's result.
  Value condition, givenCondition, nextCondition;
  /// The body's argument for the number of iterations before the current one;
  /// null if no condition determines how much is collected.
  Value runsSoFar;
  /// Values of the body in the model's types.
  SmallVector<Value> results, carried;
  ArrayRef<Value> next, collected;
  /// The values that the loop collects: the carriers of `collected`, then the
  /// parts that iterations append.
  SmallVector<Value> gathered;
  /// The model's element types of the parts that iterations append.
  SmallVector<Type> appendedTypes;
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
  for (auto [i, init] : llvm::enumerate(form.inits)) {
    carried.push_back({});
    if (uncarried.isKept[i])
      continue;
    if (!isTensor(init) && uncarried.appends[i]) {
      carried.back() = makeSequence(node, {});
      continue;
    }
    if (!isTensor(init)) {
      node.unsupported("carries a sequence, so that the number of its runs has "
                       "to be known when compiling");
      return false;
    }
    auto type = cast<RankedTensorType>(getCarrier(init).getType());
    std::optional<int64_t> &axis = uncarried.appends[i];
    if (axis && *axis < 0)
      *axis += type.getRank();
    if (axis && (*axis < 0 || *axis >= type.getRank()))
      axis = std::nullopt;
    Value argument =
        body.addArgument(axis ? getAppendedType(type, *axis) : type);
    carried.back() = node.asModelType(argument, getElement(init));
  }
  if (form.collected && form.hasCondition)
    runsSoFar = body.addArgument(run.getType());
  // Arguments of captured values come last.
  for (unsigned i : uncarried.isKept.set_bits())
    carried[i] = body.capture(form.inits[i]);
  llvm::append_range(inputs, carried);
  llvm::append_range(inputs, form.getInputs(run, &body));
  return !llvm::is_contained(inputs, Value()) &&
         node.inlineGraph("body", inputs, &body, results) &&
         splitResults(node, form, results, nextCondition, next, collected) &&
         checkTypes();
}

bool LoopImporter::reportShapes(unsigned i) {
  node.unsupported(
      "carries value " + Twine(i) +
      ", which is of another type or shape in the next run; nnc needs a "
      "loop that has as many runs as is known when compiling, or values "
      "that keep their shapes");
  return false;
}

bool LoopImporter::checkTypes() {
  for (auto [i, value, init] : llvm::enumerate(next, form.inits)) {
    bool isAppended = uncarried.appends[i].has_value(), isOne = isTensor(value);
    bool fits = !isAppended
                    ? value.getType() == init.getType()
                    : isOne == isTensor(init) &&
                          (!isOne || getElement(value) == getElement(init));
    if (!fits)
      return reportShapes(i);
  }
  for (Value value : collected)
    if (!isTensor(value)) {
      node.unsupported("collects sequences");
      return false;
    }
  return true;
}

SmallVector<Value> LoopImporter::takeCarried(ArrayRef<Value> all) const {
  SmallVector<Value> taken;
  for (auto [i, value] : llvm::enumerate(all))
    if (!uncarried.isKept[i] && !uncarried.appends[i])
      taken.push_back(value);
  return taken;
}

/// Captures values that turn out to be unchanged in all iterations after the
/// body has been imported.
void LoopImporter::captureKept(Body &body) {
  OpBuilder::InsertionGuard guard(node.getOpBuilder());
  for (unsigned i = 0; i < uncarried.isKept.size(); ++i) {
    if (uncarried.isKept[i] || uncarried.appends[i] || next[i] != carried[i])
      continue;
    node.getOpBuilder().setInsertionPointToStart(&body.getBlock());
    auto argument = cast<BlockArgument>(getCarrier(carried[i]));
    argument.replaceAllUsesWith(body.capture(getCarrier(form.inits[i])));
    body.getBlock().eraseArgument(argument.getArgNumber());
    uncarried.isKept.set(i);
  }
}

bool LoopImporter::collectAppended(Body &body, bool isExact) {
  for (auto [i, axis] : llvm::enumerate(uncarried.appends)) {
    if (!axis)
      continue;
    if (!isExact)
      return reportShapes(i);
    if (auto sequence = dyn_cast<TupleType>(next[i].getType())) {
      auto elements = getElements(node, next[i]);
      if (elements->size() != 1 || !isTensor(elements->front()))
        return reportShapes(i);
      gathered.push_back(getCarrier(elements->front()));
      appendedTypes.push_back(getElement(elements->front()));
      continue;
    }
    Value argument = getCarrier(carried[i]);
    Value part = takeAppended(node, argument, getCarrier(next[i]), *axis);
    if (!part)
      return reportShapes(i);
    body.getBlock().eraseArgument(cast<BlockArgument>(argument).getArgNumber());
    gathered.push_back(part);
    appendedTypes.push_back(getElement(next[i]));
  }
  return true;
}

/// Returns `init` followed by the collected `parts` that iterations append,
/// whose element type in the model is `element`.
Value LoopImporter::append(Value init, Value parts, Type element,
                           int64_t axis) {
  if (isTensor(init)) {
    Value joined = joinAppended(node, getCarrier(init), parts, axis);
    return joined ? node.asModelType(joined, element) : joined;
  }
  SmallVector<Value> elements = *getElements(node, init);
  for (int64_t number : iota(getShape(parts)[0])) {
    Value at = node.reshape(node.constant(ArrayRef<int64_t>{number}), {});
    Value part = node.create<nn::GatherOp>(parts, at, int64_t(0));
    elements.push_back(part ? node.asModelType(part, element) : part);
  }
  return makeSequence(node, elements);
}

bool LoopImporter::countRuns(Body &body) {
  auto known = readElements(nextCondition);
  bool staysTrue =
      nextCondition == givenCondition || (known && known->ints[0] != 0);
  if (staysTrue)
    return form.condition != Value();
  SmallVector<Carried> values;
  for (auto [i, init] : llvm::enumerate(form.inits))
    if (!uncarried.isKept[i] && !uncarried.appends[i])
      values.push_back(
          {getCarrier(init), getCarrier(carried[i]), getCarrier(next[i])});
  auto found = frontends::countRuns(
      nextCondition, body.getBlock().getArgument(0), condition, values, runs);
  if (found)
    runs = found->most;
  return !found || !found->isExact || form.condition;
}

/// Replaces a condition that is always true by a constant.
void LoopImporter::dropCondition(Body &body) {
  OpBuilder::InsertionGuard guard(node.getOpBuilder());
  node.getOpBuilder().setInsertionPointToStart(&body.getBlock());
  unsigned number = cast<BlockArgument>(condition).getArgNumber();
  condition.replaceAllUsesWith(node.splat(1, getBool(node)));
  body.getBlock().eraseArgument(number);
}

std::optional<LoopResults> LoopImporter::build(bool mayBeShort) {
  OpBuilder &builder = node.getOpBuilder();
  Body body(builder, node.getPath(), node.getLoc());
  if (!importBody(body)) {
    body.erase();
    return std::nullopt;
  }
  captureKept(body);
  bool isConditional = form.hasCondition && countRuns(body);
  if (mayBeShort && !isConditional && !form.count && runs &&
      isShort(node, *runs)) {
    body.erase();
    return std::nullopt;
  }
  for (Value value : collected)
    gathered.push_back(getCarrier(value));
  if (!collectAppended(body, runs && !isConditional && !form.count)) {
    body.erase();
    return std::nullopt;
  }
  if (form.hasCondition) {
    nextCondition = node.reshape(nextCondition, {});
    if (!isConditional)
      dropCondition(body);
  }
  // The number of iterations may be known only at run time.
  bool isOpen = !collected.empty() && (isConditional || form.count);
  if (!collected.empty() && !runs) {
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
  for (Value value : takeCarried(next))
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
  for (Value value : gathered) {
    given.push_back(value);
    SmallVector<int64_t> shape = {*runs};
    llvm::append_range(shape, getShape(value));
    types.push_back(RankedTensorType::get(shape, getElement(value)));
  }
  body.finish(given);
  if (isConditional)
    inits.push_back(form.condition ? node.reshape(form.condition, {})
                                   : node.splat(1, getBool(node)));
  for (Value init : takeCarried(form.inits))
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
      runs.value_or(std::numeric_limits<int64_t>::max()), isConditional);
  LoopResults found;
  auto last = std::next(loop.getLast().begin(), isConditional ? 1 : 0);
  auto appended = std::next(loop.getCollected().begin(), collected.size());
  const Type *type = appendedTypes.begin();
  for (auto [i, init, axis] : llvm::enumerate(form.inits, uncarried.appends)) {
    found.carried.push_back(uncarried.isKept[i] ? init
                            : axis
                                ? append(init, *appended++, *type++, *axis)
                                : node.asModelType(*last++, getElement(init)));
    if (!found.carried.back())
      return std::nullopt;
  }
  std::optional<unsigned> size;
  if (isOpen) {
    // A count that exceeds the room of the result must not be hidden.
    Value count = isCounted ? loop.getLast().back()
                            : node.createElementwise(
                                  "max", {form.count, node.splat(0, integer)});
    SmallVector<size_t> places;
    for (size_t i = 0; i < collected.size(); ++i)
      places.push_back(form.inits.size() + i);
    size = node.addLength(*runs, count, places);
    if (!size)
      return std::nullopt;
  }
  for (auto [y, value] : llvm::zip(loop.getCollected(), collected))
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
// Choice between both
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
  bool isTried = form.runs && !form.count && isShort(node, *form.runs);
  Uncarried uncarried = findUncarried(node, form);
  bool hasSequences = false;
  for (auto [i, init] : llvm::enumerate(form.inits))
    hasSequences |=
        !isTensor(init) && !uncarried.isKept[i] && !uncarried.appends[i];
  isTried |= hasSequences;
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
    auto found = LoopImporter(node, simple).build(/*mayBeShort=*/true);
    if (found && !attempt.hasFailed())
      return found;
  }
  {
    Attempt attempt(node.getImporter());
    auto found = unrollAndJoin(node, simple);
    if (found && !attempt.hasFailed())
      return found;
  }
  // The errors of the import as a loop are more helpful than those of the
  // unrolled import.
  return LoopImporter(node, simple).build();
}

Value nnc::onnx::reverseFirst(Node &node, Value x) {
  SmallVector<int64_t> order;
  for (int64_t i = getShape(x)[0]; i-- > 0;)
    order.push_back(i);
  return node.create<nn::GatherOp>(x, node.constant(order), int64_t(0));
}
