//===- Times.cpp - How long models and their layers should take -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Times.h"

#include "compiler/routines/LayerForms.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Process.h"

namespace nnc::tools {

/// The plan that the compiler chooses for a model, and its estimated times.
struct Times::Plan {
  std::unique_ptr<Driver> driver;
  double seconds = 0;
  std::map<std::string, double> layers; ///< seconds, by the model's names
};

/// A function of the quantized model, whose layers have forms with integers and
/// with floats.
struct Times::Part {
  Part(mlir::func::FuncOp function, target::MachineAttr machine,
       const WeightRules &rules)
      : function(function), forms(function, Precision::f32, Products::both),
        cost(makeCostModel(function, machine, /*measured=*/nullptr,
                           /*memo=*/nullptr, &forms, rules)) {}

  /// A layer of the function, with the layers of the searched model that it
  /// computes.
  struct Layer {
    double noise = 0;
    std::vector<int> numbers;
  };
  Prices getPrices(double price) const;
  bool isFloat(nn::LayerOp layer, const nnc::Plan &plan) const {
    return !keepsIntegers(layer, graph->getChoice(layer, plan).getForm(layer));
  }

  mlir::func::FuncOp function;
  LayerForms forms;
  CostModel cost;
  std::optional<PlanGraph> graph;
  llvm::MapVector<mlir::Operation *, Layer> layers;
};

Times::Times(SearchedModel &model, const ModelOptions &options)
    : model(model), options(options) {}

Times::~Times() = default;

Prices Times::Part::getPrices(double price) const {
  Prices prices;
  for (const auto &[op, layer] : layers)
    prices[op] = price * layer.noise;
  return prices;
}

/// Compiles the model as it is now, for the target.
ExitCode Times::compile(const std::string &name,
                        std::unique_ptr<Driver> &driver) {
  llvm::Expected<std::string> text = model.print();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return fail(folder.takeError(), ExitCode::ownFault);
  ModelOptions own;
  own.model = (*folder)->path() + "/" + name;
  own.shapes = options.shapes;
  own.target = options.target;
  own.probe = options.probe;
  own.optimize = options.optimize;
  own.maxError = options.maxError;
  own.layouts = options.layouts;
  own.name = name;
  own.threads = options.threads;
  own.runThreads = options.runThreads;
  if (llvm::Error error = writeTextFile(own.model, *text))
    return fail(std::move(error), ExitCode::ownFault);
  driver = std::make_unique<Driver>(own, DriverOptions{true});
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (driver.get()->*step)(); code != ExitCode::done)
      return code;
  return ExitCode::done;
}

ExitCode Times::makePlan(const std::string &name, Plan &plan) {
  if (ExitCode code = compile(name, plan.driver); code != ExitCode::done)
    return code;
  auto machine = target::getTarget(plan.driver->formed());
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  const ModelOptions &own = plan.driver->options();
  const WeightRules rules = plan.driver->weightRules();
  for (auto function : plan.driver->formed().getOps<mlir::func::FuncOp>()) {
    LayerForms forms(function, own.precision, limitProducts(rules));
    CostModel cost = makeCostModel(function, *machine, /*measured=*/nullptr,
                                   /*memo=*/nullptr, &forms, rules);
    addCodeCosts(function, cost, own.maxError, own.optimize);
    auto graph = PlanGraph::build(function, cost, own.maxError, own.layouts);
    if (mlir::failed(graph))
      return ExitCode::unsupported;
    nnc::Plan solved = graph->solve();
    plan.seconds += solved.cost;
    for (auto layer : function.getBody().getOps<nn::LayerOp>())
      plan.layers[nn::getModelName(layer.getLoc()).str()] +=
          graph->getChoice(layer, solved).seconds;
  }
  return ExitCode::done;
}

/// Returns the model's names for what lies at a location.
static std::vector<std::string> listNames(mlir::Location location) {
  std::vector<std::string> names;
  location->walk([&](mlir::Location inner) {
    if (auto named = llvm::dyn_cast<mlir::NameLoc>(inner))
      names.push_back(named.getName().str());
    return mlir::WalkResult::advance();
  });
  return names;
}

/// Finds the layers of the compiled model that compute those of the searched
/// one. A layer into which others were fused has their names, too; so has one
/// that dequantizes what another layer made, which is told by its first name.
ExitCode Times::findParts(Driver &driver, const std::vector<SearchedLayer> &all,
                          const std::map<int, double> &noise) {
  auto machine = target::getTarget(driver.formed());
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  std::map<std::string, std::set<int>> open;
  for (const SearchedLayer &layer : all)
    open[layer.name].insert(layer.number);
  auto take = [&](Part &part, nn::LayerOp layer, const std::string &name) {
    auto found = open.find(name);
    if (found == open.end())
      return;
    Part::Layer &own = part.layers[layer];
    for (int number : found->second) {
      own.numbers.push_back(number);
      if (auto added = noise.find(number); added != noise.end())
        own.noise += added->second;
    }
    open.erase(found);
  };
  for (auto function : driver.formed().getOps<mlir::func::FuncOp>()) {
    Part &part = *parts.emplace_back(
        std::make_unique<Part>(function, *machine, driver.weightRules()));
    addCodeCosts(function, part.cost, driver.options().maxError,
                 driver.options().optimize);
    auto graph =
        PlanGraph::build(function, part.cost, driver.options().maxError,
                         driver.options().layouts);
    if (mlir::failed(graph))
      return ExitCode::unsupported;
    part.graph.emplace(std::move(*graph));
  }
  auto forEach = [&](auto visit) {
    for (auto &part : parts)
      for (auto layer : part->function.getBody().getOps<nn::LayerOp>())
        visit(*part, layer);
  };
  for (bool areProducts : {true, false})
    forEach([&](Part &part, nn::LayerOp layer) {
      if (multipliesIntegers(layer) == areProducts)
        take(part, layer, nn::getModelName(layer.getLoc()).str());
    });
  forEach([&](Part &part, nn::LayerOp layer) {
    for (const std::string &name : listNames(layer.getLoc()))
      take(part, layer, name);
  });
  return ExitCode::done;
}

/// Finds the seconds of each layer with integers and with floats if all other
/// layers stay as the fastest plan has them.
void Times::compareForms() {
  constexpr double none = std::numeric_limits<double>::infinity();
  for (auto &part : parts) {
    const nnc::Plan fastest = part->graph->solve();
    for (const auto &[op, layer] : part->layers) {
      auto own = llvm::cast<nn::LayerOp>(op);
      LayerTimes times{none, none, multipliesIntegers(own)};
      const double seconds = part->graph->getChoice(own, fastest).seconds;
      for (const Candidate &candidate : part->graph->getCandidates(own)) {
        double &best = keepsIntegers(own, candidate.getForm(own))
                           ? times.integers
                           : times.floats;
        best = std::min(best, seconds + part->graph->getExtraSeconds(
                                            own, candidate, fastest));
      }
      if (times.floats == none || times.integers == none)
        continue;
      for (int number : layer.numbers)
        layers[number] = times;
    }
  }
}

ExitCode Times::open(const std::map<int, double> &noise) {
  const std::vector<SearchedLayer> all = model.listLayers();
  Plan quantized, floats;
  if (ExitCode code = makePlan("integers", quantized); code != ExitCode::done)
    return code;
  std::map<int, std::string> kept;
  for (const SearchedLayer &layer : all)
    kept[layer.number] = "kept to estimate the float model";
  if (ExitCode code = model.keepFloats(kept); code != ExitCode::done)
    return code;
  ExitCode code = makePlan("floats", floats);
  if (ExitCode back = model.keepFloats({}); code == ExitCode::done)
    code = back;
  if (code != ExitCode::done)
    return code;
  floatSeconds = floats.seconds;
  integerSeconds = quantized.seconds;
  auto find = [](const std::map<std::string, double> &seconds,
                 const std::string &name) {
    auto found = seconds.find(name);
    return found == seconds.end() ? 0 : found->second;
  };
  for (const SearchedLayer &layer : all)
    layers[layer.number] = {find(floats.layers, layer.name),
                            find(quantized.layers, layer.name), false};
  integers = std::move(quantized.driver);
  code = findParts(*integers, all, noise);
  if (code == ExitCode::done)
    compareForms();
  return code;
}

ExitCode Times::estimate(double &seconds) {
  Plan plan;
  ExitCode code = makePlan("mixed", plan);
  seconds = plan.seconds;
  return code;
}

PricedPlan Times::plan(double price) const {
  PricedPlan result;
  for (const auto &part : parts) {
    const nnc::Plan plan = part->graph->solve(part->getPrices(price));
    result.seconds += part->graph->getProblem().getCost(plan.choices);
    for (const auto &[op, layer] : part->layers)
      if (part->isFloat(llvm::cast<nn::LayerOp>(op), plan))
        result.floats.insert(layer.numbers.begin(), layer.numbers.end());
      else
        result.noise += layer.noise;
  }
  return result;
}

/// Adds the plans between two, which are cheapest for some price between
/// theirs: at the price for which both cost the same a third one costs less, or
/// there is none.
void Times::refine(const PricedPlan &fast, const PricedPlan &exact,
                   std::vector<PricedPlan> &found) const {
  const double noise = fast.noise - exact.noise,
               seconds = exact.seconds - fast.seconds;
  if (found.size() >= kMostPlans || !(noise > 0) || !(seconds > 0))
    return;
  const double price = seconds / noise;
  PricedPlan between = plan(price);
  auto getCost = [&](const PricedPlan &each) {
    return each.seconds + price * each.noise;
  };
  // Costs that differ by less are equal but for rounding.
  constexpr double kLeast = 1e-9;
  if (!(getCost(between) < (1 - kLeast) * getCost(fast)) ||
      between.noise >= fast.noise || between.noise <= exact.noise)
    return;
  refine(fast, between, found);
  found.push_back(between);
  refine(between, exact, found);
}

std::vector<PricedPlan> Times::listPlans() const {
  std::vector<PricedPlan> found{plan(0)};
  const PricedPlan fastest = found.front();
  // For this price less noise is worth all the seconds of the model.
  double least = std::numeric_limits<double>::infinity();
  for (const auto &part : parts)
    for (const auto &[op, layer] : part->layers)
      if (layer.noise > 0)
        least = std::min(least, layer.noise);
  if (fastest.noise == 0 || std::isinf(least))
    return found;
  const double all = std::max({floatSeconds, integerSeconds, fastest.seconds});
  PricedPlan exact = plan(1e3 * all / least);
  if (exact.noise >= fastest.noise)
    return found;
  refine(fastest, exact, found);
  found.push_back(std::move(exact));
  return found;
}

} // namespace nnc::tools
