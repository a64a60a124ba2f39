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

/// A problem on its way to nothing: a node after the other goes, and how it
/// follows from its neighbours is kept.
///
/// reduce() loses nothing: a node is replaced by a table that says, for every
/// choice of its neighbours, what its best candidate costs then. With none, one
/// or two neighbours that is PBQP's reduction R0, RI or RII; with more, tables
/// of more than two nodes come about. fix() decides a node, as PBQP's RN does.
/// What a copy has in common with its original, they share.
class Reduction {
public:
  /// Tables have `states` entries at most. The problem outlives the reduction.
  Reduction(const Problem &problem, int64_t states);

  /// Replaces nodes, those first whose tables are smallest. False where nodes
  /// are left whose tables would be too large.
  bool reduce();

  /// Costs no more than any choice of the nodes left; where none is left, as
  /// much as the best.
  double getBound() const { return bound; }

  /// Of the nodes left, the one with the most neighbours.
  unsigned getWidest() const;
  /// What getBound() is at least with each of the node's candidates: the sum of
  /// the least that each of its tables has for it.
  llvm::SmallVector<double> getBounds(unsigned node) const;
  void fix(unsigned node, unsigned choice);

  /// Where no node is left: the best candidate of each.
  llvm::SmallVector<unsigned, 0> getChoices() const;

private:
  /// A cost for each choice of some nodes, the last of which changes fastest.
  struct Table {
    llvm::SmallVector<unsigned> scope; ///< rising
    std::vector<double> costs;
  };
  /// How a node follows from its neighbours, once those are known.
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
  double bound = 0; ///< the least entries of all tables go here
  std::vector<std::shared_ptr<const Table>> tables; ///< null: no longer there
  std::vector<std::set<unsigned>> touching;         ///< tables of each node
  std::vector<std::set<unsigned>> neighbours;
  std::set<unsigned> left; ///< nodes
  std::vector<std::shared_ptr<const Rule>> rules;
};

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_REDUCTION_H
