//===- Pbqp.h - Near-cheapest plans with a bound --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_PBQP_H
#define NNC_COMPILER_SEARCH_PBQP_H

#include "compiler/search/Search.h"

namespace nnc {

/// Returns an equivalent problem, in which every plan has the same cost, with
/// costs moved between nodes and edges so that the sum of their least entries,
/// a lower bound on every plan, becomes as high as this method finds. Each node
/// in turn collects from its edges the least cost of each of its candidates,
/// and distributes the total to the edges ahead of it (sequential
/// tree-reweighted message passing, Kolmogorov 2006).
Problem shiftCosts(const Problem &problem);

/// Solves a partitioned boolean quadratic problem (Scholz and Eckstein 2002;
/// Hames and Scholz 2006) by reductions. Exact reductions are applied as long
/// as their tables have at most `limits.states` entries. After that, the node
/// with the most neighbours is fixed to the candidate for which its own cost
/// and the least entries of its edges have the smallest sum, and the reductions
/// go on. The costs are shifted first (shiftCosts), which makes that sum a
/// lower bound. Finally a branch and bound tries other candidates of the fixed
/// nodes, the last fixed node first, as long as their bound is below the best
/// plan, and at most `limits.branches` of them.
Plan solvePbqp(const Problem &problem, const SearchLimits &limits);

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_PBQP_H
