//===- Trees.cpp - Cheapest trees that reach several nodes ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Trees.h"

#include "compiler/search/Search.h"

#include "llvm/ADT/BitVector.h"

#include <cassert>

using namespace llvm;
using namespace nnc;

Paths::Paths(unsigned count, std::vector<double> steps)
    : count(count), costs(std::move(steps)), next(costs.size()) {
  for (unsigned from = 0; from < count; ++from)
    for (unsigned to = 0; to < count; ++to)
      next[from * count + to] = to;
  for (unsigned node = 0; node < count; ++node)
    costs[node * count + node] = 0;
  std::vector<bool> isStep;
  for (double cost : costs)
    isStep.push_back(cost != kImpossible);
  for (unsigned via = 0; via < count; ++via)
    for (unsigned from = 0; from < count; ++from) {
      double first = costs[from * count + via];
      if (first == kImpossible)
        continue;
      for (unsigned to = 0; to < count; ++to)
        if (double sum = first + costs[via * count + to];
            !isStep[from * count + to] && sum < costs[from * count + to]) {
          costs[from * count + to] = sum;
          next[from * count + to] = next[from * count + via];
        }
    }
}

SmallVector<unsigned> Paths::getPath(unsigned from, unsigned to) const {
  SmallVector<unsigned> path;
  while (from != to)
    path.push_back(from = next[from * count + to]);
  return path;
}

Trees::Trees(const Paths &paths, ArrayRef<unsigned> terminals)
    : count(paths.getCount()) {
  assert(terminals.size() <= kMostTerminals && "the tables would be too large");
  const unsigned sets = 1u << terminals.size();
  costs.assign(sets * count, kImpossible);
  branches.resize(sets * count);
  std::fill_n(costs.begin(), count, 0.0);
  for (unsigned set = 1; set < sets; ++set) {
    double *own = &costs[set * count];
    Branch *branch = &branches[set * count];
    // First, trees that divide at their root, or are a path to a single
    // terminal.
    if ((set & (set - 1)) == 0) {
      unsigned terminal = 0;
      while (!(set >> terminal & 1))
        ++terminal;
      for (unsigned root = 0; root < count; ++root) {
        own[root] = paths.getCost(root, terminals[terminal]);
        branch[root] = {terminals[terminal], 0};
      }
      continue;
    }
    for (unsigned part = (set - 1) & set; part > 0; part = (part - 1) & set)
      for (unsigned root = 0; root < count; ++root)
        if (double sum =
                costs[part * count + root] + costs[(set ^ part) * count + root];
            sum < own[root]) {
          own[root] = sum;
          branch[root] = {root, part};
        }
    // Then, trees that begin with a path to the node where they divide. Since
    // paths are the cheapest ones, one round is enough.
    const std::vector<double> divided(own, own + count);
    const std::vector<Branch> divisions(branch, branch + count);
    for (unsigned root = 0; root < count; ++root)
      for (unsigned via = 0; via < count; ++via)
        if (double sum = paths.getCost(root, via) + divided[via];
            sum < own[root]) {
          own[root] = sum;
          branch[root] = {via, divisions[via].part};
        }
  }
}

SmallVector<std::pair<unsigned, unsigned>>
Trees::getSteps(const Paths &paths, unsigned root, unsigned set) const {
  SmallVector<std::pair<unsigned, unsigned>> steps;
  BitVector reached(count);
  reached.set(root);
  SmallVector<std::pair<unsigned, unsigned>> open = {{root, set}};
  while (!open.empty()) {
    auto [from, rest] = open.pop_back_val();
    if (rest == 0)
      continue;
    const Branch branch = branches[rest * count + from];
    unsigned at = from;
    for (unsigned node : paths.getPath(from, branch.via)) {
      if (!reached.test(node))
        steps.push_back({at, node});
      reached.set(node);
      at = node;
    }
    if (branch.part) {
      open.push_back({branch.via, branch.part});
      open.push_back({branch.via, rest ^ branch.part});
    }
  }
  return steps;
}
