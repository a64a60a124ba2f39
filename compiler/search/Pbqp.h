//===- Pbqp.h - Near-cheapest plans with a bound --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_PBQP_H
#define NNC_COMPILER_SEARCH_PBQP_H

#include "compiler/search/Search.h"

namespace nnc {

/// The same problem, each plan at the same cost, with costs moved between the
/// nodes and the edges so that their least entries sum to a bound that is as
/// high as this finds: every node in turn takes what its edges cost at least
/// with each of its candidates, and deals all it has out to the edges ahead
/// (sequential tree-reweighted message passing, Kolmogorov 2006).
Problem shiftCosts(const Problem &problem);

/// Solves a partitioned boolean quadratic problem (Scholz and Eckstein 2002;
/// Hames and Scholz 2006) by reductions: those that lose nothing as long as
/// tables have no more than `limits.states` entries; then the node with the
/// most neighbours takes the candidate whose own cost and the least entries of
/// its edges sum to the least, and so on. The costs are shifted before, so that
/// this sum is a bound. Then other candidates of such nodes are tried, those of
/// the last node first, where their bound is below the best plan: no more than
/// `limits.branches`.
Plan solvePbqp(const Problem &problem, const SearchLimits &limits);

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_PBQP_H
