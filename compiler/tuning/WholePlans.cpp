//===- WholePlans.cpp - Plans to be measured as a whole -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/WholePlans.h"

#include "compiler/routines/PlanGraph.h"

#include <set>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// kPenalty is the fraction by which the measured times of a plan's layers are
/// increased to find another plan; kMostExtra is the fraction by which that
/// plan may really be dearer than the first.
static constexpr double kPenalty = 0.05, kMostExtra = 0.1;

namespace {
class Finder {
public:
  Finder(func::FuncOp function, target::MachineAttr machine,
         const Measurements &known, double maxError, CandidateMemo *memo,
         const LayerForms *forms, const WeightRules &rules)
      : function(function), machine(machine), maxError(maxError), memo(memo),
        forms(forms), rules(rules),
        cost(makeCostModel(function, machine, &known, memo, forms, rules)) {}

  LogicalResult add(const Measurements *measured, bool untuned);
  SmallVector<WholePlan, 0> plans;

private:
  func::FuncOp function;
  target::MachineAttr machine;
  double maxError;
  CandidateMemo *memo;
  const LayerForms *forms;
  const WeightRules rules;
  CostModel cost;
};
} // namespace

/// Adds the cheapest plan according to `measured`, with its real cost, if it is
/// new and not too dear.
LogicalResult Finder::add(const Measurements *measured, bool untuned) {
  auto biased = PlanGraph::build(
      function, makeCostModel(function, machine, measured, memo, forms, rules),
      maxError);
  if (failed(biased))
    return failure();
  WholePlan found;
  found.untuned = untuned;
  found.choices = biased->getChoices(biased->solve());
  for (WholePlan &other : plans)
    if (other.choices == found.choices) {
      other.untuned |= untuned;
      return success();
    }
  auto graph = PlanGraph::build(function, cost, maxError, LayoutScope::global,
                                found.choices);
  if (failed(graph))
    return failure();
  Plan plan = graph->solve();
  found.seconds = plan.cost;
  if (!untuned && !plans.empty() &&
      found.seconds > plans.front().seconds * (1 + kMostExtra))
    return success();
  std::set<Subject> seen;
  for (auto layer : function.getOps<LayerOp>()) {
    const Candidate &choice = graph->getChoice(layer, plan);
    if (choice.isView())
      continue;
    Job job = makeLayerJob(layer, choice);
    if (seen.insert(job.subject).second)
      found.jobs.push_back(std::move(job));
  }
  plans.push_back(std::move(found));
  return success();
}

FailureOr<SmallVector<WholePlan, 0>>
nnc::findWholePlans(func::FuncOp function, target::MachineAttr machine,
                    const Measurements &known, double maxError, size_t count,
                    CandidateMemo *memo, const LayerForms *forms,
                    const WeightRules &rules) {
  Finder finder(function, machine, known, maxError, memo, forms, rules);
  if (failed(finder.add(&known, false)) || failed(finder.add(nullptr, true)))
    return failure();
  Measurements penalized = known;
  for (size_t next = 0; next < finder.plans.size(); ++next) {
    if (finder.plans.size() >= count)
      break;
    for (const Job &job : finder.plans[next].jobs)
      if (auto own = penalized.find(job.subject); own != penalized.end())
        own->second += std::llround(double(own->second) * kPenalty);
    if (failed(finder.add(&penalized, false)))
      return failure();
  }
  return std::move(finder.plans);
}
