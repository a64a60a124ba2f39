//===- TreeLayout.h - Decision trees as arrays ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The nodes of decision trees as a model gives them, and the arrays of
// nn.tree_ensemble that they become. Those know a single comparison, "not
// larger than the value": each mode of ONNX is one or two of these.
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
  /// What a leaf adds to a target.
  struct Score {
    int64_t target;
    double weight;
  };

  TreeMode mode = TreeMode::leaf;
  int64_t feature = 0;
  double value = 0;
  std::vector<double> members; ///< the values of TreeMode::member
  bool takesMissing = false;   ///< whether NaN satisfies the comparison
  int64_t yes = 0, no = 0;     ///< numbers of nodes
  std::vector<Score> scores;   ///< of a leaf
};

/// The trees of a model.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

/// Returns the number of leaves if one of them has several scores, so that each
/// needs a row with one for each target; else 0.
int64_t countRows(const Trees &trees);

/// The operands of nn.tree_ensemble.
struct TreeArrays {
  std::vector<double> values;
  std::vector<int64_t> tests, jumps, roots;
  std::vector<double> scores; ///< rows of one for each target, if dense
  bool isDense = false;

  /// Whether all tests and jumps fit in 16 bits.
  bool isShort() const;
};

/// Returns why the trees are no trees over `features` features, as the end of a
/// sentence that starts with the operator; empty if they are.
std::string findProblem(const Trees &trees, int64_t features);

/// Lays out sound trees. `absent` is the score of a leaf for a target for which
/// it has none: 0 where scores are added, positive infinity where the least and
/// negative infinity where the largest counts. Values are rounded to floats
/// unless `isDouble`.
TreeArrays layOut(const Trees &trees, double absent, bool isDouble);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LEARNED_TREELAYOUT_H
