//===- Pruning.cpp - Removal of dominated candidates ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Pruning.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace llvm;
using namespace nnc;

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

/// Returns the largest amount by which candidate `a` of `node` can cost more
/// than `b` on `edge`.
double Pruning::getMost(const Problem::Edge &edge, unsigned node, unsigned a,
                        unsigned b) const {
  double most = -kImpossible;
  for (unsigned other : kept[edge.from == node ? edge.to : edge.from]) {
    double with = getEdgeCost(edge, node, a, other);
    double without = getEdgeCost(edge, node, b, other);
    if (with == without) // also if both are infinite
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
  // The loop runs from the last candidate, so that the first of several equal
  // ones is kept.
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
