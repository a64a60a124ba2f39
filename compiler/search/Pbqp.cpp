//===- Pbqp.cpp - Near-cheapest plans with a bound ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Pbqp.h"

#include "compiler/search/Reduction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace llvm;
using namespace nnc;

/// Limits of the shifting of costs, which ends when a pass over all nodes
/// raises the bound by less than the fraction kSmallGain of it, or after
/// kMostPasses passes.
static constexpr double kSmallGain = 1e-4;
static constexpr int kMostPasses = 200;

/// Returns the indices of each node's edges.
static SmallVector<SmallVector<unsigned>, 0>
findEdgesAt(const Problem &problem) {
  SmallVector<SmallVector<unsigned>, 0> edgesAt(problem.nodes.size());
  for (auto [index, edge] : enumerate(problem.edges))
    for (unsigned end : {edge.from, edge.to})
      edgesAt[end].push_back(index);
  return edgesAt;
}

//===----------------------------------------------------------------------===//
// Shifted costs
//===----------------------------------------------------------------------===//

namespace {
class Shifting {
public:
  explicit Shifting(const Problem &problem)
      : problem(problem), edgesAt(findEdgesAt(problem)) {}
  Problem run();

private:
  void shift(unsigned node, bool rising);
  void gather(unsigned node, Problem::Edge &edge);
  void deal(unsigned node, Problem::Edge &edge, double share);
  double getBound() const;

  Problem problem;
  SmallVector<SmallVector<unsigned>, 0> edgesAt;
};
} // namespace

static unsigned getOther(const Problem::Edge &edge, unsigned node) {
  return edge.from == node ? edge.to : edge.from;
}

/// Calls `visit` with each candidate of `node` and each cost of the edge for
/// it.
template <class Edge, class Visit>
static void forEachCost(const Problem &problem, Edge &edge, unsigned node,
                        Visit visit) {
  size_t columns = problem.nodes[edge.to].size();
  for (auto [entry, cost] : enumerate(edge.costs))
    visit(edge.from == node ? entry / columns : entry % columns, cost);
}

void Shifting::gather(unsigned node, Problem::Edge &edge) {
  SmallVector<double> &own = problem.nodes[node];
  SmallVector<double> least(own.size(), kImpossible);
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    least[choice] = std::min(least[choice], cost);
  });
  for (auto [cost, part] : zip(own, least))
    cost += part;
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    if (least[choice] != kImpossible)
      cost -= least[choice];
  });
}

void Shifting::deal(unsigned node, Problem::Edge &edge, double share) {
  ArrayRef<double> own = problem.nodes[node];
  forEachCost(problem, edge, node, [&](size_t choice, double &cost) {
    cost += share * own[choice];
  });
}

/// Collects the least cost of each candidate from the node's edges, and
/// distributes the total to the edges ahead: to those of later nodes if
/// `rising`, else to those of earlier ones.
void Shifting::shift(unsigned node, bool rising) {
  SmallVector<Problem::Edge *> ahead;
  for (unsigned index : edgesAt[node]) {
    Problem::Edge &edge = problem.edges[index];
    gather(node, edge);
    if ((getOther(edge, node) > node) == rising)
      ahead.push_back(&edge);
  }
  if (ahead.empty())
    return;
  double share =
      1.0 / std::max(ahead.size(), edgesAt[node].size() - ahead.size());
  for (Problem::Edge *edge : ahead)
    deal(node, *edge, share);
  for (double &cost : problem.nodes[node])
    if (cost != kImpossible)
      cost -= share * double(ahead.size()) * cost;
}

double Shifting::getBound() const {
  double bound = 0;
  for (const auto &costs : problem.nodes)
    bound += *min_element(costs);
  for (const Problem::Edge &edge : problem.edges)
    bound += *min_element(edge.costs);
  return bound;
}

Problem Shifting::run() {
  double bound = getBound();
  for (int pass = 0; pass < kMostPasses && bound != kImpossible; ++pass) {
    for (unsigned node : seq<unsigned>(0, problem.nodes.size()))
      shift(node, true);
    for (unsigned node : reverse(seq<unsigned>(0, problem.nodes.size())))
      shift(node, false);
    double raised = getBound();
    if (raised - bound <= kSmallGain * std::abs(raised))
      break;
    bound = raised;
  }
  return std::move(problem);
}

Problem nnc::shiftCosts(const Problem &problem) {
  return Shifting(problem).run();
}

//===----------------------------------------------------------------------===//
// Branch and bound
//===----------------------------------------------------------------------===//

namespace {
class BranchAndBound {
public:
  BranchAndBound(const Problem &problem, const SearchLimits &limits)
      : problem(problem), shifted(shiftCosts(problem)), limits(limits),
        edgesAt(findEdgesAt(problem)) {}
  Plan run();

private:
  void visit(Reduction reduction);
  void take(SmallVector<unsigned, 0> choices);
  double getCostAround(unsigned node, ArrayRef<unsigned> choices) const;
  void improve(SmallVectorImpl<unsigned> &choices) const;

  const Problem &problem;
  Problem shifted;
  const SearchLimits &limits;
  SmallVector<SmallVector<unsigned>, 0> edgesAt;
  Plan best;
  double open = kImpossible; ///< lower bound on all plans not visited
  int64_t tried = 0;         ///< candidates tried so far
};
} // namespace

/// Returns the cost of `node` and its edges in the plan `choices`.
double BranchAndBound::getCostAround(unsigned node,
                                     ArrayRef<unsigned> choices) const {
  double cost = problem.nodes[node][choices[node]];
  for (unsigned index : edgesAt[node])
    cost += problem.getCost(problem.edges[index], choices);
  return cost;
}

/// Improves a plan by changing one node at a time, until no such change makes
/// it cheaper.
void BranchAndBound::improve(SmallVectorImpl<unsigned> &choices) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node : seq<unsigned>(0, choices.size())) {
      unsigned chosen = choices[node];
      double least = getCostAround(node, choices);
      for (unsigned i : seq<unsigned>(0, problem.nodes[node].size())) {
        choices[node] = i;
        double cost = getCostAround(node, choices);
        if (cost < least) {
          least = cost;
          chosen = i;
          changed = true;
        }
      }
      choices[node] = chosen;
    }
  }
}

void BranchAndBound::take(SmallVector<unsigned, 0> choices) {
  improve(choices);
  double cost = problem.getCost(choices);
  if (best.choices.empty() || cost < best.cost) {
    best.cost = cost;
    best.choices = std::move(choices);
  }
}

void BranchAndBound::visit(Reduction reduction) {
  if (reduction.reduce())
    return take(reduction.getChoices());
  unsigned node = reduction.getWidest();
  SmallVector<double> bounds = reduction.getBounds(node);
  auto order = to_vector(seq<unsigned>(0, bounds.size()));
  sort(order, [&](unsigned a, unsigned b) {
    return std::pair(bounds[a], a) < std::pair(bounds[b], b);
  });
  for (unsigned choice : order) {
    if (!best.choices.empty() && bounds[choice] >= best.cost)
      return;
    if (!best.choices.empty() && tried >= limits.branches) {
      open = std::min(open, bounds[choice]);
      return;
    }
    Reduction branch = reduction;
    branch.fix(node, choice);
    ++tried;
    visit(std::move(branch));
  }
}

Plan BranchAndBound::run() {
  visit(Reduction(shifted, limits.states));
  best.lowerBound = std::min(best.cost, open);
  best.solver = "pbqp";
  return std::move(best);
}

Plan nnc::solvePbqp(const Problem &problem, const SearchLimits &limits) {
  return BranchAndBound(problem, limits).run();
}
