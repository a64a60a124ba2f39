//===- Explain.cpp - nnc explain ------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/Quantized.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/figures/Explanation.h"
#include "compiler/tools/nnc/figures/WeightsFront.h"
#include "compiler/tools/nnc/options/Options.h"
#include "frontends/common/Suggest.h"

#include "llvm/Support/MemoryBuffer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Explain : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    addClockOption(app, options);
    app.add_option("--layer", only, "Only the layers whose name has this in it")
        ->type_name("TEXT");
    app.add_flag("--all", all,
                 "Each routine with all of its params, not the best alone");
    app.add_flag("--pareto", pareto,
                 "The plans that --max-weights can choose among instead of the "
                 "layers: bytes of weights, of RAM, and time");
    app.add_option("--costs", costs,
                   "Lines of tables like those of runtime/routines/costs/, "
                   "whose constants count instead")
        ->type_name("FILE")
        // Hidden in --help: scripts/benchmark/fit_costs.py uses it.
        ->group("");
    auto *asJson = app.add_flag("--json", json, "Print the result as JSON");
    app.add_flag("--dot", dot, "Draw the plan, as Graphviz's dot reads it")
        ->excludes(asJson)
        ->excludes("--pareto");
  }

  ExitCode run() override {
    if (ExitCode code = readCosts(); code != ExitCode::done)
      return code;
    DriverOptions wanted;
    wanted.keepStages = wanted.takesBounds = true;
    wanted.findsFront = wanted.exceedsRam = pareto;
    Driver driver(options, wanted);
    for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
      if (ExitCode code = (driver.*step)(); code != ExitCode::done)
        return code;
    if (ExitCode code = explanation.find(driver, all); code != ExitCode::done)
      return code;
    if (pareto)
      return showFront(driver);
    if (!only.empty() && llvm::none_of(layers, [&](const Explained &one) {
          return isWanted(one);
        })) {
      std::vector<std::string> names;
      for (const Explained &one : layers)
        names.push_back(one.name);
      return fail(
          makeError(fmt::format("--layer: no layer has '{}' in its name{}",
                                only, frontends::didYouMean(only, names))),
          ExitCode::usage);
    }
    quantized =
        reportQuantized(driver.layered(), EmittedNames(driver.layered()));
    batch = driver.batch();
    if (batch) {
      batch->plan.seconds *= explanation.clock.factor;
      if (batch->fixed)
        batch->fixed->seconds *= explanation.clock.factor;
    }
    llvm::Expected<Manifest> described = describeModule(driver.module());
    if (!described)
      return fail(described.takeError(), ExitCode::ownFault);
    manifest = std::move(*described);
    if (json)
      printJson(toJson());
    else if (dot)
      printDot();
    else
      print();
    if (batch && !json && !dot)
      printBatch(*batch);
    return ExitCode::done;
  }

private:
  ExitCode showFront(Driver &driver) {
    WeightsFront front;
    if (ExitCode code = front.find(driver); code != ExitCode::done)
      return code;
    if (json)
      printJson(json::Object{{"target", options.target},
                             {"weights_front", front.toJson()}});
    else
      front.print();
    return ExitCode::done;
  }

  /// Replaces the constants of the cost model by those of --costs, if it is
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
               one.describeResult(), one.description.getText());
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
    if (manifest.isCuda())
      printOut("Launches of a run (kernels, copies and memsets): {}\n",
               manifest.launches.describe());
    if (!manifest.decisions.empty())
      printOut(
          "The CPU decides, and waits for the GPU (no graph can capture a "
          "run): {}\n",
          displayText(fmt::format("{}", fmt::join(manifest.decisions, ", "))));
    if (!explanation.stored.empty())
      printOut("Weights take fewer bytes:\n");
    for (const StoredWeight &weight : explanation.stored)
      printOut("  {}: {}, {} instead of {}; {} {}, {} estimated\n",
               displayText(weight.name), weight.form, formatBytes(weight.bytes),
               formatBytes(weight.denseBytes),
               weight.isDecoded ? "decoded by" : "its layer is computed by",
               weight.routine, formatSeconds(weight.seconds));
    if (!explanation.kept.empty())
      printOut("Weights take no fewer bytes with --weights-encoding={}:\n",
               options.weightsEncoding);
    for (const std::string &name : explanation.kept)
      printOut("  {}\n", displayText(name));
    auto measured = llvm::count_if(
        layers, [](const Explained &one) { return one.chosen().measured; });
    if (quantized.isQuantized)
      printOut("{}\n", quantized.describe());
    // The time of a batch is not that of a run of its last part. Views take no
    // code, but copies between layers do.
    size_t emitted = manifest.layers.size();
    printOut("{}: {} {}{}, {} of them measured, {}for {} {}; {}\n",
             options.model, layers.size(),
             layers.size() == 1 ? "layer" : "layers",
             emitted == layers.size()
                 ? ""
                 : fmt::format(" ({} in the code, without views and with "
                               "copies)",
                               emitted),
             measured,
             batch ? "" : formatSeconds(explanation.getSeconds()) + " in all ",
             options.target, explanation.clock.describe(options), solverText());
  }

  static std::string describeBatch(const BatchPlan &plan) {
    return fmt::format("{:.1f} samples/s, {} for a run, {} of RAM",
                       1 / plan.getSecondsPerSample(),
                       formatSeconds(plan.seconds), formatBytes(plan.bytes));
  }

  void printBatch(const BatchChoice &choice) const {
    printOut("\n");
    Table table({"samples at a time", "layers"});
    for (const BatchPart &part : choice.parts)
      table.add({std::to_string(part.size),
                 fmt::format("{}", fmt::join(part.layers, ", "))});
    table.print();
    printOut("batch of {}: {}, estimated\n", choice.plan.count,
             describeBatch(choice.plan));
    if (choice.fixed)
      printOut("best batch for all layers within the same limits, {}: {}; the "
               "plan is {:.2f} times as fast\n",
               choice.fixed->count, describeBatch(*choice.fixed),
               choice.fixed->getSecondsPerSample() /
                   choice.plan.getSecondsPerSample());
    else
      printOut("no batch for all layers keeps to the same limits\n");
  }

  static json::Object toJson(const BatchPlan &plan) {
    return json::Object{{"count", plan.count},
                        {"seconds", plan.seconds},
                        {"samples_per_second", 1 / plan.getSecondsPerSample()},
                        {"ram_bytes", plan.bytes}};
  }

  static json::Object toJson(const BatchChoice &choice) {
    json::Object found = toJson(choice.plan);
    json::Array parts;
    for (const BatchPart &part : choice.parts)
      parts.push_back(json::Object{{"size", part.size},
                                   {"layers", json::Array(part.layers)}});
    found["parts"] = std::move(parts);
    found["fixed"] = choice.fixed ? json::Value(toJson(*choice.fixed))
                                  : json::Value(nullptr);
    return found;
  }

  static const char *originText(const UnitCost &cost) {
    return cost.measured ? "measured"
           : cost.alike  ? "measured alike"
                         : "estimated";
  }

  static std::string extraText(const Alternative &one) {
    if (one.chosen)
      return "";
    if (one.inexact)
      return "over --max-error";
    if (one.extra == kImpossible)
      return "impossible here";
    return fmt::format("{}{}", one.extra < 0 ? "-" : "+",
                       formatSeconds(std::abs(one.extra)));
  }

  std::string solverText() const {
    if (plan.solver == "tuned")
      return "tuned: the fastest of whole plans that nnc tune ran";
    std::string text =
        plan.cost <= plan.lowerBound
            ? fmt::format("{}: no plan costs less", plan.solver.str())
            : fmt::format("{}: at most {:.2f} % above the cheapest plan",
                          plan.solver.str(),
                          100 * (plan.cost / plan.lowerBound - 1));
    if (options.maxWeights)
      text += " without --max-weights";
    else if (options.limitsPlan())
      text += " without --max-latency";
    else if (!explanation.stored.empty())
      text += " with weights as they are";
    return text;
  }

  json::Value toJson() const {
    json::Array array, moves;
    for (const Explained &one : layers) {
      if (!isWanted(one))
        continue;
      json::Array all;
      for (const Alternative &other : one.alternatives)
        all.push_back(other.toJson());
      json::Object layer{
          {"name", one.name},
          {"model_name", one.modelName},
          {"description", one.description.getText()},
          {"ops", fmt::format("{}", fmt::join(one.ops, ", "))},
          {"shape", one.shape},
          {"layout", nn::getLayoutName(one.chosen().result)},
          {"layout_shape",
           json::Array(nn::getNamedShape(
               mlir::cast<mlir::RankedTensorType>(one.chosen().result)))},
          {"alternatives", std::move(all)}};
      if (auto window = windowToJson(one.description))
        layer["window"] = std::move(*window);
      if (!one.floats.empty())
        layer["float_because"] = one.floats;
      if (const auto &found = one.fusion)
        layer[found->form] = found->toJson();
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
    json::Array stored;
    for (const StoredWeight &weight : explanation.stored)
      stored.push_back(json::Object{{"name", weight.name},
                                    {"form", weight.form},
                                    {"routine", weight.routine},
                                    {"decoded", weight.isDecoded},
                                    {"bytes", weight.bytes},
                                    {"dense_bytes", weight.denseBytes},
                                    {"estimate_seconds", weight.seconds}});
    json::Object all{{"target", options.target},
                     {"mhz", explanation.clock.mhz},
                     {"seconds", explanation.getSeconds()},
                     {"lower_bound_seconds", plan.lowerBound},
                     {"solver", plan.solver},
                     {"layout_changes", std::move(moves)},
                     {"stored_weights", std::move(stored)},
                     {"kept_weights", json::Array(explanation.kept)},
                     {"inputs", portsToJson(manifest.inputs)},
                     {"outputs", portsToJson(manifest.outputs)},
                     {"layers", std::move(array)}};
    if (manifest.isCuda()) {
      all["decisions"] = json::Array(manifest.decisions);
      json::Object launches{{"least", manifest.launches.least}};
      if (manifest.launches.most)
        launches["most"] = *manifest.launches.most;
      all["launches"] = std::move(launches);
    }
    if (batch)
      all["batch"] = toJson(*batch);
    return all;
  }

  /// Prints the plan as a graph for dot: boxes are layers, edges are values
  /// with their layouts. Edges are red if the reader needs another layout.
  void printDot() const {
    printOut("digraph plan {{\n  node [shape=box, fontname=sans];\n");
    llvm::DenseMap<mlir::Operation *, size_t> numbers;
    for (auto [i, one] : llvm::enumerate(layers)) {
      numbers[one.layer] = i;
      printOut("  n{} [label=\"{}\\n{}\\n{}\\n{}\"];\n", i, one.name,
               one.description.getText(),
               one.alternatives.front().routineText(),
               formatSeconds(one.chosen().seconds));
    }
    for (auto [i, one] : llvm::enumerate(layers))
      for (auto [operand, value] : llvm::enumerate(one.layer->getOperands())) {
        auto from = numbers.find(value.getDefiningOp());
        if (from == numbers.end())
          continue;
        std::string made =
            nn::getLayoutName(layers[from->second].chosen().result);
        std::string want = nn::getLayoutName(one.chosen().operands[operand]);
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
  bool all = false, json = false, dot = false, pareto = false;
  Manifest manifest;
  Explanation explanation;
  const Plan &plan = explanation.plan;
  const std::vector<Explained> &layers = explanation.layers;
  const std::vector<LayoutChange> &changes = explanation.changes;
  QuantizedReport quantized;
  std::optional<BatchChoice> batch;
};

} // namespace

std::unique_ptr<Command> makeExplain() { return std::make_unique<Explain>(); }

} // namespace nnc::tools
