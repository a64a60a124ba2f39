//===- Explain.cpp - nnc explain ------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/PlanGraph.h"
#include "compiler/tools/driver/Quantized.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"

#include "llvm/Support/MemoryBuffer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

std::string layoutText(mlir::Type type) { return nn::getLayoutName(type); }

/// A routine that could compute a layer, with its best parameters for it.
struct Alternative {
  Candidate candidate;
  double extra; ///< seconds that the plan would take longer with it
  bool chosen;
  bool inexact; ///< cheaper, but less accurate than --max-error allows

  std::string routineText() const {
    if (candidate.params.empty())
      return candidate.routine->name.str();
    return fmt::format("{}<{}>", candidate.routine->name.str(),
                       fmt::join(candidate.params, ", "));
  }
  /// Returns the layouts of operands and result, for instance "NCHW, KCRS16c16k
  /// -> NCHW16c".
  std::string schemaText() const {
    std::vector<std::string> operands;
    for (mlir::Type type : candidate.operands)
      operands.push_back(layoutText(type));
    return fmt::format("{} -> {}", fmt::join(operands, ", "),
                       layoutText(candidate.result));
  }
};

/// The costs that nnc-fuse-layers compared for a layer and the one before it.
struct Fusion {
  llvm::StringRef form; ///< "separable", "scaling" or "expanded"
  bool fused;
  double apart, one; ///< cost in seconds of two layers and of the fused one

  llvm::StringRef first() const {
    return form == "scaling"    ? "scaling"
           : form == "expanded" ? "1 x 1"
                                : "depthwise";
  }
};

std::optional<Fusion> findFusion(nn::LayerOp layer) {
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

/// A layer with its alternatives: first the chosen one, then the others by the
/// cost of the plan with them.
struct Explained {
  mlir::Operation *layer;
  /// Name in the emitted code and in the model.
  std::string name, modelName, shape;
  std::string ops; ///< for instance "nn.conv, nn.add, nn.relu"
  /// Why it works on floats, in a quantized model; empty for other layers.
  std::string floats;
  std::optional<Fusion> fusion;
  std::vector<Alternative> alternatives;

  const Candidate &chosen() const { return alternatives.front().candidate; }
};

Explained describe(nn::LayerOp layer) {
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
          fmt::format("{}", fmt::join(ops, ", ")),
          layer->getParentOfType<mlir::ModuleOp>()->hasAttr(qnn::kQuantizedAttr)
              ? getFloatReason(layer)
              : "",
          findFusion(layer),
          {}};
}

/// A change of layout (adapt) of a value in the finished plan.
struct LayoutChange {
  std::string name, from, to, routine;
  UnitCost cost;
};

class Explain : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    app.add_option("--layer", only, "Only the layers whose name has this in it")
        ->type_name("TEXT");
    app.add_flag("--all", all,
                 "Each routine with all of its params, not the best alone");
    app.add_option("--costs", costs,
                   "Lines of tables like those of runtime/routines/costs/, "
                   "whose constants count instead")
        ->type_name("FILE")
        // Hidden in --help: scripts/benchmark/fit_costs.py uses it.
        ->group("");
    auto *asJson = app.add_flag("--json", json, "Print the result as JSON");
    app.add_flag("--dot", dot, "Draw the plan, as Graphviz's dot reads it")
        ->excludes(asJson);
  }

  ExitCode run() override {
    if (ExitCode code = readCosts(); code != ExitCode::done)
      return code;
    Driver driver(options, {/*keepStages=*/true});
    for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
      if (ExitCode code = (driver.*step)(); code != ExitCode::done)
        return code;
    auto machine = target::getTarget(driver.formed());
    if (mlir::failed(machine))
      return ExitCode::ownFault;
    quantized = reportQuantized(driver.formed());
    for (auto function : driver.formed().getOps<mlir::func::FuncOp>()) {
      const TuningFile *tuned = driver.tuned();
      CostModel cost = makeCostModel(function, *machine,
                                     tuned ? &tuned->measurements : nullptr);
      addCodeCosts(function, cost, options.maxError, options.optimize);
      if (ExitCode code = explain(function, cost, tuned);
          code != ExitCode::done)
        return code;
      auto planned = driver.layered().lookupSymbol<mlir::func::FuncOp>(
          function.getSymName());
      planned.walk([&](nn::AdaptOp adapt) {
        if (!adapt.isView())
          changes.push_back(
              {nn::getModelName(adapt.getLoc()).str(),
               layoutText(adapt.getX().getType()),
               layoutText(adapt.getY().getType()),
               adapt.getRoutine().value_or("").str(),
               cost.getAdapt(adapt.getX().getType(), adapt.getY().getType())});
      });
    }
    if (json)
      printJson(toJson());
    else if (dot)
      printDot();
    else
      print();
    return ExitCode::done;
  }

private:
  /// Replaces the constants of the cost model by those of --costs, if that is
  /// given.
  ExitCode readCosts() const {
    if (costs.empty())
      return ExitCode::done;
    auto buffer = llvm::MemoryBuffer::getFile(costs);
    if (!buffer)
      return fail(makeError(costs + ": " + buffer.getError().message()),
                  ExitCode::usage);
    std::string problem = tryCosts((*buffer)->getBuffer());
    if (!problem.empty())
      return fail(makeError(costs + ": " + problem), ExitCode::usage);
    return ExitCode::done;
  }

  /// Solves the choice as nnc-choose-routines does, and finds the alternatives
  /// of each layer.
  ExitCode explain(mlir::func::FuncOp function, const CostModel &cost,
                   const TuningFile *tuned) {
    llvm::ArrayRef<Subject> choices;
    if (tuned)
      choices = tuned->getChoices(options.maxError);
    auto graph = PlanGraph::build(function, cost, options.maxError,
                                  options.layouts, choices);
    if (mlir::failed(graph))
      return ExitCode::unsupported;
    plan = graph->solve();
    for (auto layer : function.getBody().getOps<nn::LayerOp>())
      layers.push_back(explain(layer, *graph, cost));
    return ExitCode::done;
  }

  Explained explain(nn::LayerOp layer, const PlanGraph &graph,
                    const CostModel &cost) const {
    Explained result = describe(layer);
    const Candidate &choice = graph.getChoice(layer, plan);
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

  bool isWanted(const Explained &one) const {
    return llvm::StringRef(one.name).contains(only) ||
           llvm::StringRef(one.modelName).contains(only);
  }

  void print() const {
    for (const Explained &one : layers) {
      if (!isWanted(one))
        continue;
      printOut("{}  {}  {}\n",
               colouredForStdout(Colour::bold, displayText(one.name)),
               one.shape, one.ops);
      if (!one.floats.empty())
        printOut("  stays in floats: {}\n", one.floats);
      if (const auto &found = one.fusion)
        printOut("  {} the {} layer before it: {} as one, {} apart\n",
                 found->fused ? "computes" : "is kept from", found->first(),
                 formatSeconds(found->one), formatSeconds(found->apart));
      Table table({"", "routine", "layouts", "cost", "", "plan"});
      for (const Alternative &other : one.alternatives)
        table.add({other.chosen ? "  *" : "", other.routineText(),
                   other.schemaText(), formatSeconds(other.candidate.seconds),
                   originText(other.candidate), extraText(other)});
      table.print();
      printOut("\n");
    }
    if (!changes.empty())
      printOut("Layouts change here:\n");
    for (const LayoutChange &change : changes)
      printOut("  {}: {} to {}, {} {}\n", displayText(change.name), change.from,
               change.to, formatSeconds(change.cost.seconds),
               originText(change.cost));
    auto measured = llvm::count_if(
        layers, [](const Explained &one) { return one.chosen().measured; });
    if (quantized.isQuantized)
      printOut("{} of {} layers work on integers\n", quantized.countIntegers(),
               quantized.layers);
    printOut("{}: {} layers, {} of them measured, {} in all for {}; {}\n",
             options.model, layers.size(), measured, formatSeconds(plan.cost),
             options.target, solverText());
  }

  static const char *originText(const UnitCost &cost) {
    return cost.measured ? "measured"
           : cost.alike  ? "measured alike"
                         : "estimated";
  }

  static std::string extraText(const Alternative &one) {
    if (one.chosen)
      return "";
    if (one.extra == kImpossible)
      return "impossible here";
    if (one.inexact)
      return "over --max-error";
    return fmt::format("{}{}", one.extra < 0 ? "-" : "+",
                       formatSeconds(std::abs(one.extra)));
  }

  std::string solverText() const {
    if (plan.solver == "tuned")
      return "tuned: the fastest of whole plans that nnc tune ran";
    if (plan.cost <= plan.lowerBound)
      return fmt::format("{}: no plan costs less", plan.solver.str());
    return fmt::format("{}: at most {:.2f} % above the cheapest plan",
                       plan.solver.str(),
                       100 * (plan.cost / plan.lowerBound - 1));
  }

  json::Value toJson() const {
    json::Array array, moves;
    for (const Explained &one : layers) {
      if (!isWanted(one))
        continue;
      json::Array all;
      for (const Alternative &other : one.alternatives)
        all.push_back(
            json::Object{{"routine", other.candidate.routine->name},
                         {"params", json::Array(other.candidate.params)},
                         {"layouts", other.schemaText()},
                         {"seconds", other.candidate.seconds},
                         {"error", other.candidate.error},
                         {"measured", other.candidate.measured},
                         {"measured_alike", other.candidate.alike},
                         {"estimate_seconds", other.candidate.estimate},
                         {"extra_seconds", other.extra == kImpossible
                                               ? json::Value(nullptr)
                                               : json::Value(other.extra)},
                         {"chosen", other.chosen}});
      json::Object layer{{"name", one.name},
                         {"model_name", one.modelName},
                         {"ops", one.ops},
                         {"shape", one.shape},
                         {"alternatives", std::move(all)}};
      if (!one.floats.empty())
        layer["float_because"] = one.floats;
      if (const auto &found = one.fusion)
        layer[found->form] = json::Object{{"fused", found->fused},
                                          {"one_seconds", found->one},
                                          {"apart_seconds", found->apart}};
      array.push_back(std::move(layer));
    }
    for (const LayoutChange &change : changes)
      moves.push_back(json::Object{{"name", change.name},
                                   {"from", change.from},
                                   {"to", change.to},
                                   {"seconds", change.cost.seconds},
                                   {"estimate_seconds", change.cost.estimate},
                                   {"routine", change.routine},
                                   {"measured", change.cost.measured}});
    return json::Object{{"target", options.target},
                        {"seconds", plan.cost},
                        {"lower_bound_seconds", plan.lowerBound},
                        {"solver", plan.solver},
                        {"layout_changes", std::move(moves)},
                        {"layers", std::move(array)}};
  }

  /// Prints the plan as a graph for dot: boxes are layers, edges are values
  /// with their layouts. Edges are red if the reader needs another layout.
  void printDot() const {
    printOut("digraph plan {{\n  node [shape=box, fontname=sans];\n");
    llvm::DenseMap<mlir::Operation *, size_t> numbers;
    for (auto [i, one] : llvm::enumerate(layers)) {
      numbers[one.layer] = i;
      printOut("  n{} [label=\"{}\\n{}\\n{}\"];\n", i, one.name,
               one.alternatives.front().routineText(),
               formatSeconds(one.chosen().seconds));
    }
    for (auto [i, one] : llvm::enumerate(layers))
      for (auto [operand, value] : llvm::enumerate(one.layer->getOperands())) {
        auto from = numbers.find(value.getDefiningOp());
        if (from == numbers.end())
          continue;
        std::string made = layoutText(layers[from->second].chosen().result);
        std::string want = layoutText(one.chosen().operands[operand]);
        if (made == want)
          printOut("  n{} -> n{} [label=\"{}\"];\n", from->second, i, made);
        else
          printOut("  n{} -> n{} [label=\"{} to {}\", color=red];\n",
                   from->second, i, made, want);
      }
    printOut("}}\n");
  }

  ModelOptions options;
  std::string only, costs;
  bool all = false, json = false, dot = false;
  Plan plan;
  std::vector<Explained> layers;
  std::vector<LayoutChange> changes;
  QuantizedReport quantized;
};

} // namespace

std::unique_ptr<Command> makeExplain() { return std::make_unique<Explain>(); }

} // namespace nnc::tools
