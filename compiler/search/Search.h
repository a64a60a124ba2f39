//===- Search.h - The cheapest choice over a whole graph ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// SoftNeuro section IV, NeoCPU section 3.3.2: every node picks one candidate at
// its unit cost, every edge costs what its two ends' picks make it cost (the
// adapts between them). Nothing here knows of layers.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_SEARCH_H
#define NNC_COMPILER_SEARCH_SEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>

namespace nnc {

/// A cost that no plan should contain.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

struct Problem {
  struct Edge {
    unsigned from, to;
    /// costs[i * candidates of `to` + j] for candidates i and j of the ends.
    llvm::SmallVector<double, 0> costs;
  };
  /// Unit cost of each candidate of each node; every node has one at least.
  llvm::SmallVector<llvm::SmallVector<double>, 0> nodes;
  llvm::SmallVector<Edge, 0> edges; ///< no edge from a node to itself

  /// Sum of what the choices cost.
  double getCost(llvm::ArrayRef<unsigned> choices) const;
  /// What they cost on one edge.
  double getCost(const Edge &edge, llvm::ArrayRef<unsigned> choices) const;
};

struct Plan {
  llvm::SmallVector<unsigned, 0> choices; ///< a candidate for each node
  double cost = 0;
  double lowerBound = 0; ///< no choice costs less
  /// "exact" for dynamic programming, whose cost is the bound; "pbqp"; or
  /// "tuned" where measurements of whole plans decided (PlanGraph::solve)
  llvm::StringRef solver;
};

struct SearchLimits {
  /// Entries of the largest table that dynamic programming may make.
  int64_t states = 1 << 16;
  /// Past that limit: candidates that are tried before the best plan counts.
  int64_t branches = 1000;
};

/// First, candidates that cannot be in a cheapest plan go. Then dynamic
/// programming over the nodes: each in turn is replaced by a table that says,
/// for every choice of its neighbours, which of its candidates is best then.
/// Exact for every graph whose tables stay below the limit. Others are solved
/// as a PBQP (Pbqp.h), with a bound.
Plan solve(const Problem &problem, const SearchLimits &limits = {});

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_SEARCH_H
