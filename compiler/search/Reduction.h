//===- Reduction.h - Nodes of a search replaced by tables -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_REDUCTION_H
#define NNC_COMPILER_SEARCH_REDUCTION_H

#include "compiler/search/Search.h"

#include <set>
#include <vector>

namespace nnc {

/// A problem whose nodes are eliminated one after the other (dynamic
/// programming by variable elimination). A node is replaced by a table that
/// holds, for every choice of its neighbours, the cost of its best candidate,
/// and a rule is kept that says which candidate that is. For nodes with zero,
/// one or two neighbours these are PBQP's reductions R0, RI and RII; for more
/// neighbours, tables over more than two nodes arise.
class Reduction {
public:
  /// Starts from `problem`, which must outlive the reduction. No table will
  /// have more than `states` entries.
  Reduction(const Problem &problem, int64_t states);

  /// Eliminates nodes, those with the smallest tables first. Returns false if
  /// nodes remain because their tables would be too large.
  bool reduce();

  /// Returns the best candidate of each node. No node may remain.
  llvm::SmallVector<unsigned, 0> getChoices() const;

private:
  /// A table of costs, one for each combination of choices of the nodes in
  /// `scope`. The choice of the last node changes fastest.
  struct Table {
    llvm::SmallVector<unsigned> scope; ///< nodes, in ascending order
    std::vector<double> costs;
  };
  /// The rule that gives the best choice of an eliminated node from the choices
  /// of the nodes in `scope`.
  struct Rule {
    unsigned node;
    llvm::SmallVector<unsigned> scope;
    std::vector<unsigned> best; ///< laid out as Table::costs
  };

  int64_t getStates(unsigned node) const;
  size_t getStride(const Table &table, unsigned node) const;
  void update(unsigned node);
  void fix(unsigned node);
  void eliminate(unsigned node);
  void addTable(Table table);
  void dropTable(unsigned index);
  void drop(unsigned node, Rule rule);

  const Problem *problem;
  int64_t states;
  std::vector<Table> tables; ///< removed ones have an empty scope
  std::vector<std::set<unsigned>> touching; ///< tables of each node
  std::vector<std::set<unsigned>> neighbours;
  /// The neighbours of each node that have several candidates.
  std::vector<std::set<unsigned>> choosing;
  /// The result of getStates() for each node (`known`), and the remaining nodes
  /// in ascending order of it (`left`).
  std::vector<int64_t> known;
  std::set<std::pair<int64_t, unsigned>> left;
  std::vector<Rule> rules; ///< in the order of elimination
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_REDUCTION_H
