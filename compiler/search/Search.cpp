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

using namespace llvm;
using namespace nnc;

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

static Plan solvePruned(const Problem &problem, const SearchLimits &limits) {
  Reduction reduction(problem, limits.states);
  if (!reduction.reduce())
    return solvePbqp(problem, limits);
  Plan plan;
  plan.choices = reduction.getChoices();
  plan.cost = plan.lowerBound = problem.getCost(plan.choices);
  plan.solver = "exact";
  return plan;
}

Plan nnc::solve(const Problem &problem, const SearchLimits &limits) {
  Pruning pruning(problem);
  Plan plan = solvePruned(pruning.getRest(), limits);
  for (auto [node, choice] : enumerate(plan.choices))
    choice = pruning.getOriginal(node, choice);
  return plan;
}
