//===- Pbqp.h - Near-cheapest plans with a bound --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_PBQP_H
#define NNC_COMPILER_SEARCH_PBQP_H

#include "compiler/search/Search.h"

namespace nnc {

/// Returns an equivalent problem, in which every plan has the same cost as
/// before. Costs are moved between nodes and edges so that the sum of the least
/// entries of all nodes and edges, which is a lower bound on every plan,
/// becomes as high as this method finds. Each node in turn collects from its
/// edges the least cost of each of its candidates, and distributes the total to
/// the edges ahead of it (sequential tree-reweighted message passing,
/// Kolmogorov 2006).
Problem shiftCosts(const Problem &problem);

/// Solves a partitioned boolean quadratic problem (Scholz and Eckstein 2002;
/// Hames and Scholz 2006) by the reductions of LLVM's solver. Nodes with up to
/// two neighbours are reduced exactly (R0, RI, RII). If there is no such node,
/// the decision on the node with the most neighbours is postponed until its
/// neighbours are decided (RN). The costs are shifted first (shiftCosts), which
/// gives the plan's lower bound and makes RN more often right. Finally, the
/// plan is improved by changing one node at a time. It may contain an
/// impossible pair even if a plan without one exists.
Plan solvePbqp(const Problem &problem);

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_PBQP_H
