//===- Stream.cpp - Models that read frame by frame -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each value of the model is of one of two kinds. If it grows along an axis
// with time, a run computes only its newest part; else it is computed from
// whole windows. Queues, which are states, keep the elements of earlier runs
// that an op reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/AxisTypes.h"
#include "compiler/passes/Passes.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/IRMapping.h"

namespace nnc {
#define GEN_PASS_DEF_STREAM
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
/// The newest part of a value that grows along an axis.
struct Part {
  Value newest;
  RankedTensorType window; ///< the type of the value in the model
  int64_t axis;

  int64_t getHop() const {
    return cast<RankedTensorType>(newest.getType()).getDimSize(axis);
  }
  int64_t getLength() const { return window.getDimSize(axis); }
  /// Returns true if both have the same number of new elements and of elements
  /// in a window.
  bool isAsLongAs(const Part &other) const {
    return getHop() == other.getHop() && getLength() == other.getLength();
  }
};

class Streamer {
public:
  Streamer(func::FuncOp function, unsigned input, int64_t axis, int64_t hop)
      : function(function), builder(function.getContext()), input(input),
        axis(axis), hop(hop) {}
  LogicalResult run();

private:
  LogicalResult check();
  void takeInput();
  void convert(Operation *op);
  /// Computes the newest part of the op's result. Returns false if that needs
  /// whole windows of its operands.
  bool computePart(Operation *op);
  bool computeWindows(Operation *op, const nn::AxisWindows &windows,
                      int64_t axis);
  /// Returns the growing operand of lowest number if all growing operands, and
  /// no others, grow along the axes of `use`, and by parts of one size. Returns
  /// null otherwise.
  const Part *getCommonPart(Operation *op, const nn::AxisUse &use) const;
  void clonePart(Operation *op, int64_t resultAxis, int64_t resultHop,
                 function_ref<Value(Value)> getOperand);
  void finish();

  const Part *getPart(Value value) const {
    auto found = parts.find(value);
    return found == parts.end() ? nullptr : &found->second;
  }
  /// Returns the value of the new function that replaces `value`, which is its
  /// newest part if it grows.
  Value getNewest(Value value) const {
    const Part *part = getPart(value);
    if (part)
      return part->newest;
    Value other = replaced.lookup(value);
    return other ? other : value;
  }
  Value getWindow(Value value) {
    const Part *part = getPart(value);
    return part ? getQueue(value, part->getLength()) : getNewest(value);
  }
  /// Returns the newest `length` elements of a growing value, from a queue if a
  /// run computes fewer.
  Value getQueue(Value value, int64_t length);

  func::FuncOp function;
  OpBuilder builder;
  unsigned input;
  int64_t axis, hop;
  DenseMap<Value, Part> parts; ///< parts of growing values
  /// Values that are computed from whole windows in each run, by the value of
  /// the model.
  DenseMap<Value, Value> replaced;
  DenseMap<std::pair<Value, int64_t>, Value> queues;
  /// The arguments that are queues, each with its next value.
  SmallVector<std::pair<BlockArgument, Value>> states;
  SmallVector<Operation *> old;
};
} // namespace

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

Value Streamer::getQueue(Value value, int64_t length) {
  const Part part = *getPart(value);
  if (length == part.getHop())
    return part.newest;
  Value &queue = queues[{value, length}];
  if (queue)
    return queue;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(part.newest);
  Location loc = part.newest.getLoc();
  // The queue of a quantized value holds its integers; they are zero points at
  // first.
  RankedTensorType type = withSize(part.window, part.axis, length);
  Value newest = part.newest;
  ElementsAttr initial;
  auto quantized = dyn_cast<quant::UniformQuantizedType>(type.getElementType());
  Type storage = type.getElementType();
  if (auto any = dyn_cast<quant::QuantizedType>(storage)) {
    storage = IntegerType::get(
        builder.getContext(), any.getStorageTypeIntegralWidth(),
        any.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
    newest = builder.create<qnn::ReinterpretOp>(
        loc, RankedTensorType::get(getRankedType(newest).getShape(), storage),
        newest);
  }
  auto plain = RankedTensorType::get(type.getShape(), storage);
  if (quantized && quantized.getZeroPoint() != 0)
    initial = DenseElementsAttr::get(
        plain, builder.getIntegerAttr(storage, quantized.getZeroPoint()));
  std::string name = nn::getModelName(loc).str();
  name = (name.empty() ? "value" : name) + "_queue";
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr(nn::kNameAttr, builder.getStringAttr(name))};
  if (initial)
    attributes.push_back(builder.getNamedAttr(nn::kInitialAttr, initial));
  unsigned number = function.getNumArguments();
  function.insertArgument(number, plain, builder.getDictionaryAttr(attributes),
                          loc);
  BlockArgument state = function.getArgument(number);
  Value next = builder.create<nn::PushOp>(loc, plain, state, newest, part.axis);
  states.push_back({state, next});
  queue = plain == type
              ? next
              : Value(builder.create<qnn::ReinterpretOp>(loc, type, next));
  return queue;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Streamer::clonePart(Operation *op, int64_t resultAxis, int64_t resultHop,
                         function_ref<Value(Value)> getOperand) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getOperand(operand));
  Operation *copy = builder.clone(*op, mapping);
  RankedTensorType window = getRankedType(op->getResult(0));
  copy->getResult(0).setType(withSize(window, resultAxis, resultHop));
  cast<nn::AxisOpInterface>(copy).updateAxisSize(resultAxis);
  parts[op->getResult(0)] = {copy->getResult(0), window, resultAxis};
}

/// Warns that an op computes its whole window in each run, with the reason,
/// unless a run takes whole windows anyway.
static void warn(Operation *op, const Part &x, const Twine &why) {
  if (x.getHop() < x.getLength())
    op->emitWarning("computes its whole window in each run, as does what "
                    "follows: ")
        << why;
}

const Part *Streamer::getCommonPart(Operation *op,
                                    const nn::AxisUse &use) const {
  const Part *first = nullptr;
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), use.axes)) {
    const Part *part = getPart(operand);
    if ((part ? part->axis : -1) != own)
      return nullptr;
    if (part && first && !part->isAsLongAs(*first))
      return nullptr;
    if (!first)
      first = part;
  }
  return first;
}

/// Computes the newest part of an op with windows along the axis of time. It
/// reads the newest windows from a queue.
bool Streamer::computeWindows(Operation *op, const nn::AxisWindows &windows,
                              int64_t axis) {
  const Part x = *getPart(op->getOperand(0));
  int64_t stride = windows.stride, extent = windows.getExtent();
  int64_t length = x.getHop() - stride + extent;
  auto refuse = [&](const Twine &why) {
    warn(op, x, why);
    return false;
  };
  if (windows.hasPadding())
    return refuse("it pads the axis of time, whose ends move on");
  if ((x.getLength() - extent) % stride)
    return refuse("its stride of " + Twine(stride) +
                  " does not end with the newest element of the window");
  if (extent < stride)
    return refuse("its stride of " + Twine(stride) +
                  " leaves out elements between its windows");
  if (x.getHop() % stride)
    return refuse("its stride of " + Twine(stride) + " does not divide the " +
                  Twine(x.getHop()) +
                  " new elements of a run; add frames to a run");
  if (length > x.getLength())
    return refuse("a run has more new elements than its window has results");
  clonePart(op, axis, x.getHop() / stride, [&](Value operand) {
    return getPart(operand) ? getQueue(operand, length) : getNewest(operand);
  });
  return true;
}

bool Streamer::computePart(Operation *op) {
  unsigned first = 0;
  while (!getPart(op->getOperand(first)))
    ++first;
  std::optional<int64_t> axis =
      nn::findResultAxis(op, first, getPart(op->getOperand(first))->axis);
  if (!axis)
    return false;
  nn::AxisUse use = nn::getAxisUse(op, *axis);
  const Part *part = getCommonPart(op, use);
  if (!part)
    return false;
  if (use.hasWindows())
    return computeWindows(op, use.windows, *axis);
  if (hasScalesAlong(op, use, *axis))
    return false;
  clonePart(op, *axis, part->getHop(),
            [&](Value operand) { return getNewest(operand); });
  return true;
}

void Streamer::convert(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumOperands() == 0)
    return;
  auto isChanged = [&](Value operand) {
    return getPart(operand) || replaced.count(operand);
  };
  if (llvm::none_of(op->getOperands(), isChanged))
    return;
  old.push_back(op);
  builder.setInsertionPoint(op);
  bool grows = llvm::any_of(op->getOperands(),
                            [&](Value operand) { return getPart(operand); });
  if (grows && op->getNumResults() == 1 && computePart(op))
    return;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getWindow(operand));
  Operation *copy = builder.clone(*op, mapping);
  for (auto [before, after] : llvm::zip(op->getResults(), copy->getResults()))
    replaced[before] = after;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult Streamer::check() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (nn::getNextValue(function, i))
      return function.emitError(
          "the model keeps values between runs already; it is one that takes "
          "frames as it stands");
  if (input >= function.getNumArguments())
    return function.emitError("there is no input number ") << input;
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[input]);
  if (axis < 0 || axis >= type.getRank())
    return function.emitError("the input has ")
           << type.getRank() << " axes and so no axis " << axis
           << " to stream along";
  if (hop < 1 || hop > type.getDimSize(axis))
    return function.emitError("a run cannot take ")
           << hop << " frames of a window of " << type.getDimSize(axis);
  return success();
}

void Streamer::takeInput() {
  BlockArgument window = function.getArgument(input);
  RankedTensorType type = getRankedType(window);
  function.insertArgument(input, withSize(type, axis, hop),
                          function.getArgAttrDict(input), window.getLoc());
  parts[window] = {function.getArgument(input), type, axis};
}

/// Makes the function return the newest parts of growing results, and the next
/// values of the queues.
void Streamer::finish() {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  for (auto [i, result] : llvm::enumerate(end.getOperands())) {
    results.push_back(getNewest(result));
    attributes.push_back(function.getResultAttrDict(i));
  }
  for (auto [state, next] : states) {
    function.setArgAttr(
        state.getArgNumber(), nn::kStateAttr,
        builder.getI64IntegerAttr(static_cast<int64_t>(results.size())));
    attributes.push_back(builder.getDictionaryAttr({}));
    results.push_back(next);
  }
  end->setOperands(results);
  for (Operation *op : llvm::reverse(old))
    op->erase();
  function.eraseArgument(input + 1);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           TypeRange(ValueRange(results))));
  for (Attribute &attribute : attributes)
    if (!attribute)
      attribute = builder.getDictionaryAttr({});
  function.setAllResultAttrs(attributes);
}

LogicalResult Streamer::run() {
  if (failed(check()))
    return failure();
  takeInput();
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops)
    convert(op);
  finish();
  return success();
}

namespace {
struct StreamPass : nnc::impl::StreamBase<StreamPass> {
  using Base::Base;
  void runOnOperation() override {
    // The bodies of branches and loops are not streamed.
    if (getOperation().isPrivate())
      return;
    if (failed(Streamer(getOperation(), input, axis, hop).run()))
      signalPassFailure();
  }
};
} // namespace
