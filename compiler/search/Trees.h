//===- Trees.h - Cheapest trees that reach several nodes --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_TREES_H
#define NNC_COMPILER_SEARCH_TREES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>
#include <vector>

namespace nnc {

/// The cheapest paths between all pairs of nodes of a small directed graph
/// (Floyd and Warshall). If there is a step from one node to the other, it is
/// the path between them: it moves the data once, and a detour that seems
/// cheaper is an error of the costs.
class Paths {
public:
  /// `steps` holds the cost of the step from node i to node j at index i *
  /// `count` + j, kImpossible where there is none.
  Paths(unsigned count, std::vector<double> steps);

  unsigned getCount() const { return count; }
  /// Returns the cost of the cheapest path, 0 from a node to itself;
  /// kImpossible if there is none. A single step is preferred to a path of
  /// equal cost.
  double getCost(unsigned from, unsigned to) const {
    return costs[from * count + to];
  }
  /// Returns the nodes behind `from` on that path, the last of which is `to`.
  llvm::SmallVector<unsigned> getPath(unsigned from, unsigned to) const;

private:
  unsigned count;
  std::vector<double> costs;
  std::vector<unsigned> next; ///< the first node behind `from` on the path
};

/// The cheapest trees of a graph from each node to each set of terminals, of
/// which there are at most kMostTerminals (Dreyfus and Wagner 1971). Paths that
/// share their beginning share its cost.
class Trees {
public:
  static constexpr size_t kMostTerminals = 8;

  Trees() = default;
  Trees(const Paths &paths, llvm::ArrayRef<unsigned> terminals);

  /// Returns the cost of the cheapest tree from `root` to the terminals whose
  /// bits are set in `set`; kImpossible if there is none.
  double getCost(unsigned root, unsigned set) const {
    return costs[set * count + root];
  }
  /// Returns the steps of that tree as pairs of nodes. Each step follows the
  /// one that ends where it starts. `paths` must be those of the constructor.
  llvm::SmallVector<std::pair<unsigned, unsigned>>
  getSteps(const Paths &paths, unsigned root, unsigned set) const;

private:
  /// The first branch of the tree from a node to a set of terminals. It begins
  /// with the path to `via`, from which two trees start; one of them reaches
  /// `part` of the set. An empty part means that `via` is the only terminal of
  /// the set.
  struct Branch {
    unsigned via = 0, part = 0;
  };
  unsigned count = 0;        ///< number of nodes
  std::vector<double> costs; ///< cost for each set and root
  std::vector<Branch> branches;
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_TREES_H
