//===- Reduction.cpp - Nodes of a search replaced by tables ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Reduction.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace nnc;

Reduction::Reduction(const Problem &problem, int64_t states)
    : problem(&problem), states(states), touching(problem.nodes.size()),
      neighbours(problem.nodes.size()), choosing(problem.nodes.size()),
      known(problem.nodes.size(), 0) {
  for (auto [node, costs] : enumerate(problem.nodes)) {
    assert(!costs.empty() && "a node without candidates");
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
  for (unsigned node = 0; node < problem.nodes.size(); ++node) {
    known[node] = getStates(node);
    left.insert({known[node], node});
  }
}

void Reduction::addTable(Table table) {
  if (table.scope.empty())
    return;
  for (unsigned node : table.scope) {
    touching[node].insert(tables.size());
    for (unsigned other : table.scope)
      if (other != node && neighbours[node].insert(other).second &&
          problem->nodes[other].size() > 1)
        choosing[node].insert(other);
  }
  tables.push_back(std::move(table));
}

void Reduction::dropTable(unsigned index) {
  for (unsigned node : tables[index].scope)
    touching[node].erase(index);
  tables[index] = {};
}

/// Removes `node`, which no table contains any more, from the graph, and keeps
/// the rule that decides it.
void Reduction::drop(unsigned node, Rule rule) {
  assert(touching[node].empty() && "a table that nothing replaces");
  for (unsigned other : neighbours[node]) {
    neighbours[other].erase(node);
    choosing[other].erase(node);
  }
  neighbours[node].clear();
  left.erase({known[node], node});
  rules.push_back(std::move(rule));
}

/// Returns the number of entries that the elimination of `node` visits: those
/// of the new table, times the candidates of the node. It is limited to
/// `states` + 1.
int64_t Reduction::getStates(unsigned node) const {
  double count = problem->nodes[node].size();
  for (unsigned other : choosing[node]) {
    count *= problem->nodes[other].size();
    if (count > double(states))
      break;
  }
  return count > double(states) ? states + 1 : int64_t(count);
}

/// Computes the number of states of `node` again.
void Reduction::update(unsigned node) {
  int64_t now = getStates(node);
  if (now == known[node])
    return;
  left.erase({known[node], node});
  known[node] = now;
  left.insert({now, node});
}

/// Takes `node`, which has one candidate, out of its tables: their entries are
/// those for this candidate already.
void Reduction::fix(unsigned node) {
  std::set<unsigned> others = neighbours[node];
  for (unsigned index : std::set<unsigned>(touching[node])) {
    Table table{{}, std::move(tables[index].costs)};
    for (unsigned other : tables[index].scope)
      if (other != node)
        table.scope.push_back(other);
    dropTable(index);
    addTable(std::move(table));
  }
  drop(node, {node, {}, {0}});
  for (unsigned other : others)
    update(other);
}

/// Returns the distance in `table` between the entries of two successive
/// candidates of `node`.
size_t Reduction::getStride(const Table &table, unsigned node) const {
  size_t stride = 1;
  for (unsigned other : reverse(table.scope)) {
    if (other == node)
      break;
    stride *= problem->nodes[other].size();
  }
  return stride;
}

/// Replaces the tables of `node` by a single table over its neighbours.
void Reduction::eliminate(unsigned node) {
  Rule rule{node, {neighbours[node].begin(), neighbours[node].end()}, {}};
  // An odometer runs over the choices of the neighbours; the inner loop runs
  // over the candidates of the node.
  size_t entries = 1;
  for (unsigned other : rule.scope)
    entries *= problem->nodes[other].size();
  // For each table, the strides of its index for each neighbour and for the
  // node.
  SmallVector<SmallVector<size_t>> strides;
  SmallVector<size_t> inner;
  SmallVector<const Table *> own;
  for (unsigned index : touching[node]) {
    const Table &table = tables[index];
    own.push_back(&table);
    SmallVector<size_t> &row = strides.emplace_back();
    for (unsigned other : rule.scope)
      row.push_back(is_contained(table.scope, other) ? getStride(table, other)
                                                     : 0);
    inner.push_back(getStride(table, node));
  }
  Table table{rule.scope, std::vector<double>(entries)};
  rule.best.resize(entries);
  SmallVector<size_t> at(own.size(), 0);
  SmallVector<unsigned> counter(rule.scope.size(), 0);
  for (size_t entry = 0; entry < entries; ++entry) {
    double best = kImpossible;
    unsigned choice = 0;
    for (unsigned i = 0; i < problem->nodes[node].size(); ++i) {
      double cost = 0;
      for (size_t t = 0; t < own.size(); ++t)
        cost += own[t]->costs[at[t] + i * inner[t]];
      if (cost < best) {
        best = cost;
        choice = i;
      }
    }
    table.costs[entry] = best;
    rule.best[entry] = choice;
    for (size_t digit = counter.size(); digit-- > 0;) {
      for (size_t t = 0; t < own.size(); ++t)
        at[t] += strides[t][digit];
      if (++counter[digit] < problem->nodes[rule.scope[digit]].size())
        break;
      for (size_t t = 0; t < own.size(); ++t)
        at[t] -= strides[t][digit] * counter[digit];
      counter[digit] = 0;
    }
  }
  for (unsigned index : std::set<unsigned>(touching[node]))
    dropTable(index);
  SmallVector<unsigned> scope = rule.scope;
  drop(node, std::move(rule));
  addTable(std::move(table));
  for (unsigned other : scope)
    update(other);
}

/// The number of neighbours above which a node with one candidate is removed
/// from its tables before it is eliminated. The elimination would make one
/// table over all neighbours, and make these neighbours of each other.
static constexpr size_t kManyNeighbours = 16;

bool Reduction::reduce() {
  for (unsigned node = 0; node < problem->nodes.size(); ++node)
    if (problem->nodes[node].size() == 1 &&
        neighbours[node].size() > kManyNeighbours)
      fix(node);
  while (!left.empty()) {
    auto [count, node] = *left.begin();
    if (count > states)
      return false;
    eliminate(node);
  }
  return true;
}

SmallVector<unsigned, 0> Reduction::getChoices() const {
  assert(left.empty() && "nodes that nothing decides");
  SmallVector<unsigned, 0> choices(problem->nodes.size(), 0);
  for (const Rule &rule : reverse(rules)) {
    size_t entry = 0;
    for (unsigned other : rule.scope)
      entry = entry * problem->nodes[other].size() + choices[other];
    choices[rule.node] = rule.best[entry];
  }
  return choices;
}
