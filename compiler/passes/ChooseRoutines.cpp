//===- ChooseRoutines.cpp - The cheapest routines and layouts together ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/routines/LayerForms.h"
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

namespace {
/// Writes a plan into its function.
class PlanWriter {
public:
  PlanWriter(func::FuncOp function, const PlanGraph &graph, const Plan &plan,
             const CostModel &cost, LayoutScope scope)
      : block(function.getBody().front()), graph(graph), plan(plan), cost(cost),
        scope(scope), adapter(cost, &graph.getPaths()) {}
  void run(LayerForms &forms);

private:
  void note();
  void takeForms(LayerForms &forms);
  void writeLayer(LayerOp layer, const Candidate &choice);

  Block &block;
  const PlanGraph &graph;
  const Plan &plan;
  const CostModel &cost;
  LayoutScope scope;
  OperandAdapter adapter;
  /// The plan's choices, noted while the function is as it was searched.
  DenseMap<Operation *, Candidate> choices;
  DenseMap<Operation *, SmallVector<RankedTensorType>> wanted;
  DenseMap<Value, SmallVector<std::pair<RankedTensorType, RankedTensorType>>>
      steps;
};
} // namespace

/// Notes the plan, before the function changes.
void PlanWriter::note() {
  auto noteSteps = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    if (Operation *maker = value.getDefiningOp();
        !maker || !maker->hasTrait<OpTrait::ConstantLike>())
      steps[value] = graph.getSteps(value, plan);
  };
  for (BlockArgument argument : block.getArguments())
    noteSteps(argument);
  for (Operation &op : block) {
    for (Value result : op.getResults())
      noteSteps(result);
    if (auto layer = dyn_cast<LayerOp>(op)) {
      choices[layer] = graph.getChoice(layer, plan);
      continue;
    }
    for (OpOperand &operand : op.getOpOperands())
      wanted[&op].push_back(graph.getWanted(operand, plan));
  }
}

/// Puts the chosen form of each layer in its place.
void PlanWriter::takeForms(LayerForms &forms) {
  for (LayerOp layer : llvm::make_early_inc_range(block.getOps<LayerOp>())) {
    Candidate choice = choices.lookup(layer);
    LayerOp form = choice.getForm(layer);
    if (form == layer)
      continue;
    choices[form] = std::move(choice);
    steps[form.getY()] = steps.lookup(layer.getY());
    forms.take(layer, form);
  }
  forms.clear();
}

void PlanWriter::writeLayer(LayerOp layer, const Candidate &choice) {
  for (auto [i, type] : llvm::enumerate(choice.operands))
    adapter.setOperand(layer->getOpOperand(i), type);
  if (choice.isView())
    return makeView(layer, choice.result);
  layer.getY().setType(choice.result);
  layer.setRoutine(choice.routine->name);
  layer.setParams(choice.params);
  if (choice.params.empty())
    layer.removeParamsAttr();
  if (scope == LayoutScope::local)
    adaptBack(layer, cost);
}

void PlanWriter::run(LayerForms &forms) {
  note();
  takeForms(forms);
  for (auto &[value, own] : steps)
    for (auto [from, to] : own)
      adapter.setStep(value, from, to);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto layer = dyn_cast<LayerOp>(op)) {
      // Layers without a choice are casts.
      if (auto choice = choices.find(layer); choice != choices.end())
        writeLayer(layer, choice->second);
      continue;
    }
    // Views that stand for layers have the layouts that were chosen, as adapts
    // have.
    auto types = wanted.find(&op);
    if (types == wanted.end())
      continue;
    for (auto [operand, type] : llvm::zip(op.getOpOperands(), types->second))
      adapter.setOperand(operand, type);
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      reshape.getResult().setType(
          Schema::of(types->second[0]).on(getTensorType(reshape.getResult())));
  }
}

static void apply(func::FuncOp function, const PlanGraph &graph,
                  const Plan &plan, const CostModel &cost, LayoutScope scope,
                  LayerForms &forms) {
  Block &block = function.getBody().front();
  Builder builder(function.getContext());
  PlanWriter(function, graph, plan, cost, scope).run(forms);
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
    if (failed(machine) || failed(readTuning(*machine)) ||
        (precision == Precision::f16 &&
         failed(checkHalves(*machine, getOperation().getLoc()))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(choose(function, *machine)))
        return signalPassFailure();
  }

  LogicalResult readTuning(target::MachineAttr machine) {
    if (tuned || tuning.empty())
      return success();
    auto file = readTuningFile(tuning, machine);
    if (failed(file))
      return failure();
    tuned = std::make_shared<TuningFile>(std::move(*file));
    return success();
  }

  LogicalResult choose(func::FuncOp function, target::MachineAttr machine) {
    forgetLayouts(function);
    const bool isLimited = maxRam < std::numeric_limits<int64_t>::max();
    // Before there are forms, which read values as well.
    FreeMemory free = isLimited ? findFreeMemory(function) : FreeMemory();
    LayerForms forms(function, precision);
    CostModel cost =
        makeCostModel(function, machine, tuned ? &tuned->measurements : nullptr,
                      /*memo=*/nullptr, &forms);
    addCodeCosts(function, cost, maxError, optimize);
    ArrayRef<Subject> choices;
    if (tuned && !isLimited)
      choices = tuned->getChoices(maxError);
    auto graph = PlanGraph::build(function, cost, maxError, layouts, choices);
    if (failed(graph))
      return failure();
    if (isLimited)
      return chooseWithin(function, cost, free,
                          graph->solve({states}).lowerBound, forms);
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
    apply(function, *graph, plan, cost, layouts, forms);
    return success();
  }

  /// Chooses within the free memory. `lowerBound` is that of the plans of any
  /// memory.
  LogicalResult chooseWithin(func::FuncOp function, CostModel &cost,
                             const FreeMemory &free, double lowerBound,
                             LayerForms &forms) {
    cost.setFreeMemory(&free);
    auto graph = PlanGraph::build(function, cost, maxError, layouts);
    if (failed(graph))
      return failure();
    Plan plan = graph->solve({states});
    if (plan.cost == kImpossible)
      return reportImpossible(function);
    plan.cost -= graph->getMemorySeconds(plan);
    plan.lowerBound = lowerBound;
    apply(function, *graph, plan, cost, layouts, forms);
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
