//===- DropUnread.cpp - Drops values of branches and loops ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Passes on a single function cannot tell whether a value that it returns has
// readers. This pass starts at the results of the network and follows the
// values that they depend on into the functions that branches and loops run.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/nn/control/Control.h"

#include "llvm/ADT/BitVector.h"

namespace nnc {
#define GEN_PASS_DEF_DROPUNREAD
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

static Operation *getEnd(func::FuncOp function) {
  return function.getBody().front().getTerminator();
}

namespace {
/// The live values of a module: those that the results of its main functions
/// depend on, which are the functions that no op runs.
class Liveness {
public:
  explicit Liveness(ModuleOp module);

  bool isLive(Value value) const { return live.contains(value); }
  bool isLive(Operation *op) const {
    return op->hasTrait<OpTrait::IsTerminator>() ||
           llvm::any_of(op->getResults(),
                        [&](Value value) { return isLive(value); });
  }
  /// Returns the op that runs `function`, or null.
  Operation *getRunner(func::FuncOp function) const {
    return runners.lookup(function);
  }

private:
  void add(Value value) {
    if (live.insert(value).second)
      open.push_back(value);
  }
  void addCarried(nn::LoopOp loop, unsigned number);
  void followArgument(BlockArgument argument);
  void followResult(OpResult result);

  /// The op that runs each function.
  DenseMap<Operation *, Operation *> runners;
  DenseSet<Value> live;
  SmallVector<Value> open; ///< live values whose origin has not been followed
};
} // namespace

Liveness::Liveness(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (auto control : function.getOps<nn::ControlOpInterface>())
      for (func::FuncOp body : nn::getBodies(control))
        runners[body] = control;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && !getRunner(function))
      for (Value result : getEnd(function)->getOperands())
        add(result);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value))
      followArgument(argument);
    else
      followResult(cast<OpResult>(value));
  }
}

/// Marks the parts of a carried value as live: its initial value, its argument,
/// and its next value.
void Liveness::addCarried(nn::LoopOp loop, unsigned number) {
  add(loop.getInits()[number]);
  add(getEnd(nn::getBodies(loop).front())->getOperand(number));
}

void Liveness::followArgument(BlockArgument argument) {
  Operation *runner =
      getRunner(cast<func::FuncOp>(argument.getOwner()->getParentOp()));
  if (!runner)
    return;
  unsigned number = argument.getArgNumber(), first = 0;
  if (auto loop = dyn_cast<nn::LoopOp>(runner)) {
    if (number == 0)
      return; // the argument is the number of the run
    first = loop.getFirstCaptured();
    if (number < first)
      return addCarried(loop, number - 1);
  }
  add(cast<nn::ControlOpInterface>(runner).getCaptured()[number - first]);
}

void Liveness::followResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto branch = dyn_cast<nn::IfOp>(op)) {
    add(branch.getCondition());
    for (func::FuncOp body : nn::getBodies(op))
      add(getEnd(body)->getOperand(number));
  } else if (auto loop = dyn_cast<nn::LoopOp>(op)) {
    if (loop.getCount())
      add(loop.getCount());
    if (loop.getConditional())
      addCarried(loop, 0);
    if (number < loop.getInits().size())
      addCarried(loop, number);
    else
      add(getEnd(nn::getBodies(op).front())->getOperand(number));
  } else {
    for (Value operand : op->getOperands())
      add(operand);
  }
}

/// Returns those of `values` whose number is not in `dead`.
static SmallVector<Value> dropDead(ValueRange values,
                                   const llvm::BitVector &dead) {
  SmallVector<Value> kept;
  for (auto [i, value] : llvm::enumerate(values))
    if (!dead[i])
      kept.push_back(value);
  return kept;
}

namespace {
/// The results, operands and arguments to remove from an op and its functions.
struct DeadParts {
  llvm::BitVector results;
  llvm::BitVector captured;
  /// Arguments of the functions: one for each carried value of an nn.loop, and
  /// one for each captured operand.
  llvm::BitVector arguments;

  bool any() const { return results.any() || captured.any(); }
};
} // namespace

static DeadParts findDead(nn::ControlOpInterface control,
                          const Liveness &liveness) {
  auto bodies = nn::getBodies(control);
  auto isDead = [&](unsigned argument) {
    return llvm::none_of(bodies, [&](func::FuncOp body) {
      return liveness.isLive(body.getArgument(argument));
    });
  };
  unsigned arguments = bodies.front().getNumArguments();
  unsigned captured = control.getCaptured().size();
  DeadParts dead{llvm::BitVector(control->getNumResults()),
                 llvm::BitVector(captured), llvm::BitVector(arguments)};
  for (OpResult result : control->getResults())
    dead.results[result.getResultNumber()] = !liveness.isLive(result);
  if (auto loop = dyn_cast<nn::LoopOp>(control.getOperation()))
    for (unsigned i = 0; i < loop.getInits().size(); ++i) {
      bool isCondition = loop.getConditional() && i == 0;
      dead.results[i] = dead.results[i] && !isCondition && isDead(1 + i);
      dead.arguments[1 + i] = dead.results[i];
    }
  for (unsigned i = 0; i < captured; ++i)
    dead.captured[i] = dead.arguments[arguments - captured + i] =
        isDead(arguments - captured + i);
  return dead;
}

/// Replaces `control` by a copy without its dead parts.
static void rebuild(nn::ControlOpInterface control, const DeadParts &dead) {
  OpBuilder builder(control);
  SmallVector<Value> results = dropDead(control->getResults(), dead.results),
                     captured = dropDead(control.getCaptured(), dead.captured);
  TypeRange types = ValueRange(results).getTypes();
  Operation *made = nullptr;
  if (auto branch = dyn_cast<nn::IfOp>(control.getOperation())) {
    made = builder.create<nn::IfOp>(control.getLoc(), types,
                                    branch.getCondition(), captured,
                                    branch.getThenBody(), branch.getElseBody());
  } else {
    auto loop = cast<nn::LoopOp>(control.getOperation());
    SmallVector<Value> inits = dropDead(loop.getInits(), dead.results);
    made = builder.create<nn::LoopOp>(control.getLoc(), types, loop.getCount(),
                                      inits, captured, loop.getBody(),
                                      loop.getMax(), loop.getConditional());
  }
  made->setDiscardableAttrs(control->getDiscardableAttrDictionary());
  for (auto [old, result] : llvm::zip_equal(results, made->getResults()))
    old.replaceAllUsesWith(result);
}

namespace {
struct DropUnreadPass : nnc::impl::DropUnreadBase<DropUnreadPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(nn::verifyBodies(module)))
      return signalPassFailure();
    // Liveness is complete before anything changes, because changes create new
    // values.
    Liveness liveness(module);
    SmallVector<Operation *> dead;
    SmallVector<std::pair<nn::ControlOpInterface, DeadParts>> changed;
    for (auto function : module.getOps<func::FuncOp>()) {
      Operation *runner = liveness.getRunner(function);
      if (runner && !liveness.isLive(runner)) {
        dead.push_back(function);
        continue;
      }
      for (Operation &op : function.getOps()) {
        if (!liveness.isLive(&op)) {
          dead.push_back(&op);
          continue;
        }
        auto control = dyn_cast<nn::ControlOpInterface>(op);
        if (!control)
          continue;
        if (DeadParts parts = findDead(control, liveness); parts.any())
          changed.emplace_back(control, std::move(parts));
      }
    }
    for (auto &[control, parts] : changed) {
      for (func::FuncOp body : nn::getBodies(control)) {
        getEnd(body)->eraseOperands(parts.results);
        body.eraseResults(parts.results);
      }
      rebuild(control, parts);
      dead.push_back(control);
    }
    for (Operation *op : dead)
      op->dropAllReferences();
    for (auto &[control, parts] : changed)
      for (func::FuncOp body : nn::getBodies(control))
        body.eraseArguments(parts.arguments);
    for (Operation *op : dead)
      op->erase();
  }
};
} // namespace
