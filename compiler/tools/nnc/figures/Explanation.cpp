//===- Explanation.cpp - Alternatives that the search compared ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/Explanation.h"

#include "codegen/Codegen.h"
#include "compiler/routines/Decode.h"
#include "compiler/routines/GpuCost.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/WeightError.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/Quantized.h"
#include "compiler/tools/nnc/options/Clock.h"
#include "dialects/nn/control/Control.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace json = llvm::json;

namespace nnc::tools {

/// Returns the name of the form in which a weight is stored.
static std::string getFormName(nn::ShapeAttr shape) {
  return stored::getFormName(shape.getInt("form"), shape.getInt("gaps"),
                             shape.getInt("block"));
}

std::string Alternative::routineText() const {
  if (candidate.params.empty())
    return candidate.routine->name.str();
  return fmt::format("{}<{}>", candidate.routine->name.str(),
                     fmt::join(candidate.params, ", "));
}

/// Returns the name of a type's layout. It includes the element type if that is
/// a float of 16 bits, and the device unless that is the host.
static std::string schemaName(mlir::RankedTensorType type) {
  std::string name = nn::getLayoutName(type);
  if (type.getElementType().isF16())
    name += " f16";
  else if (type.getElementType().isBF16())
    name += " bf16";
  llvm::StringRef device = nn::getDevice(type);
  return device.empty() ? name : name + " on " + device.str();
}

std::string Alternative::schemaText() const {
  std::vector<std::string> operands;
  for (mlir::RankedTensorType type : candidate.operands)
    operands.push_back(schemaName(type));
  return fmt::format("{} -> {}", fmt::join(operands, ", "),
                     schemaName(candidate.result));
}

json::Object Alternative::toJson() const {
  return json::Object{{"routine", candidate.routine->name},
                      {"params", json::Array(candidate.params)},
                      {"layouts", schemaText()},
                      {"seconds", candidate.seconds},
                      {"error", candidate.error},
                      {"measured", candidate.measured},
                      {"measured_alike", candidate.alike},
                      {"estimate_seconds", candidate.estimate},
                      {"extra_seconds", extra == kImpossible
                                            ? json::Value(nullptr)
                                            : json::Value(extra)},
                      {"chosen", chosen}};
}

std::optional<json::Object> windowToJson(const nn::Description &said) {
  if (said.kernel.empty())
    return std::nullopt;
  return json::Object{{"kernel", json::Array(said.kernel)},
                      {"strides", json::Array(said.strides)},
                      {"dilations", json::Array(said.dilations)},
                      {"pads", json::Array(said.pads)},
                      {"groups", said.groups}};
}

llvm::StringRef Fusion::first() const {
  return form == "scaling"    ? "scaling"
         : form == "expanded" ? "1 x 1"
                              : "depthwise";
}

json::Object Fusion::toJson() const {
  return json::Object{
      {"fused", fused}, {"one_seconds", one}, {"apart_seconds", apart}};
}

static std::optional<Fusion> findFusion(nn::LayerOp layer) {
  for (llvm::StringRef form : {"separable", "scaling", "expanded"}) {
    auto costs =
        layer->getAttrOfType<mlir::DictionaryAttr>(("nn." + form).str());
    if (!costs)
      continue;
    auto seconds = [&](llvm::StringRef name) {
      return 1e-9 * double(costs.getAs<mlir::IntegerAttr>(name).getInt());
    };
    return Fusion{
        form,
        mlir::isa<nn::SeparableConvOp, nn::ScaledConvOp, nn::ExpandedConvOp>(
            layer.getAnchorOp()),
        seconds("apart_ns"), seconds("one_ns")};
  }
  return std::nullopt;
}

static Explained describe(nn::LayerOp layer) {
  std::vector<std::string> ops;
  if (mlir::Operation *anchor = layer.getAnchorOp())
    ops.push_back(anchor->getName().getStringRef().str());
  for (mlir::Operation &op : layer.getEpilogue().front())
    if (mlir::isa<nn::ElementwiseOpInterface>(op))
      ops.push_back(op.getName().getStringRef().str());
  auto type = mlir::cast<mlir::RankedTensorType>(layer.getY().getType());
  return {layer,
          layer.getName().str(),
          nn::getModelName(layer.getLoc()).str(),
          shapeText(type.getShape()) +
              (type.getElementType().isF16()    ? " of f16"
               : type.getElementType().isBF16() ? " of bf16"
                                                : ""),
          nn::describe(layer),
          ops,
          /*floats=*/"",
          findFusion(layer),
          {}};
}

std::string Explained::describeResult() const {
  auto type = mlir::cast<mlir::RankedTensorType>(chosen().result);
  auto sizes = nn::getNamedShape(type);
  std::string text = shapeText({sizes.begin(), sizes.end()});
  if (std::string layout = nn::getLayoutName(type); layout != "plain")
    text += " " + layout;
  if (type.getElementType().isF16())
    text += " of f16";
  else if (type.getElementType().isBF16())
    text += " of bf16";
  return text;
}

static Explained explain(nn::LayerOp layer, const PlanGraph &graph,
                         const Plan &plan, const CostModel &cost, bool all) {
  const Candidate &choice = graph.getChoice(layer, plan);
  Explained result = describe(choice.getForm(layer));
  result.layer = layer;
  forEachCandidate(layer, cost, graph.getLayouts(), [&](Candidate candidate) {
    if (!graph.isInScope(layer, candidate))
      return;
    double extra = graph.getExtraSeconds(layer, candidate, plan);
    bool chosen = candidate.isSameAs(choice);
    auto same = llvm::find_if(result.alternatives, [&](Alternative &other) {
      return other.candidate.routine == candidate.routine &&
             other.candidate.hasSchemaOf(candidate);
    });
    bool inexact = graph.isOverError(layer, candidate);
    candidate.form = {}; // lives only as long as the search
    Alternative one{std::move(candidate), extra, chosen, inexact};
    if (all || same == result.alternatives.end())
      result.alternatives.push_back(std::move(one));
    else if (chosen || (!same->chosen && extra < same->extra))
      *same = std::move(one);
  });
  llvm::sort(result.alternatives, [](auto &a, auto &b) {
    return std::tuple(!a.chosen, a.extra, a.routineText()) <
           std::tuple(!b.chosen, b.extra, b.routineText());
  });
  return result;
}

/// Returns how often a run of the model runs a function: 1, or for the body of
/// loops the product of their trip counts. A loop whose trip count depends on
/// data counts once.
static double countTrips(mlir::func::FuncOp function) {
  double trips = 1;
  auto module = function->getParentOfType<mlir::ModuleOp>();
  for (mlir::func::FuncOp inner = function; inner;) {
    mlir::func::FuncOp outer;
    module.walk([&](nn::ControlOpInterface op) {
      if (!llvm::is_contained(nn::getBodies(op), inner))
        return;
      outer = op->getParentOfType<mlir::func::FuncOp>();
      auto loop = mlir::dyn_cast<nn::LoopOp>(*op);
      if (loop && !loop.getCount() && !loop.getConditional())
        trips *= double(loop.getMax());
    });
    inner = outer;
  }
  return trips;
}

ExitCode Explanation::find(mlir::func::FuncOp function, const CostModel &cost,
                           Driver &driver, bool all) {
  const ModelOptions &options = driver.options();
  llvm::ArrayRef<Subject> choices;
  if (const TuningFile *tuned = driver.tuned())
    choices = tuned->getChoices(options.maxError);
  // The graph is built as nnc-choose-routines builds it.
  auto graph = PlanGraph::build(function, cost, options.maxError,
                                options.layouts, choices);
  if (mlir::failed(graph))
    return ExitCode::unsupported;
  auto planned =
      driver.layered().lookupSymbol<mlir::func::FuncOp>(function.getSymName());
  std::optional<Plan> kept = graph->readPlan(planned);
  Plan own = kept ? *kept : graph->solve();
  for (auto layer : function.getBody().getOps<nn::LayerOp>())
    layers.push_back(explain(layer, *graph, own, cost, all));
  // The plan also covers the functions that branches and loops run.
  double trips = countTrips(function);
  plan.cost += trips * own.cost;
  plan.lowerBound += trips * own.lowerBound;
  if (plan.solver.empty() || own.cost > own.lowerBound)
    plan.solver = own.solver;
  return ExitCode::done;
}

double getStoredSeconds(mlir::ModuleOp layered) {
  auto more = layered->getAttrOfType<mlir::IntegerAttr>(nn::kStoredNsAttr);
  return more ? 1e-9 * double(more.getInt()) : 0;
}

void Explanation::takeNames(mlir::ModuleOp layered) {
  const EmittedNames names(layered);
  // The plan decides which layers compute with floats.
  llvm::StringMap<nn::LayerOp> planned;
  layered.walk([&](nn::LayerOp layer) { planned[names.get(layer)] = layer; });
  for (Explained &one : layers) {
    auto layer = mlir::cast<nn::LayerOp>(one.layer);
    one.name = names.get(layer);
    if (!layer->getParentOfType<mlir::ModuleOp>()->hasAttr(qnn::kQuantizedAttr))
      continue;
    auto found = planned.find(one.name);
    one.floats =
        getFloatReason(found == planned.end() ? layer : found->second, names);
  }
}

void Explanation::takeClock() {
  std::vector<double *> times = {&plan.cost, &plan.lowerBound, &storedSeconds,
                                 &memsetSeconds};
  auto add = [&](UnitCost &cost) {
    times.push_back(&cost.seconds);
    times.push_back(&cost.estimate);
  };
  for (Explained &layer : layers) {
    if (layer.fusion)
      times.insert(times.end(), {&layer.fusion->apart, &layer.fusion->one});
    for (Alternative &each : layer.alternatives) {
      add(each.candidate);
      if (each.extra != kImpossible)
        times.push_back(&each.extra);
    }
  }
  for (LayoutChange &change : changes)
    add(change.cost);
  for (StoredWeight &weight : stored)
    times.push_back(&weight.seconds);
  for (double *time : times)
    *time *= clock.factor;
}

ExitCode Explanation::find(Driver &driver, bool all) {
  storedSeconds = getStoredSeconds(driver.layered());
  if (auto names = driver.layered()->getAttrOfType<mlir::ArrayAttr>(
          nn::kKeptWeightsAttr))
    for (llvm::StringRef name : names.getAsValueRange<mlir::StringAttr>())
      kept.push_back(name.str());
  auto machine = target::getTarget(driver.formed());
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  if (auto gpu = mlir::dyn_cast<target::GpuAttr>(machine->getHost().getCost()))
    for (auto program : driver.module().getOps<exec::ProgramOp>())
      if (codegen::clearsByMemset(program))
        memsetSeconds = GpuCost::getLaunchSeconds(gpu);
  const ModelOptions &options = driver.options();
  clock = findClock(*machine, options);
  for (auto function : driver.formed().getOps<mlir::func::FuncOp>()) {
    const TuningFile *tuned = driver.tuned();
    LayerForms forms(function, options.precision,
                     limitProducts(driver.weightRules()), options.maxError,
                     options.boundRounding);
    CostModel cost = makeCostModel(
        function, *machine, tuned ? &tuned->measurements : nullptr,
        /*memo=*/nullptr, &forms, driver.weightRules());
    addCodeCosts(function, cost, options.maxError, options.optimize);
    if (ExitCode code = find(function, cost, driver, all);
        code != ExitCode::done)
      return code;
    auto planned = driver.layered().lookupSymbol<mlir::func::FuncOp>(
        function.getSymName());
    planned.walk([&](nn::AdaptOp adapt) {
      if (!adapt.isView())
        changes.push_back(
            {nn::getModelName(adapt.getLoc()).str(),
             schemaName(adapt.getX().getType()),
             schemaName(adapt.getY().getType()),
             adapt.getRoutine().value_or("").str(),
             cost.getAdapt(adapt.getX().getType(), adapt.getY().getType())});
    });
    std::set<llvm::StringRef> own;
    for (auto layer : function.getBody().getOps<nn::LayerOp>())
      own.insert(layer.getName());
    planned.walk([&](nn::LayerOp layer) {
      if (own.count(layer.getName()) || layer.getAnchorOp() ||
          layer.getExtras().size() != 1)
        return;
      auto x = nn::getTensorType(layer.getExtras()[0]);
      UnitCost seconds;
      seconds.seconds = getLayerSeconds(layer, cost);
      changes.push_back({nn::getModelName(layer.getLoc()).str(), schemaName(x),
                         schemaName(layer.getY().getType()),
                         layer.getRoutine().value_or("").str(), seconds});
    });
    planned.walk([&](nn::DecodeOp decode) {
      stored.push_back({nn::getModelName(decode.getLoc()).str(),
                        getFormName(decode.getShape()),
                        decode.getRoutine().value_or("").str(),
                        /*layer=*/"",
                        /*isDecoded=*/true,
                        nn::getPhysicalBytes(decode.getX().getType()),
                        nn::getPhysicalBytes(decode.getY().getType()),
                        findDecode(decode.getShape(), decode.getX().getType(),
                                   decode.getY().getType(), cost)
                            .seconds});
    });
    const EmittedNames names(driver.layered());
    planned.walk([&](nn::LayerOp layer) {
      auto add = [&](nn::ShapeAttr shape, int64_t weightBytes) {
        mlir::Value weight = layer.getInputs()[1];
        stored.push_back(
            {nn::getModelName(weight.getLoc()).str(), getFormName(shape),
             layer.getRoutine().value_or("").str(), names.get(layer),
             /*isDecoded=*/false,
             nn::getPhysicalBytes(nn::getTensorType(weight)), weightBytes,
             getLayerSeconds(layer, cost)});
      };
      mlir::Operation *anchor = layer.getAnchorOp();
      if (auto dense = mlir::dyn_cast_or_null<nn::StoredMatMulOp>(anchor))
        add(dense.getShape(), dense.getWeightBytes());
      if (auto conv = mlir::dyn_cast_or_null<nn::StoredConvOp>(anchor))
        add(conv.getShape(), conv.getWeightBytes());
    });
  }
  takeNames(driver.layered());
  takeClock();
  return ExitCode::done;
}

} // namespace nnc::tools
