//===- Pruning.h - Removal of dominated candidates ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_PRUNING_H
#define NNC_COMPILER_SEARCH_PRUNING_H

#include "compiler/search/Search.h"

namespace nnc {

/// A problem without its dominated candidates.
///
/// A candidate is removed if another candidate of its node never costs more,
/// whatever the neighbours choose. That is so if the sum over all edges of the
/// largest difference between the two is at most the difference of their own
/// costs (Goldstein's criterion of dead-end elimination). At least one cheapest
/// plan remains.
class Pruning {
public:
  explicit Pruning(const Problem &problem);

  /// Returns the problem without the removed candidates.
  Problem getRest() const;
  /// Returns the candidate of the original problem that is candidate `choice`
  /// of `node` in getRest().
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
      edges; ///< edges of each node
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_PRUNING_H
