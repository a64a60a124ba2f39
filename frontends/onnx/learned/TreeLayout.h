//===- TreeLayout.h - Decision trees as arrays ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The nodes of decision trees in a model, and the arrays of nn.tree_ensemble
// that they become. nn.tree_ensemble has a single comparison, "not larger than
// the value"; each comparison mode of ONNX becomes one or two of these.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_LEARNED_TREELAYOUT_H
#define NNC_FRONTENDS_ONNX_LEARNED_TREELAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nnc::onnx {

enum class TreeMode { leq, lt, gte, gt, eq, neq, member, leaf };

/// A node of a model's trees.
struct TreeNode {
  /// The score that a leaf contributes to a target.
  struct Score {
    int64_t target;
    double weight;
  };

  TreeMode mode = TreeMode::leaf;
  int64_t feature = 0;
  double value = 0;
  std::vector<double> members; ///< the values of TreeMode::member
  bool takesMissing = false;   ///< whether NaN satisfies the comparison
  int64_t yes = 0, no = 0;     ///< indices of the next nodes
  std::vector<Score> scores;   ///< only for leaves
};

/// The trees of a model.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

/// Returns the number of rows in a dense matrix of scores, which has a row for
/// each leaf and a column for each target, or 0 if no leaf has several scores
/// and no such matrix is needed.
int64_t countRows(const Trees &trees);

/// The operands of nn.tree_ensemble.
struct TreeArrays {
  std::vector<double> values;
  std::vector<int64_t> tests, jumps, roots;
  std::vector<double>
      scores; ///< if dense, a row of one score per target per leaf
  bool isDense = false;

  /// Returns true if all tests and jumps fit in 16 bits.
  bool isShort() const;
};

/// Returns the reason why the nodes are not valid trees over `features`
/// features, as the end of a sentence that starts with the operator; empty if
/// they are.
std::string findProblem(const Trees &trees, int64_t features);

/// Returns the arrays of valid trees. `absent` is the score of a leaf for a
/// target that it has no score for: 0 if scores are added, positive infinity
/// for a minimum and negative infinity for a maximum. Values are rounded to
/// 32-bit floats unless `isDouble` is set.
TreeArrays layOut(const Trees &trees, double absent, bool isDouble);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LEARNED_TREELAYOUT_H
