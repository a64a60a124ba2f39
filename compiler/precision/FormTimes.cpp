//===- FormTimes.cpp - How long layers take with integers and with floats -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/precision/FormTimes.h"

#include "compiler/routines/LayerForms.h"
#include "compiler/routines/PlanGraph.h"

#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

#include <limits>

namespace nnc::precision {

/// The plan that the compiler chooses for a model, with its estimated times.
struct FormTimes::Plan {
  std::unique_ptr<FormedModel> formed;
  double seconds = 0;
  /// Seconds of the layers, by the model's names.
  std::map<std::string, double> layers;
};

/// A function of the quantized model with its search, in which layers have
/// candidates with integers and with floats.
struct FormTimes::Part {
  Part(mlir::func::FuncOp function, target::MachineAttr machine,
       const WeightRules &rules)
      : function(function), forms(function, Precision::f32, Products::both),
        cost(makeCostModel(function, machine, /*measured=*/nullptr,
                           /*memo=*/nullptr, &forms, rules)) {}

  /// A layer of the function: the numbers of the layers of the searched model
  /// that it computes, and the noise that these add.
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

FormTimes::FormTimes(SearchedModel &model) : model(model) {}

FormTimes::~FormTimes() = default;

Prices FormTimes::Part::getPrices(double price) const {
  Prices prices;
  for (const auto &[op, layer] : layers)
    prices[op] = price * layer.noise;
  return prices;
}

llvm::LogicalResult FormTimes::makePlan(const std::string &name, Plan &plan) {
  plan.formed = model.form(name);
  if (!plan.formed)
    return llvm::failure();
  const FormedModel &formed = *plan.formed;
  auto machine = target::getTarget(formed.module);
  if (llvm::failed(machine))
    return llvm::failure();
  mlir::ModuleOp module = formed.module;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    LayerForms forms(function, formed.precision, limitProducts(formed.rules),
                     formed.maxError, formed.boundRounding);
    CostModel cost = makeCostModel(function, *machine, /*measured=*/nullptr,
                                   /*memo=*/nullptr, &forms, formed.rules);
    addCodeCosts(function, cost, formed.maxError, formed.optimize);
    auto graph =
        PlanGraph::build(function, cost, formed.maxError, formed.layouts);
    if (llvm::failed(graph))
      return llvm::failure();
    nnc::Plan solved = graph->solve();
    plan.seconds += solved.cost;
    for (auto layer : function.getBody().getOps<nn::LayerOp>())
      plan.layers[nn::getModelName(layer.getLoc()).str()] +=
          graph->getChoice(layer, solved).seconds;
  }
  return llvm::success();
}

/// Returns all names of the model in a location.
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
/// model, by name. A layer into which others were fused has their names, too.
/// So has a layer that dequantizes the result of another one, which is why
/// first names and products are tried first.
llvm::LogicalResult FormTimes::findParts(const FormedModel &formed,
                                         const std::vector<SearchedLayer> &all,
                                         const std::map<int, double> &noise) {
  mlir::ModuleOp module = formed.module;
  auto machine = target::getTarget(module);
  if (llvm::failed(machine))
    return llvm::failure();
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
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    Part &part = *parts.emplace_back(
        std::make_unique<Part>(function, *machine, formed.rules));
    addCodeCosts(function, part.cost, formed.maxError, formed.optimize);
    auto graph =
        PlanGraph::build(function, part.cost, formed.maxError, formed.layouts);
    if (llvm::failed(graph))
      return llvm::failure();
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
  return llvm::success();
}

/// Finds the seconds of each layer with integers and with floats when all other
/// layers keep their choice in the fastest plan.
void FormTimes::compareForms() {
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

llvm::LogicalResult FormTimes::open(const std::map<int, double> &noise) {
  const std::vector<SearchedLayer> all = model.listLayers();
  Plan quantized, floats;
  if (llvm::failed(makePlan("integers", quantized)))
    return llvm::failure();
  FloatReason reason;
  reason.kind = FloatReason::estimate;
  std::map<int, FloatReason> kept;
  for (const SearchedLayer &layer : all)
    kept[layer.number] = reason;
  if (llvm::failed(model.keepFloats(kept)))
    return llvm::failure();
  const bool isPlanned = llvm::succeeded(makePlan("floats", floats));
  if (llvm::failed(model.keepFloats({})) || !isPlanned)
    return llvm::failure();
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
  integers = std::move(quantized.formed);
  if (llvm::failed(findParts(*integers, all, noise)))
    return llvm::failure();
  compareForms();
  return llvm::success();
}

llvm::LogicalResult FormTimes::estimate(double &seconds) {
  Plan plan;
  llvm::LogicalResult result = makePlan("mixed", plan);
  seconds = plan.seconds;
  return result;
}

PricedPlan FormTimes::plan(double price) const {
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

/// Adds the plans that lie between two plans and are the cheapest at some price
/// between theirs. They are found at the price at which both plans cost the
/// same: either another plan is cheaper there, or there is none between them.
void FormTimes::refine(const PricedPlan &fast, const PricedPlan &exact,
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
  // The relative difference below which costs differ by rounding only.
  constexpr double kLeast = 1e-9;
  if (!(getCost(between) < (1 - kLeast) * getCost(fast)) ||
      between.noise >= fast.noise || between.noise <= exact.noise)
    return;
  refine(fast, between, found);
  found.push_back(between);
  refine(between, exact, found);
}

std::vector<PricedPlan> FormTimes::listPlans() const {
  std::vector<PricedPlan> found{plan(0)};
  const PricedPlan fastest = found.front();
  // The price is so high that the least reduction of noise is worth all seconds
  // of the model.
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

} // namespace nnc::precision
