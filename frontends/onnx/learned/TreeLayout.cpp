//===- TreeLayout.cpp - Decision trees as arrays --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/learned/TreeLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace nnc::onnx;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Returns true if a path from `root` visits a node twice. `state` is 0 for
/// unvisited nodes, 1 for nodes on the current path and 2 for finished nodes.
static bool hasCycle(const Trees &trees, int64_t root,
                     std::vector<uint8_t> &state) {
  std::vector<int64_t> path = {root};
  while (!path.empty()) {
    int64_t at = path.back();
    const TreeNode &node = trees.nodes[at];
    bool isNew = state[at] == 0;
    state[at] = isNew && node.mode != TreeMode::leaf ? 1 : 2;
    if (state[at] == 2) {
      path.pop_back();
      continue;
    }
    for (int64_t child : {node.no, node.yes}) {
      if (state[child] == 1)
        return true;
      if (state[child] == 0)
        path.push_back(child);
    }
  }
  return false;
}

std::string nnc::onnx::findProblem(const Trees &trees, int64_t features) {
  auto size = static_cast<int64_t>(trees.nodes.size());
  auto isNode = [&](int64_t node) { return node >= 0 && node < size; };
  if (trees.roots.empty() || !llvm::all_of(trees.roots, isNode))
    return "has no trees";
  if (trees.targets < 1 || trees.targets > INT32_MAX)
    return "has " + std::to_string(trees.targets) + " targets";
  for (const TreeNode &node : trees.nodes) {
    for (const TreeNode::Score &score : node.scores)
      if (score.target < 0 || score.target >= trees.targets)
        return "has a leaf with a score for target " +
               std::to_string(score.target) + " of " +
               std::to_string(trees.targets);
    if (node.mode == TreeMode::leaf)
      continue;
    if (!isNode(node.yes) || !isNode(node.no))
      return "has a node whose children are not among its nodes";
    if (node.feature < 0 ||
        node.feature >= std::min<int64_t>(features, 1 << 30))
      return "compares feature " + std::to_string(node.feature) + " of " +
             std::to_string(features);
  }
  std::vector<uint8_t> state(trees.nodes.size());
  for (int64_t root : trees.roots)
    if (hasCycle(trees, root, state))
      return "has a node that is below itself";
  return "";
}

int64_t nnc::onnx::countRows(const Trees &trees) {
  bool isDense = llvm::any_of(
      trees.nodes, [](const TreeNode &node) { return node.scores.size() > 1; });
  return isDense ? llvm::count_if(trees.nodes,
                                  [](const TreeNode &node) {
                                    return node.mode == TreeMode::leaf;
                                  })
                 : 0;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
/// A node in the routine's form: a leaf, or a choice between two nodes. The
/// first one is taken if the feature is not larger than the value.
struct Choice {
  int64_t feature = -1; ///< -1 for a leaf
  double value = 0;
  bool takesMissing = false; ///< whether NaN leads to the first node
  int64_t first = 0, second = 0;
};

/// A converter of a model's nodes to choices. The first choices have the same
/// indices as the nodes; further choices follow.
class Choices {
public:
  Choices(const Trees &trees, bool isDouble) : isDouble(isDouble) {
    choices.resize(trees.nodes.size());
    for (auto [i, node] : llvm::enumerate(trees.nodes))
      if (node.mode != TreeMode::leaf)
        choices[i] = translate(node);
  }
  const Choice &operator[](int64_t i) const { return choices[i]; }
  size_t size() const { return choices.size(); }

private:
  Choice translate(const TreeNode &node);
  Choice makeEqual(const TreeNode &node, double value, int64_t yes, int64_t no,
                   bool takesMissing);
  int64_t append(const Choice &choice) {
    choices.push_back(choice);
    return choices.size() - 1;
  }
  double round(double value) const {
    return isDouble ? value : static_cast<double>(static_cast<float>(value));
  }
  /// Returns the largest number below a finite value.
  double getBelow(double value) const {
    return isDouble ? std::nextafter(value, -kInfinity)
                    : std::nextafter(static_cast<float>(value),
                                     -std::numeric_limits<float>::infinity());
  }
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::vector<Choice> choices;
  bool isDouble;
};
} // namespace

/// Returns a choice of `yes` if the feature equals the value, otherwise `no`.
/// NaN leads to `yes` if `takesMissing` is set.
Choice Choices::makeEqual(const TreeNode &node, double value, int64_t yes,
                          int64_t no, bool takesMissing) {
  // No number equals NaN, and none is below the least one.
  if (std::isnan(value) || value == -kInfinity)
    return {node.feature, value, takesMissing, yes, no};
  // Equality is: not larger than the value, but larger than the next number
  // below. If NaN is taken, it skips the second choice and leads to `yes`.
  int64_t inner =
      append({node.feature, getBelow(value), /*takesMissing=*/false, no, yes});
  return {node.feature, value, takesMissing, inner, no};
}

Choice Choices::translate(const TreeNode &node) {
  const int64_t feature = node.feature, yes = node.yes, no = node.no;
  const bool missing = node.takesMissing;
  const double value = round(node.value);
  // A choice of one node for all numbers, and of `yes` for NaN if that is
  // taken.
  auto always = [&](bool outcome) -> Choice {
    return {feature, kInfinity, outcome == missing, outcome ? yes : no,
            outcome ? no : yes};
  };
  switch (node.mode) {
  case TreeMode::leq:
    return {feature, value, missing, yes, no};
  case TreeMode::gt:
    if (std::isnan(value))
      return always(false);
    return {feature, value, !missing, no, yes};
  case TreeMode::lt:
    if (std::isnan(value) || value == -kInfinity)
      return always(false);
    return {feature, getBelow(value), missing, yes, no};
  case TreeMode::gte:
    if (std::isnan(value))
      return always(false);
    if (value == -kInfinity)
      return always(true);
    return {feature, getBelow(value), !missing, no, yes};
  case TreeMode::eq:
    return makeEqual(node, value, yes, no, missing);
  case TreeMode::neq:
    if (std::isnan(value))
      return {feature, kInfinity, true, yes, no};
    // NaN differs from all numbers.
    return makeEqual(node, value, no, yes, /*takesMissing=*/false);
  default:
    break;
  }
  // A chain of choices, one for each member; the first one handles NaN.
  int64_t next = no;
  for (size_t i = node.members.size(); i-- > 1;)
    next = append(makeEqual(node, round(node.members[i]), yes, next, false));
  if (node.members.empty())
    return always(false);
  return makeEqual(node, round(node.members[0]), yes, next, missing);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

namespace {
class Layout {
public:
  Layout(const Trees &trees, double absent, bool isDouble)
      : trees(trees), choices(trees, isDouble), places(choices.size(), -1),
        absent(absent) {
    arrays.isDense = countRows(trees) > 0;
  }
  TreeArrays run() {
    for (int64_t root : trees.roots) {
      if (places[root] < 0)
        place(root);
      arrays.roots.push_back(places[root]);
    }
    if (!arrays.isDense)
      arrays.scores = {0};
    return std::move(arrays);
  }

private:
  void place(int64_t root);
  void add(int64_t test, double value) {
    arrays.tests.push_back(test);
    arrays.values.push_back(value);
    arrays.jumps.push_back(0);
  }
  void addLeaf(const TreeNode &leaf);

  const Trees &trees;
  Choices choices;
  std::vector<int64_t> places; ///< position of each choice, or -1
  double absent;
  TreeArrays arrays;
};
} // namespace

void Layout::addLeaf(const TreeNode &leaf) {
  if (!arrays.isDense) {
    bool isEmpty = leaf.scores.empty();
    add(~(isEmpty ? 0 : leaf.scores[0].target),
        isEmpty ? absent : leaf.scores[0].weight);
    return;
  }
  size_t start = arrays.scores.size();
  add(~int64_t(start / trees.targets), 0);
  arrays.scores.resize(start + trees.targets, absent);
  for (const TreeNode::Score &score : leaf.scores) {
    double &sum = arrays.scores[start + score.target];
    // A leaf may have two scores for a target.
    sum = absent == 0  ? sum + score.weight
          : absent > 0 ? std::min(sum, score.weight)
                       : std::max(sum, score.weight);
  }
}

/// Lays out a tree. The first node of each choice follows directly behind it.
/// If that node already has a position, a node that always jumps to it is
/// inserted.
void Layout::place(int64_t root) {
  struct Item {
    int64_t choice;
    int64_t from; ///< position of the node that jumps here, or -1
  };
  std::vector<Item> items = {{root, -1}};
  while (!items.empty()) {
    auto [at, from] = items.back();
    items.pop_back();
    auto here = static_cast<int64_t>(arrays.tests.size());
    bool isPlaced = places[at] >= 0;
    if (from >= 0)
      arrays.jumps[from] = (isPlaced ? places[at] : here) - from;
    if (isPlaced && from < 0) {
      // No number is "not larger" than NaN.
      add(0, std::numeric_limits<double>::quiet_NaN());
      arrays.jumps.back() = places[at] - here;
    }
    if (isPlaced)
      continue;
    places[at] = here;
    const Choice &choice = choices[at];
    if (choice.feature < 0) {
      addLeaf(trees.nodes[at]);
      continue;
    }
    add(2 * choice.feature + choice.takesMissing, choice.value);
    items.push_back({choice.second, here});
    items.push_back({choice.first, -1});
  }
}

bool TreeArrays::isShort() const {
  auto fits = [](int64_t value) {
    return value == static_cast<int16_t>(value);
  };
  return llvm::all_of(tests, fits) && llvm::all_of(jumps, fits);
}

TreeArrays nnc::onnx::layOut(const Trees &trees, double absent, bool isDouble) {
  return Layout(trees, absent, isDouble).run();
}
