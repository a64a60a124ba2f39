//===- Search.cpp - The cheapest choice over a whole graph ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Search.h"

#include "compiler/search/Pbqp.h"
#include "compiler/search/Pruning.h"
#include "compiler/search/Reduction.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace llvm;
using namespace nnc;

/// The factor by which tables may become larger if PBQP has found no possible
/// plan.
static constexpr int64_t kMoreStates = 1024;

double Problem::getCost(const Edge &edge, ArrayRef<unsigned> choices) const {
  return edge
      .costs[choices[edge.from] * nodes[edge.to].size() + choices[edge.to]];
}

double Problem::getCost(ArrayRef<unsigned> choices) const {
  double cost = 0;
  for (auto [node, choice] : enumerate(choices))
    cost += nodes[node][choice];
  for (const Edge &edge : edges)
    cost += getCost(edge, choices);
  return cost;
}

/// Eliminates all nodes with tables of at most `states` entries. Returns
/// nullopt if that is too few.
static std::optional<Plan> solveExactly(const Problem &problem,
                                        int64_t states) {
  Reduction reduction(problem, states);
  if (!reduction.reduce())
    return std::nullopt;
  Plan plan;
  plan.choices = reduction.getChoices();
  plan.cost = plan.lowerBound = problem.getCost(plan.choices);
  plan.solver = "exact";
  return plan;
}

static Plan solvePruned(const Problem &problem, const SearchLimits &limits) {
  if (auto exact = solveExactly(problem, limits.states))
    return *exact;
  Plan plan = solvePbqp(problem);
  if (plan.cost != kImpossible)
    return plan;
  // The heuristic may choose impossible pairs that can be avoided. Then larger
  // tables are worth their time, as long as they fit in memory.
  auto exact = solveExactly(problem, limits.states * kMoreStates);
  return exact ? *exact : plan;
}

Plan nnc::solve(const Problem &problem, const SearchLimits &limits) {
  Pruning pruning(problem);
  Plan plan = solvePruned(pruning.getRest(), limits);
  for (auto [node, choice] : enumerate(plan.choices))
    choice = pruning.getOriginal(node, choice);
  return plan;
}
