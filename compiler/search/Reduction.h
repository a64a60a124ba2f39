//===- Reduction.h - Nodes of a search replaced by tables -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_REDUCTION_H
#define NNC_COMPILER_SEARCH_REDUCTION_H

#include "compiler/search/Search.h"

#include <memory>
#include <set>
#include <vector>

namespace nnc {

/// A partly eliminated problem. Nodes are eliminated one after the other; for
/// each, a rule is kept that gives its best candidate from the choices of its
/// neighbours.
///
/// reduce() is exact: it replaces a node by a table that holds, for every
/// choice of its neighbours, the cost of its best candidate. For nodes with
/// zero, one or two neighbours these are PBQP's reductions R0, RI and RII; for
/// more neighbours, tables over more than two nodes arise. fix() commits a node
/// to one candidate, as PBQP's RN does. Copies share their tables and rules
/// with the original.
class Reduction {
public:
  /// Starts from `problem`, which must outlive the reduction. No table will
  /// have more than `states` entries.
  Reduction(const Problem &problem, int64_t states);

  /// Eliminates nodes, those with the smallest tables first. Returns false if
  /// nodes remain because their tables would be too large.
  bool reduce();

  /// Returns a lower bound on the cost of every choice of the remaining nodes;
  /// if none remains, it is the cost of the best plan.
  double getBound() const { return bound; }

  /// Returns the remaining node with the most neighbours.
  unsigned getWidest() const;
  /// Returns, for each candidate of `node`, a lower bound on getBound() after
  /// fix() to it: the sum of the least entries for it in all of the node's
  /// tables.
  llvm::SmallVector<double> getBounds(unsigned node) const;
  /// Commits `node` to its candidate `choice`.
  void fix(unsigned node, unsigned choice);

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
  void eliminate(unsigned node);
  void addTable(Table table);
  void dropTable(unsigned index);
  void drop(unsigned node, Rule rule);

  const Problem *problem;
  int64_t states;
  double bound = 0; ///< least entries, subtracted from the tables
  std::vector<std::shared_ptr<const Table>> tables; ///< null if removed
  std::vector<std::set<unsigned>> touching;         ///< tables of each node
  std::vector<std::set<unsigned>> neighbours;
  std::set<unsigned> left; ///< nodes that remain
  std::vector<std::shared_ptr<const Rule>> rules;
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_REDUCTION_H
