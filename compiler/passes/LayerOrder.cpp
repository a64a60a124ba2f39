//===- LayerOrder.cpp - The order in which layers run ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/LayerOrder.h"
#include "compiler/memory/Contents.h"
#include "compiler/memory/Order.h"
#include "compiler/routines/Scratch.h"
#include "dialects/nn/attributes/State.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nnc;

namespace {
/// A builder of the description of a function as steps that produce and read
/// values. The results of views and concats take no memory of their own: they
/// stand for the values that they consist of.
class OrderBuilder {
public:
  OrderBuilder(func::FuncOp function, bool portsInArena);
  OrderProblem problem;

private:
  unsigned add(Value value, int64_t bytes);
  void addStep(Operation *op);
  using Parts = SetVector<unsigned>;
  DenseMap<Value, Parts> parts;
};
} // namespace

unsigned OrderBuilder::add(Value value, int64_t bytes) {
  problem.bytes.push_back(bytes);
  problem.isKept.push_back(false);
  unsigned number = problem.bytes.size() - 1;
  parts[value].insert(number);
  return number;
}

void OrderBuilder::addStep(Operation *op) {
  OrderStep step;
  Parts read;
  for (OpOperand &operand : op->getOpOperands()) {
    const Parts &own = parts[operand.get()];
    read.insert(own.begin(), own.end());
    if (own.size() == 1 && readsInPlace(op, operand.getOperandNumber()))
      step.inPlace.push_back(own.front());
  }
  step.reads = llvm::to_vector(read);
  step.scratch = getScratchBytes(op, /*threads=*/1);
  Value result = op->getResult(0);
  if (getMoves(op).empty())
    step.made = static_cast<int>(add(result, getBytes(result)));
  else
    parts[result] = read;
  problem.steps.push_back(std::move(step));
}

OrderBuilder::OrderBuilder(func::FuncOp function, bool portsInArena) {
  for (BlockArgument argument : function.getArguments()) {
    bool isInArena = portsInArena && getPool(argument) == exec::Pool::input;
    add(argument, isInArena ? getBytes(argument) : 0);
  }
  for (Operation *op : getLayerOrder(function))
    addStep(op);
  for (OpOperand &result :
       function.getBody().front().getTerminator()->getOpOperands()) {
    // Results are mostly computed in the caller's buffers.
    bool isCallers =
        !portsInArena || nn::getStateOf(function, result.getOperandNumber());
    for (unsigned part : parts[result.get()]) {
      problem.isKept[part] = true;
      if (isCallers)
        problem.bytes[part] = 0;
    }
  }
}

OrderProblem nnc::describeSteps(func::FuncOp function, bool portsInArena) {
  return std::move(OrderBuilder(function, portsInArena).problem);
}

LayerOrder nnc::getLayerOrder(func::FuncOp function) {
  LayerOrder order;
  for (Operation &op : function.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      order.push_back(&op);
  return order;
}

/// The largest number of layers for which an order is searched, to bound the
/// time.
static constexpr size_t kMaxLayers = 2000;

LayerOrder nnc::findLayerOrder(func::FuncOp function, bool portsInArena) {
  LayerOrder given = getLayerOrder(function), found;
  // Functions of the user (nn.custom) run in the model's order, as they may
  // have state. The memory that the body of a branch or loop takes is not part
  // of the description of the steps.
  bool isFixed = llvm::any_of(given, [](Operation *op) {
    return isa<nn::CustomOp, nn::ControlOpInterface>(op);
  });
  if (given.size() > kMaxLayers || isFixed)
    return given;
  for (unsigned step : findOrder(describeSteps(function, portsInArena)))
    found.push_back(given[step]);
  return found;
}

void nnc::applyLayerOrder(func::FuncOp function, ArrayRef<Operation *> order) {
  Operation *end = function.getBody().front().getTerminator();
  // Constants move to the front, so that each is defined before its readers.
  Operation *first = &function.getBody().front().front();
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator()))
    if (op.hasTrait<OpTrait::ConstantLike>() && &op != first)
      op.moveBefore(first);
  for (Operation *op : order)
    op->moveBefore(end);
}
