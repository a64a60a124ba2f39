//===- Pruning.h - Candidates that no cheapest plan needs -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_PRUNING_H
#define NNC_COMPILER_SEARCH_PRUNING_H

#include "compiler/search/Search.h"

namespace nnc {

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
  llvm::SmallVector<llvm::SmallVector<unsigned>, 0> kept;
  llvm::SmallVector<llvm::SmallVector<const Problem::Edge *>, 0>
      edges; ///< of each node
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_PRUNING_H
