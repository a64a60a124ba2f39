//===- ChooseRoutines.cpp - The cheapest routines and layouts together ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Layouts.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/routines/TuningFile.h"
#include "dialects/exec/Exec.h"
#include "dialects/nn/Layer.h"
#include "dialects/nn/ModelName.h"
#include "dialects/nn/State.h"

namespace nnc {
#define GEN_PASS_DEF_CHOOSEROUTINES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Puts a transpose that an earlier choice has made a view into a layer.
static void makeLayer(TransposeOp transpose) {
  OpBuilder builder(transpose);
  Location loc = transpose.getLoc();
  RankedTensorType y = getLogicalType(transpose.getY().getType());
  exec::Names names;
  for (LayerOp layer : transpose->getBlock()->getOps<LayerOp>())
    names.take(layer.getName(), /*isCall=*/true);
  std::string name = names.addCall(getModelName(loc, "transpose"));
  LayerOp layer = createAnchorLayer(
      builder, loc, name, y, transpose.getX(), [&](ValueRange arguments) {
        return builder.create<TransposeOp>(loc, arguments[0],
                                           transpose.getPermutation());
      });
  transpose.getY().replaceAllUsesWith(layer.getY());
  transpose.erase();
}

/// Undoes an earlier choice of layouts: removes all adapts and gives all values
/// their logical types.
static void forgetLayouts(func::FuncOp function) {
  function.walk([](AdaptOp adapt) {
    adapt.getY().replaceAllUsesWith(adapt.getX());
    adapt.erase();
  });
  for (auto transpose : llvm::make_early_inc_range(
           function.getBody().front().getOps<TransposeOp>()))
    makeLayer(transpose);
  for (Operation &op : function.getBody().front().without_terminator())
    for (Value result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        result.setType(getLogicalType(type));
}

/// Makes the readers of the layer's result read it in row-major order.
static void adaptBack(LayerOp layer, const CostModel &cost) {
  Value made = layer.getY();
  auto plain = getLogicalType(getTensorType(made));
  if (made.getType() == plain)
    return;
  OpBuilder builder(layer->getContext());
  builder.setInsertionPointAfter(layer);
  auto adapt = builder.create<AdaptOp>(layer.getLoc(), plain, made);
  chooseRoutine(adapt, cost);
  made.replaceAllUsesExcept(adapt.getY(), adapt);
}

/// Replaces a layer by its transpose, which is a view of the operand. An op
/// outside of layers runs no routine.
static void makeView(LayerOp layer, RankedTensorType type) {
  auto transpose = cast<TransposeOp>(layer.getAnchorOp());
  OpBuilder builder(layer);
  auto view = builder.create<TransposeOp>(
      layer.getLoc(), type, layer.getInputs()[0], transpose.getPermutation());
  layer.getY().replaceAllUsesWith(view.getY());
  layer.erase();
}

static void apply(func::FuncOp function, const PlanGraph &graph,
                  const Plan &plan, const CostModel &cost, LayoutScope scope) {
  OperandAdapter adapter(cost);
  Block &block = function.getBody().front();
  Builder builder(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto layer = dyn_cast<LayerOp>(op)) {
      const Candidate &choice = graph.getChoice(layer, plan);
      for (auto [i, type] : llvm::enumerate(choice.operands))
        adapter.setOperand(op.getOpOperand(i), type);
      if (choice.isView()) {
        makeView(layer, choice.result);
        continue;
      }
      layer.getY().setType(choice.result);
      layer.setRoutine(choice.routine->name);
      layer.setParams(choice.params);
      if (choice.params.empty())
        layer.removeParamsAttr();
      if (scope == LayoutScope::local)
        adaptBack(layer, cost);
      continue;
    }
    // Views that stand for layers have the layouts that were chosen.
    if (isa<TransposeOp>(op))
      continue;
    // All other ops read and write row-major tensors.
    for (OpOperand &operand : op.getOpOperands())
      adapter.setOperand(operand, getLogicalType(cast<RankedTensorType>(
                                      operand.get().getType())));
  }
  for (auto constant : llvm::make_early_inc_range(block.getOps<ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
  function->setAttr(
      "nn.plan",
      builder.getDictionaryAttr(
          {builder.getNamedAttr(
               "bound_ns",
               builder.getI64IntegerAttr(std::llround(plan.lowerBound * 1e9))),
           builder.getNamedAttr(
               "ns", builder.getI64IntegerAttr(std::llround(plan.cost * 1e9))),
           builder.getNamedAttr("solver",
                                builder.getStringAttr(plan.solver))}));
}

namespace {
struct ChooseRoutinesPass : nnc::impl::ChooseRoutinesBase<ChooseRoutinesPass> {
  using Base::Base;
  ChooseRoutinesPass(ChooseRoutinesOptions options,
                     std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine) || failed(readTuning(*machine)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(choose(function, *machine)))
        return signalPassFailure();
  }

  LogicalResult readTuning(target::MachineAttr machine) {
    if (tuning.empty())
      return success();
    auto file = readTuningFile(tuning, machine);
    if (failed(file))
      return failure();
    tuned = std::make_shared<TuningFile>(std::move(*file));
    return success();
  }

  LogicalResult choose(func::FuncOp function, target::MachineAttr machine) {
    forgetLayouts(function);
    CostModel cost = makeCostModel(function, machine,
                                   tuned ? &tuned->measurements : nullptr);
    addCodeCosts(function, cost, maxError, optimize);
    const bool isLimited = maxRam < std::numeric_limits<int64_t>::max();
    ArrayRef<Subject> choices;
    if (tuned && !isLimited)
      choices = tuned->getChoices(maxError);
    auto graph = PlanGraph::build(function, cost, maxError, layouts, choices);
    if (failed(graph))
      return failure();
    if (isLimited)
      return chooseWithin(function, cost, graph->solve({states}).lowerBound);
    // Choices are those of layers outside of branches and loops.
    if (tuned && !tuned->choices.empty() && !graph->hasChoices() &&
        !function.isPrivate())
      function.emitWarning(
          "has other layers, or less --max-error, than the choices of the "
          "tuning file are for; they are left out, its measurements count: "
          "choose anew with nnc tune");
    Plan plan = graph->solve({states});
    if (plan.cost == kImpossible)
      return reportImpossible(function);
    apply(function, *graph, plan, cost, layouts);
    return success();
  }

  /// Chooses within `maxRam`. `lowerBound` is that of the plans of any memory.
  LogicalResult chooseWithin(func::FuncOp function, CostModel &cost,
                             double lowerBound) {
    FreeMemory free = findFreeMemory(function);
    cost.setFreeMemory(&free);
    auto graph = PlanGraph::build(function, cost, maxError, layouts);
    if (failed(graph))
      return failure();
    Plan plan = graph->solve({states});
    if (plan.cost == kImpossible)
      return reportImpossible(function);
    plan.cost -= graph->getMemorySeconds(plan);
    plan.lowerBound = lowerBound;
    apply(function, *graph, plan, cost, layouts);
    cost.setFreeMemory(nullptr);
    return success();
  }

  /// Returns the bytes of inputs, outputs and state outside of the arena.
  int64_t getCallersBytes(func::FuncOp function) const {
    int64_t bytes = 0;
    for (BlockArgument input : function.getArguments())
      if (!portsInArena || getPool(input) != exec::Pool::input)
        bytes += getBytes(input);
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (!portsInArena && !getStateOf(function, i))
        bytes += getPhysicalBytes(cast<RankedTensorType>(type));
    return bytes;
  }

  /// Returns what `maxRam` leaves beside the values of the function and what
  /// the caller holds. What is in use outside of a function that another one
  /// runs is not subtracted.
  FreeMemory findFreeMemory(func::FuncOp function) const {
    int64_t left = function.isPrivate() ? maxRam.getValue()
                                        : maxRam - getCallersBytes(function);
    FreeMemory free;
    free.threads = threads;
    for (auto [op, bytes] :
         llvm::zip_equal(getLayerOrder(function),
                         getUsage(describeSteps(function, portsInArena))))
      free.bytes[op] = std::max<int64_t>(left - bytes, 0);
    return free;
  }

  static LogicalResult reportImpossible(func::FuncOp function) {
    return function.emitError(
        "has routines set whose layouts no adapt can join; unset one");
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createChooseRoutines(ChooseRoutinesOptions options,
                          std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<ChooseRoutinesPass>(std::move(options),
                                              std::move(tuned));
}
