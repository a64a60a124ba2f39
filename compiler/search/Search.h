//===- Search.h - The cheapest choice over a whole graph ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The search chooses one candidate for each node of a graph so that the total
// cost is least (SoftNeuro section IV, NeoCPU section 3.3.2). A candidate has a
// cost of its own, and an edge has a cost for each pair of candidates of its
// two ends (the adapts between them). This code knows nothing of layers.
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

/// The cost of a candidate or pair that no plan may contain.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

struct Problem {
  struct Edge {
    unsigned from, to;
    /// The cost of candidate i of `from` with candidate j of `to` is at index i
    /// * (number of candidates of `to`) + j.
    llvm::SmallVector<double, 0> costs;
  };
  /// The cost of each candidate of each node; every node has at least one.
  llvm::SmallVector<llvm::SmallVector<double>, 0> nodes;
  llvm::SmallVector<Edge, 0> edges; ///< no edge from a node to itself

  /// Returns the total cost of the given choices, one candidate per node.
  double getCost(llvm::ArrayRef<unsigned> choices) const;
  /// Returns the cost of the given choices on one edge.
  double getCost(const Edge &edge, llvm::ArrayRef<unsigned> choices) const;
};

struct Plan {
  llvm::SmallVector<unsigned, 0> choices; ///< a candidate for each node
  double cost = 0;
  double lowerBound = 0; ///< no plan costs less
  /// The method: "exact" for dynamic programming, whose cost equals the bound;
  /// "pbqp"; or "tuned" if measurements of whole plans decided
  /// (PlanGraph::solve).
  llvm::StringRef solver;
};

struct SearchLimits {
  /// The most entries that a table of the dynamic programming may have.
  int64_t states = 1 << 16;
};

/// Returns the cheapest plan of `problem`, or a plan with a lower bound. First,
/// dominated candidates are removed. Then dynamic programming eliminates the
/// nodes: each in turn is replaced by a table that holds its best candidate for
/// every choice of its neighbours. This is exact for every graph whose tables
/// stay within `limits.states`; other graphs are solved as a PBQP (Pbqp.h), or,
/// if that finds only impossible plans, by dynamic programming with tables that
/// are 1024 times as large.
Plan solve(const Problem &problem, const SearchLimits &limits = {});

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_SEARCH_H
