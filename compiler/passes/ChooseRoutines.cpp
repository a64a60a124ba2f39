//===- ChooseRoutines.cpp - The cheapest routines and layouts together ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/patterns/EqualConstants.h"
#include "compiler/routines/JoinedConcats.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/Layouts.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/routines/TuningFile.h"
#include "compiler/routines/WeightChoice.h"
#include "compiler/routines/WeightPlan.h"
#include "dialects/exec/Exec.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/layers/Layer.h"

namespace nnc {
#define GEN_PASS_DEF_CHOOSEROUTINES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Puts a transpose, which an earlier choice has made a view, back into a
/// layer.
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

/// Inserts an adapt behind the layer, so that its readers get its result in
/// row-major order.
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

/// Replaces a layer whose anchor is a transpose by that transpose, as a view of
/// the operand: an op outside of layers runs no routine.
static void makeView(LayerOp layer, RankedTensorType type) {
  auto transpose = cast<TransposeOp>(layer.getAnchorOp());
  OpBuilder builder(layer);
  auto view = builder.create<TransposeOp>(
      layer.getLoc(), type, layer.getInputs()[0], transpose.getPermutation());
  layer.getY().replaceAllUsesWith(view.getY());
  layer.erase();
}

namespace {
/// A writer of a plan into its function.
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
  /// The plan's choices, recorded before the function changes.
  DenseMap<Operation *, Candidate> choices;
  DenseMap<Operation *, SmallVector<RankedTensorType>> wanted;
  DenseMap<Value, SmallVector<std::pair<RankedTensorType, RankedTensorType>>>
      steps;
};
} // namespace

/// Records the plan in `choices` and `wanted`, before the function changes.
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

/// Replaces each layer by its chosen form.
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
      // Only casts have no choice.
      if (auto choice = choices.find(layer); choice != choices.end())
        writeLayer(layer, choice->second);
      continue;
    }
    // Views that replace layers get the chosen layouts, like adapts.
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

/// Writes a plan into its function. If the plan depended on stored weights, the
/// function keeps its choices for reports.
static void apply(func::FuncOp function, const PlanGraph &graph,
                  const Plan &plan, const CostModel &cost, LayoutScope scope,
                  LayerForms &forms, bool keepsChoices) {
  Block &block = function.getBody().front();
  Builder builder(function.getContext());
  PlanWriter(function, graph, plan, cost, scope).run(forms);
  for (auto constant : llvm::make_early_inc_range(block.getOps<ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
  auto getNs = [&](double seconds) {
    return builder.getI64IntegerAttr(std::llround(seconds * 1e9));
  };
  NamedAttrList entries;
  entries.set("bound_ns", getNs(plan.lowerBound));
  entries.set("ns", getNs(plan.cost));
  entries.set("solver", builder.getStringAttr(plan.solver));
  if (keepsChoices)
    entries.set(kPlanChoices, builder.getDenseI32ArrayAttr(SmallVector<int32_t>(
                                  plan.choices.begin(), plan.choices.end())));
  function->setAttr(kPlanAttr, entries.getDictionary(function.getContext()));
}

namespace {
struct ChooseRoutinesPass : nnc::impl::ChooseRoutinesBase<ChooseRoutinesPass> {
  using Base::Base;
  ChooseRoutinesPass(ChooseRoutinesOptions options,
                     std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto machine = target::setTarget(module, target);
    if (failed(machine) || failed(readTuning(*machine)) ||
        failed(verifyWeightRules(getWeightRules(), getOperation().getLoc())) ||
        failed(checkPrecision(precision, *machine, module.getLoc())))
      return signalPassFailure();
    joinConcats(module, *machine);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        forgetLayouts(function);
    shareEqualConstants(module);
    if (failed(choose(module, *machine)))
      return signalPassFailure();
    // The chosen forms of layers have created constants of their own.
    if (getHalf(precision, &getContext()))
      shareEqualConstants(module);
  }

  WeightRules getWeightRules() const {
    return {weightsEncoding,
            /*weighsBytes=*/weighsBytes() || weightsFront};
  }
  bool areWeightsLimited() const {
    return maxWeights < std::numeric_limits<int64_t>::max();
  }
  bool isTimeLimited() const {
    return maxNs < std::numeric_limits<int64_t>::max();
  }
  /// Returns true if the plan trades bytes of weights against time.
  bool weighsBytes() const { return areWeightsLimited() || isTimeLimited(); }
  /// Returns true if the options name a kind of stored weights.
  bool wantsKind() const { return weightsEncoding != "auto"; }
  /// Returns the kinds of stored weights to consider. If the options name none,
  /// these are all kinds or, unless `all`, only the kind that can make layers
  /// faster.
  SmallVector<stored::StoredKind> listKinds(bool all) const {
    SmallVector<stored::StoredKind> kinds;
    for (stored::StoredKind kind : stored::kStoredKinds)
      if (wantsKind() ? weightsEncoding == stored::toString(kind).str()
                      : all || kind == stored::StoredKind::csr)
        kinds.push_back(kind);
    return kinds;
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

  /// The search of the plan of one function. It is not copied, as its members
  /// refer to each other.
  struct FunctionSearch {
    func::FuncOp function;
    FreeMemory free;
    LayerForms forms;
    CostModel cost;
    std::optional<PlanGraph> graph;
    Plan plan;

    FunctionSearch(func::FuncOp function, target::MachineAttr machine,
                   const Measurements *measured, Precision precision,
                   Products products, double maxError, bool boundsRounding,
                   WeightRules rules)
        : function(function),
          forms(function, precision, limitProducts(rules, products), maxError,
                boundsRounding),
          cost(makeCostModel(function, machine, measured, /*memo=*/nullptr,
                             &forms, std::move(rules))) {}
  };
  using Searches = std::vector<std::unique_ptr<FunctionSearch>>;

  /// Finds the cheapest plans of all functions with all weights stored as they
  /// are.
  LogicalResult search(ModuleOp module, target::MachineAttr machine,
                       Searches &searches) {
    const bool isLimited = maxRam < std::numeric_limits<int64_t>::max();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      // Before other forms of layers are created, which would count as readers
      // of values.
      FreeMemory free = isLimited ? findFreeMemory(function) : FreeMemory();
      FunctionSearch &own =
          *searches.emplace_back(std::make_unique<FunctionSearch>(
              function, machine, tuned ? &tuned->measurements : nullptr,
              precision, products, maxError, boundRounding, getWeightRules()));
      own.free = std::move(free);
      addCodeCosts(function, own.cost, maxError, optimize);
      if (failed(isLimited ? searchWithin(own) : search(own)))
        return failure();
    }
    return success();
  }

  LogicalResult search(FunctionSearch &own) {
    ArrayRef<Subject> choices;
    if (tuned)
      choices = tuned->getChoices(maxError);
    auto graph =
        PlanGraph::build(own.function, own.cost, maxError, layouts, choices);
    if (failed(graph))
      return failure();
    own.graph.emplace(std::move(*graph));
    // A tuning file has choices only for layers outside of branches and loops.
    if (tuned && !tuned->choices.empty() && !own.graph->hasChoices() &&
        !own.function.isPrivate() &&
        own.function->getParentOp() == getOperation())
      own.function.emitWarning(
          "has other layers, or less --max-error, than the choices of the "
          "tuning file are for; they are left out, its measurements count: "
          "choose anew with nnc tune");
    own.plan = own.graph->solve({states});
    return own.plan.cost == kImpossible ? reportImpossible(own.function)
                                        : success();
  }

  /// Searches for a plan that keeps to the free memory. The lower bound is that
  /// of plans without a limit of memory.
  LogicalResult searchWithin(FunctionSearch &own) {
    auto any = PlanGraph::build(own.function, own.cost, maxError, layouts);
    if (failed(any))
      return failure();
    const double lowerBound = any->solve({states}).lowerBound;
    own.cost.setFreeMemory(&own.free);
    auto graph = PlanGraph::build(own.function, own.cost, maxError, layouts);
    if (failed(graph))
      return failure();
    own.graph.emplace(std::move(*graph));
    own.plan = own.graph->solve({states});
    if (own.plan.cost == kImpossible)
      return reportImpossible(own.function);
    own.plan.cost -= own.graph->getMemorySeconds(own.plan);
    own.plan.lowerBound = lowerBound;
    return success();
  }

  void write(Searches &searches, bool keepsChoices = false) {
    for (auto &own : searches)
      apply(own->function, *own->graph, own->plan, own->cost, layouts,
            own->forms, keepsChoices);
  }

  LogicalResult choose(ModuleOp module, target::MachineAttr machine) {
    Searches searches;
    if (failed(search(module, machine, searches)))
      return failure();
    if (weightsFront) {
      FormRules rules{FormAim::both, listKinds(/*all=*/true)};
      FailureOr<WeightPlan> plan =
          planWeights(module, machine, searches, rules);
      if (failed(plan))
        return failure();
      module->setAttr(kWeightsFrontAttr, toAttribute(plan->findFront()));
    }
    FormRules rules{weighsBytes() ? FormAim::both
                    : wantsKind() ? FormAim::bytes
                                  : FormAim::time,
                    listKinds(/*all=*/weighsBytes())};
    FailureOr<WeightPlan> plan = planWeights(module, machine, searches, rules);
    if (failed(plan))
      return failure();
    if (!plan->mayHaveForms()) {
      write(searches);
      return success();
    }
    if (areWeightsLimited())
      plan->keepBelow(maxWeights - getHeaderBytes(module));
    else if (isTimeLimited())
      plan->keepWithin(1e-9 * double(maxNs));
    else
      plan->chooseFastest();
    for (auto [i, own] : llvm::enumerate(searches))
      own->plan = plan->getPlan(i);
    note(module, *plan);
    write(searches, /*keepsChoices=*/true);
    plan->apply(module);
    return success();
  }

  /// Builds the search problem of a module that includes the stored forms of
  /// its weights.
  FailureOr<WeightPlan> planWeights(ModuleOp module,
                                    target::MachineAttr machine,
                                    Searches &searches, FormRules rules) {
    std::vector<PlannedFunction> functions;
    for (auto &own : searches)
      functions.push_back({own->function, &*own->graph, &own->cost, own->plan});
    WeightPlan plan(std::move(functions), std::move(rules),
                    getMemoryAlign(module), {states});
    if (!plan.mayHaveForms())
      return plan;
    DecodeRoom room;
    // The plan in which all weights are stored as they are tells how much
    // memory is free.
    if (plan.mayDecode()) {
      OwningOpRef<ModuleOp> copy = module.clone();
      Searches copied;
      if (failed(search(*copy, machine, copied)))
        return failure();
      write(copied);
      room = DecodeRoom(*copy, decodeRam);
    }
    plan.findForms(room);
    return plan;
  }

  /// Returns the points of a Pareto front, pairs of bytes and seconds, as an
  /// attribute.
  Attribute toAttribute(ArrayRef<std::pair<int64_t, double>> points) {
    ModuleOp module = getOperation();
    Builder builder(module);
    SmallVector<Attribute> all;
    for (auto [bytes, seconds] : points)
      all.push_back(builder.getDenseF64ArrayAttr(
          {double(bytes + getHeaderBytes(module)), seconds}));
    return builder.getArrayAttr(all);
  }

  /// Records the plan's figures about weights as attributes of the module.
  void note(ModuleOp module, const WeightPlan &plan) const {
    Builder builder(module);
    SmallVector<Attribute> kept;
    plan.forEachKept([&](const WeightForms &weight, RankedTensorType type) {
      if (wantsKind() && weight.hasNone(type))
        kept.push_back(builder.getStringAttr(weight.getName()));
      if (weight.isOfBytes() && weight.lacksRoom(type))
        for (const WeightReader &reader : weight.getReaders())
          LayerOp(reader.layer)
              .getAnchorOp()
              ->setAttr(kBytesNeedRamAttr, builder.getUnitAttr());
    });
    if (!kept.empty())
      module->setAttr(kKeptWeightsAttr, builder.getArrayAttr(kept));
    if (double seconds = plan.getExtraSeconds(); seconds != 0)
      module->setAttr(kStoredNsAttr,
                      builder.getI64IntegerAttr(std::llround(seconds * 1e9)));
  }

  /// Returns the bytes of the header in front of weights that are not divided
  /// among memories, and of the padding behind them to a multiple of 8; both
  /// count towards the limit.
  static int64_t getHeaderBytes(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(exec::kWeightMemoriesAttr))
        return 0;
    const int64_t align = getMemoryAlign(module);
    return exec::getWeightsHeaderBytes(align) + (align < 8 ? 8 - align : 0);
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

  /// Returns the bytes that `maxRam` leaves free while each layer runs, beside
  /// the values of the function and the buffers of the caller. For a function
  /// that another one runs, the values of the other one are not subtracted.
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
