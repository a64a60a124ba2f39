//===- Search.cpp - The cheapest choice over a whole graph ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/schedule/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <vector>

using namespace llvm;
using namespace nnc;

double Problem::getCost(ArrayRef<unsigned> choices) const {
  double cost = 0;
  for (auto [node, choice] : enumerate(choices))
    cost += nodes[node][choice];
  for (const Edge &edge : edges)
    cost += edge.costs[choices[edge.from] * nodes[edge.to].size() +
                       choices[edge.to]];
  return cost;
}

namespace {
/// The candidates of each node that a cheapest plan may need.
///
/// A candidate goes when another of its node costs no more whatever the
/// neighbours choose: when, over all edges, the largest differences between the
/// two sum to no more than it is cheaper itself (Goldstein's criterion of
/// dead-end elimination). At least one cheapest plan stays.
class Pruning {
public:
  explicit Pruning(const Problem &problem);

  /// The problem without the candidates that went.
  Problem getRest() const;
  /// A choice of getRest()'s in terms of the whole problem.
  unsigned getOriginal(unsigned node, unsigned choice) const {
    return kept[node][choice];
  }

private:
  double getEdgeCost(const Problem::Edge &edge, unsigned node, unsigned choice,
                     unsigned other) const;
  double getMost(const Problem::Edge &edge, unsigned node, unsigned a,
                 unsigned b) const;
  bool isNeverDearer(unsigned node, unsigned a, unsigned b) const;
  bool prune(unsigned node);

  const Problem &problem;
  SmallVector<SmallVector<unsigned>, 0> kept;
  SmallVector<SmallVector<const Problem::Edge *>, 0> edges; ///< of each node
};
} // namespace

Pruning::Pruning(const Problem &problem)
    : problem(problem), edges(problem.nodes.size()) {
  for (const auto &costs : problem.nodes)
    kept.push_back(to_vector(seq<unsigned>(0, costs.size())));
  for (const Problem::Edge &edge : problem.edges) {
    edges[edge.from].push_back(&edge);
    edges[edge.to].push_back(&edge);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node = 0; node < problem.nodes.size(); ++node)
      changed |= prune(node);
  }
}

double Pruning::getEdgeCost(const Problem::Edge &edge, unsigned node,
                            unsigned choice, unsigned other) const {
  unsigned from = edge.from == node ? choice : other;
  unsigned to = edge.from == node ? other : choice;
  return edge.costs[from * problem.nodes[edge.to].size() + to];
}

/// By how much `a` can cost more than `b` on `edge`.
double Pruning::getMost(const Problem::Edge &edge, unsigned node, unsigned a,
                        unsigned b) const {
  double most = -kImpossible;
  for (unsigned other : kept[edge.from == node ? edge.to : edge.from]) {
    double with = getEdgeCost(edge, node, a, other);
    double without = getEdgeCost(edge, node, b, other);
    if (with == without) // also where neither is possible
      most = std::max(most, 0.0);
    else
      most = std::max(most, with - without);
  }
  return most;
}

bool Pruning::isNeverDearer(unsigned node, unsigned a, unsigned b) const {
  ArrayRef<double> costs = problem.nodes[node];
  if (costs[b] == kImpossible)
    return true;
  double most = costs[a] - costs[b];
  for (const Problem::Edge *edge : edges[node]) {
    double part = getMost(*edge, node, a, b);
    if (part == kImpossible)
      return false;
    most += part;
  }
  return most <= 0;
}

bool Pruning::prune(unsigned node) {
  SmallVector<unsigned> &own = kept[node];
  size_t before = own.size();
  // Of equals the first stays.
  for (size_t i = own.size(); i-- > 0;)
    if (any_of(own, [&](unsigned other) {
          return other != own[i] && isNeverDearer(node, other, own[i]);
        }))
      own.erase(own.begin() + i);
  return own.size() < before;
}

Problem Pruning::getRest() const {
  Problem rest;
  for (auto [costs, choices] : zip(problem.nodes, kept)) {
    auto &left = rest.nodes.emplace_back();
    for (unsigned choice : choices)
      left.push_back(costs[choice]);
  }
  for (const Problem::Edge &edge : problem.edges) {
    auto &left = rest.edges.emplace_back(Problem::Edge{edge.from, edge.to, {}});
    for (unsigned from : kept[edge.from])
      for (unsigned to : kept[edge.to])
        left.costs.push_back(getEdgeCost(edge, edge.from, from, to));
  }
  return rest;
}

namespace {
/// A cost for each choice of some nodes, the last of which changes fastest.
struct Table {
  SmallVector<unsigned> scope; ///< rising
  std::vector<double> costs;
};

/// How a node follows from its neighbours, once those are known.
struct Rule {
  unsigned node;
  SmallVector<unsigned> scope;
  std::vector<unsigned> best; ///< laid out as Table::costs
};

class Elimination {
public:
  Elimination(const Problem &problem, const SearchLimits &limits);
  Plan run();

private:
  int64_t getStates(unsigned node) const;
  void eliminate(unsigned node);
  void fix(unsigned node);
  void addTable(Table table);
  void improve(SmallVectorImpl<unsigned> &choices) const;
  double getLowerBound() const;

  const Problem &problem;
  const SearchLimits &limits;
  std::vector<Table> tables; ///< an empty scope: no longer there
  SmallVector<std::set<unsigned>, 0> touching; ///< tables of each node
  SmallVector<std::set<unsigned>, 0> neighbours;
  std::set<unsigned> left; ///< nodes not yet eliminated
  SmallVector<Rule, 0> rules;
  bool exact = true;
};
} // namespace

Elimination::Elimination(const Problem &problem, const SearchLimits &limits)
    : problem(problem), limits(limits), touching(problem.nodes.size()),
      neighbours(problem.nodes.size()) {
  for (auto [node, costs] : enumerate(problem.nodes)) {
    assert(!costs.empty() && "a node without candidates");
    left.insert(node);
    addTable({{static_cast<unsigned>(node)}, {costs.begin(), costs.end()}});
  }
  for (const Problem::Edge &edge : problem.edges) {
    assert(edge.from != edge.to && "an edge from a node to itself");
    unsigned low = std::min(edge.from, edge.to);
    unsigned high = std::max(edge.from, edge.to);
    Table table{{low, high}, {edge.costs.begin(), edge.costs.end()}};
    size_t rows = problem.nodes[low].size(), cols = problem.nodes[high].size();
    if (edge.from != low)
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < cols; ++j)
          table.costs[i * cols + j] = edge.costs[j * rows + i];
    addTable(std::move(table));
  }
}

void Elimination::addTable(Table table) {
  for (unsigned node : table.scope) {
    touching[node].insert(tables.size());
    for (unsigned other : table.scope)
      if (other != node)
        neighbours[node].insert(other);
  }
  tables.push_back(std::move(table));
}

/// Entries of the table that eliminating `node` makes, itself included.
int64_t Elimination::getStates(unsigned node) const {
  double states = problem.nodes[node].size();
  for (unsigned other : neighbours[node])
    states *= problem.nodes[other].size();
  return states > double(limits.states) ? limits.states + 1 : int64_t(states);
}

/// Replaces the tables of `node` by one on its neighbours.
void Elimination::eliminate(unsigned node) {
  Rule rule{node, {neighbours[node].begin(), neighbours[node].end()}, {}};
  // The odometer runs over the neighbours, the node is the inner loop.
  SmallVector<unsigned> order = rule.scope;
  order.push_back(node);
  size_t entries = 1;
  for (unsigned other : rule.scope)
    entries *= problem.nodes[other].size();
  // Per table, by how much its index moves with each node of `order`.
  SmallVector<SmallVector<size_t>> strides;
  SmallVector<const Table *> own;
  for (unsigned index : touching[node]) {
    own.push_back(&tables[index]);
    SmallVector<size_t> &row = strides.emplace_back(order.size(), 0);
    size_t stride = 1;
    for (unsigned other : reverse(tables[index].scope)) {
      row[find(order, other) - order.begin()] = stride;
      stride *= problem.nodes[other].size();
    }
  }
  Table table{rule.scope, std::vector<double>(entries)};
  rule.best.resize(entries);
  SmallVector<size_t> at(own.size(), 0);
  SmallVector<unsigned> counter(rule.scope.size(), 0);
  size_t inner = order.size() - 1;
  for (size_t entry = 0; entry < entries; ++entry) {
    double best = kImpossible;
    unsigned choice = 0;
    for (unsigned i = 0; i < problem.nodes[node].size(); ++i) {
      double cost = 0;
      for (size_t t = 0; t < own.size(); ++t)
        cost += own[t]->costs[at[t] + i * strides[t][inner]];
      if (cost < best) {
        best = cost;
        choice = i;
      }
    }
    table.costs[entry] = best;
    rule.best[entry] = choice;
    for (size_t digit = inner; digit-- > 0;) {
      for (size_t t = 0; t < own.size(); ++t)
        at[t] += strides[t][digit];
      if (++counter[digit] < problem.nodes[order[digit]].size())
        break;
      for (size_t t = 0; t < own.size(); ++t)
        at[t] -= strides[t][digit] * counter[digit];
      counter[digit] = 0;
    }
  }
  for (unsigned index : std::set<unsigned>(touching[node])) {
    for (unsigned other : tables[index].scope)
      touching[other].erase(index);
    tables[index] = {};
  }
  for (unsigned other : rule.scope)
    neighbours[other].erase(node);
  left.erase(node);
  if (!rule.scope.empty())
    addTable(std::move(table));
  rules.push_back(std::move(rule));
}

/// Decides `node` at once: at the candidate that is cheapest if every table it
/// is in went its way. Its tables lose one node of their scope.
void Elimination::fix(unsigned node) {
  exact = false;
  size_t count = problem.nodes[node].size();
  SmallVector<double> least(count, 0);
  for (unsigned index : touching[node]) {
    const Table &table = tables[index];
    size_t stride = 1;
    for (unsigned other : reverse(table.scope)) {
      if (other == node)
        break;
      stride *= problem.nodes[other].size();
    }
    SmallVector<double> best(count, kImpossible);
    for (size_t entry = 0; entry < table.costs.size(); ++entry) {
      double &slot = best[entry / stride % count];
      slot = std::min(slot, table.costs[entry]);
    }
    for (size_t i = 0; i < count; ++i)
      least[i] += best[i];
  }
  unsigned choice = min_element(least) - least.begin();
  rules.push_back({node, {}, {choice}});
  left.erase(node);
  for (unsigned index : std::set<unsigned>(touching[node])) {
    Table old = std::move(tables[index]);
    for (unsigned other : old.scope)
      touching[other].erase(index);
    tables[index] = {};
    size_t stride = 1;
    Table rest;
    for (unsigned other : old.scope)
      if (other != node)
        rest.scope.push_back(other);
    for (unsigned other : reverse(old.scope)) {
      if (other == node)
        break;
      stride *= problem.nodes[other].size();
    }
    for (size_t entry = 0; entry < old.costs.size(); ++entry)
      if (entry / stride % count == choice)
        rest.costs.push_back(old.costs[entry]);
    if (!rest.scope.empty())
      addTable(std::move(rest));
  }
  for (unsigned other : std::set<unsigned>(neighbours[node]))
    neighbours[other].erase(node);
}

/// Changes one node at a time for as long as that makes the plan cheaper.
void Elimination::improve(SmallVectorImpl<unsigned> &choices) const {
  SmallVector<SmallVector<const Problem::Edge *>> edges(choices.size());
  for (const Problem::Edge &edge : problem.edges) {
    edges[edge.from].push_back(&edge);
    edges[edge.to].push_back(&edge);
  }
  auto getLocalCost = [&](unsigned node) {
    double cost = problem.nodes[node][choices[node]];
    for (const Problem::Edge *edge : edges[node])
      cost += edge->costs[choices[edge->from] * problem.nodes[edge->to].size() +
                          choices[edge->to]];
    return cost;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node = 0; node < choices.size(); ++node) {
      unsigned best = choices[node];
      double cost = getLocalCost(node);
      for (unsigned i = 0; i < problem.nodes[node].size(); ++i) {
        choices[node] = i;
        double other = getLocalCost(node);
        if (other < cost) {
          cost = other;
          best = i;
          changed = true;
        }
      }
      choices[node] = best;
    }
  }
}

/// Every node and every edge at its own best.
double Elimination::getLowerBound() const {
  double bound = 0;
  for (const auto &costs : problem.nodes)
    bound += *min_element(costs);
  for (const Problem::Edge &edge : problem.edges)
    bound += *min_element(edge.costs);
  return bound;
}

Plan Elimination::run() {
  while (!left.empty()) {
    auto node =
        std::min_element(left.begin(), left.end(), [&](unsigned a, unsigned b) {
          return getStates(a) < getStates(b);
        });
    if (getStates(*node) <= limits.states) {
      eliminate(*node);
      continue;
    }
    fix(*std::max_element(left.begin(), left.end(),
                          [&](unsigned a, unsigned b) {
                            return neighbours[a].size() < neighbours[b].size();
                          }));
  }
  Plan plan;
  plan.choices.resize(problem.nodes.size(), 0);
  for (const Rule &rule : reverse(rules)) {
    size_t entry = 0;
    for (unsigned other : rule.scope)
      entry = entry * problem.nodes[other].size() + plan.choices[other];
    plan.choices[rule.node] = rule.best[entry];
  }
  if (!exact)
    improve(plan.choices);
  plan.cost = problem.getCost(plan.choices);
  plan.lowerBound = exact ? plan.cost : std::min(plan.cost, getLowerBound());
  plan.solver = plan.cost == plan.lowerBound ? "exact" : "heuristic";
  return plan;
}

Plan nnc::solve(const Problem &problem, const SearchLimits &limits) {
  Pruning pruning(problem);
  Problem rest = pruning.getRest();
  Plan plan = Elimination(rest, limits).run();
  for (auto [node, choice] : enumerate(plan.choices))
    choice = pruning.getOriginal(node, choice);
  return plan;
}
