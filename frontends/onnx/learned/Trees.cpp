//===- Trees.cpp - TreeEnsemble, its classifier and its regressor ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/TensorData.h"
#include "frontends/onnx/learned/Learned.h"
#include "frontends/onnx/learned/TreeLayout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns a list of numbers: the attribute `name`, or the tensor
/// `name`_as_tensor, which later versions have for doubles.
static std::vector<double> readNumbers(Node &node, StringRef name) {
  std::string tensor = (name + "_as_tensor").str();
  std::vector<double> numbers;
  if (!node.hasAttribute(tensor)) {
    llvm::append_range(numbers, node.getReals(name));
    return numbers;
  }
  ElementsAttr elements = node.getElements(tensor);
  auto data = elements ? TensorData::get(elements) : std::nullopt;
  for (int64_t i = 0; data && i < data->getNumElements(); ++i)
    numbers.push_back(data->getReal(i));
  return numbers;
}

/// Returns the elements of a tensor attribute of TreeEnsemble, or an empty list
/// if the node does not have the attribute.
static std::vector<double> readTensor(Node &node, StringRef name) {
  std::vector<double> numbers;
  if (!node.hasAttribute(name))
    return numbers;
  ElementsAttr elements = node.getElements(name);
  auto data = elements ? TensorData::get(elements) : std::nullopt;
  for (int64_t i = 0; data && i < data->getNumElements(); ++i)
    numbers.push_back(data->getReal(i));
  return numbers;
}

static SmallVector<int64_t> readList(Node &node, StringRef name) {
  return node.getInts(name).value_or(SmallVector<int64_t>());
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Reads the trees of a classifier or regressor, whose nodes are identified by
/// the number of a tree and of a node in it. `prefix` is the prefix of the
/// names of the attributes of scores, "class" or "target". Returns nullopt
/// after an error if the lists of the attributes do not fit each other.
static std::optional<Trees> readTrees(Node &node, StringRef prefix) {
  SmallVector<int64_t> treeIds = readList(node, "nodes_treeids"),
                       nodeIds = readList(node, "nodes_nodeids"),
                       features = readList(node, "nodes_featureids"),
                       yes = readList(node, "nodes_truenodeids"),
                       no = readList(node, "nodes_falsenodeids"),
                       missing =
                           readList(node, "nodes_missing_value_tracks_true");
  SmallVector<std::string> modes = node.getStrings("nodes_modes");
  std::vector<double> values = readNumbers(node, "nodes_values");
  size_t count = treeIds.size();
  auto fail = [&](const Twine &why) {
    node.broken(why);
    return std::nullopt;
  };
  for (size_t size : {nodeIds.size(), features.size(), yes.size(), no.size(),
                      modes.size(), values.size()})
    if (size != count)
      return fail("has " + Twine(count) + " nodes, and a list of " +
                  Twine(size) + " attributes of these");
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < count; ++i)
    if (!places.try_emplace({treeIds[i], nodeIds[i]}, i).second)
      return fail("has two nodes " + Twine(nodeIds[i]) + " in tree " +
                  Twine(treeIds[i]));
  auto find = [&](int64_t tree, int64_t id) {
    auto found = places.find({tree, id});
    return found == places.end() ? -1 : found->second;
  };
  Trees trees;
  trees.nodes.resize(count);
  for (size_t i = 0; i < count; ++i) {
    TreeNode &own = trees.nodes[i];
    auto mode = llvm::StringSwitch<std::optional<TreeMode>>(modes[i])
                    .Case("BRANCH_LEQ", TreeMode::leq)
                    .Case("BRANCH_LT", TreeMode::lt)
                    .Case("BRANCH_GTE", TreeMode::gte)
                    .Case("BRANCH_GT", TreeMode::gt)
                    .Case("BRANCH_EQ", TreeMode::eq)
                    .Case("BRANCH_NEQ", TreeMode::neq)
                    .Case("LEAF", TreeMode::leaf)
                    .Default(std::nullopt);
    if (!mode)
      return fail("has a node of mode '" + modes[i] + "'");
    own.mode = *mode;
    own.feature = features[i];
    own.value = values[i];
    own.takesMissing = i < missing.size() && missing[i] == 1;
    own.yes = find(treeIds[i], yes[i]);
    own.no = find(treeIds[i], no[i]);
    // A tree starts with the first of its nodes.
    if (i == 0 || treeIds[i] != treeIds[i - 1])
      trees.roots.push_back(i);
  }
  SmallVector<int64_t> ids = readList(node, (prefix + "_ids").str()),
                       inTrees = readList(node, (prefix + "_treeids").str()),
                       atNodes = readList(node, (prefix + "_nodeids").str());
  std::vector<double> weights = readNumbers(node, (prefix + "_weights").str());
  if (inTrees.size() != ids.size() || atNodes.size() != ids.size() ||
      weights.size() != ids.size())
    return fail("has lists of scores that differ in length");
  for (size_t i = 0; i < ids.size(); ++i) {
    int64_t place = find(inTrees[i], atNodes[i]);
    if (place < 0)
      return fail("has a score for node " + Twine(atNodes[i]) + " of tree " +
                  Twine(inTrees[i]) + ", which it lacks");
    // Some exporters give scores to nodes that are no leaves.
    if (trees.nodes[place].mode == TreeMode::leaf)
      trees.nodes[place].scores.push_back({ids[i], weights[i]});
  }
  return trees;
}

/// Reads the trees of TreeEnsemble, whose leaves have a list of their own: they
/// are numbered behind all nodes.
static std::optional<Trees> readFlatTrees(Node &node) {
  SmallVector<int64_t> features = readList(node, "nodes_featureids"),
                       yes = readList(node, "nodes_truenodeids"),
                       no = readList(node, "nodes_falsenodeids"),
                       isYesLeaf = readList(node, "nodes_trueleafs"),
                       isNoLeaf = readList(node, "nodes_falseleafs"),
                       missing =
                           readList(node, "nodes_missing_value_tracks_true"),
                       targets = readList(node, "leaf_targetids");
  std::vector<double> modes = readTensor(node, "nodes_modes"),
                      splits = readTensor(node, "nodes_splits"),
                      weights = readTensor(node, "leaf_weights"),
                      members = readTensor(node, "membership_values");
  size_t count = features.size();
  auto fail = [&](const Twine &why) {
    node.broken(why);
    return std::nullopt;
  };
  for (size_t size : {yes.size(), no.size(), isYesLeaf.size(), isNoLeaf.size(),
                      modes.size(), splits.size()})
    if (size != count)
      return fail("has " + Twine(count) + " nodes, and a list of " +
                  Twine(size) + " attributes of these");
  if (targets.size() != weights.size())
    return fail("has " + Twine(targets.size()) + " targets of leaves and " +
                Twine(weights.size()) + " weights");
  auto leaves = static_cast<int64_t>(targets.size());
  auto number = [&](int64_t child, int64_t isLeaf) {
    return isLeaf && child >= 0 && child < leaves ? int64_t(count) + child
           : isLeaf                               ? -1
                                                  : child;
  };
  Trees trees;
  trees.targets = node.getInt("n_targets", 1);
  size_t member = 0;
  for (size_t i = 0; i < count; ++i) {
    TreeNode own;
    if (!(modes[i] >= 0 && modes[i] <= int(TreeMode::member)))
      return fail("has a node of mode " + toString(modes[i]));
    own.mode = static_cast<TreeMode>(modes[i]);
    own.feature = features[i];
    own.value = splits[i];
    own.takesMissing = i < missing.size() && missing[i] != 0;
    own.yes = number(yes[i], isYesLeaf[i]);
    own.no = number(no[i], isNoLeaf[i]);
    // The sets of all nodes are one list, each ends with NaN.
    if (own.mode == TreeMode::member) {
      for (; member < members.size() && !std::isnan(members[member]); ++member)
        own.members.push_back(members[member]);
      ++member;
    }
    trees.nodes.push_back(std::move(own));
  }
  for (int64_t i = 0; i < leaves; ++i) {
    TreeNode leaf;
    leaf.scores.push_back({targets[i], weights[i]});
    trees.nodes.push_back(std::move(leaf));
  }
  for (int64_t root : readList(node, "tree_roots")) {
    bool isLeaf = root >= 0 && root < int64_t(count) && isYesLeaf[root] &&
                  isNoLeaf[root] && yes[root] == no[root];
    trees.roots.push_back(isLeaf ? number(yes[root], 1) : root);
  }
  return trees;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Returns the reduction of the scores of all trees, with a column for each
/// target.
static Value buildTrees(Node &node, const Trees &trees,
                        nn::TreeReduction reduction) {
  Builder &builder = node.getBuilder();
  Type element = getRealType(node);
  Value x = getRows(node, element);
  if (!x)
    return {};
  std::string problem = findProblem(trees, getShape(x)[1]);
  if (!problem.empty())
    return node.broken(problem);
  if (!node.checkSize(
          RankedTensorType::get({countRows(trees), trees.targets}, element)))
    return {};
  double absent = reduction == nn::TreeReduction::sum   ? 0
                  : reduction == nn::TreeReduction::min ? HUGE_VAL
                                                        : -HUGE_VAL;
  TreeArrays arrays = layOut(trees, absent, element.isF64());
  auto makeList = [&](ArrayRef<int64_t> list, unsigned bits) {
    std::vector<double> values(list.begin(), list.end());
    return makeConstant(node, values, builder.getIntegerType(bits),
                        int64_t(values.size()));
  };
  unsigned bits = arrays.isShort() ? 16 : 32;
  auto count = static_cast<int64_t>(arrays.scores.size());
  SmallVector<int64_t> shape = {count};
  if (arrays.isDense)
    shape = {count / trees.targets, trees.targets};
  return node.create<nn::TreeEnsembleOp>(
      reduction, x,
      makeConstant(node, arrays.values, element, int64_t(arrays.values.size())),
      makeList(arrays.tests, bits), makeList(arrays.jumps, bits),
      makeList(arrays.roots, 32),
      makeConstant(node, arrays.scores, element, shape), trees.targets,
      arrays.isDense);
}

/// Returns scores + base, one for each column or none.
static Value addBase(Node &node, Value scores, ArrayRef<double> base) {
  if (base.empty() || !scores || int64_t(base.size()) != getShape(scores)[1])
    return scores;
  return node.createElementwise(
      "add", {scores, makeConstant(node, base, getElement(scores),
                                   int64_t(base.size()))});
}

/// Returns the scores of all trees, combined by an aggregate function.
static Value aggregate(Node &node, const Trees &trees, StringRef function) {
  if (function == "MIN")
    return buildTrees(node, trees, nn::TreeReduction::min);
  if (function == "MAX")
    return buildTrees(node, trees, nn::TreeReduction::max);
  if (function != "SUM" && function != "AVERAGE")
    return node.broken("has the aggregate function '" + function + "'");
  Value sums = buildTrees(node, trees, nn::TreeReduction::sum);
  if (function == "SUM" || !sums)
    return sums;
  return node.createElementwise(
      "div", {sums, node.splat(double(trees.roots.size()), getElement(sums))});
}

Value convertTreeEnsembleRegressor(Node &node) {
  auto trees = readTrees(node, "target");
  if (!trees)
    return {};
  trees->targets = node.getInt("n_targets", 1);
  Value scores = aggregate(node, *trees, node.getString("aggregate_function"));
  scores = addBase(node, scores, readNumbers(node, "base_values"));
  scores = node.castTo(scores, node.getBuilder().getF32Type());
  return transformScores(node, scores, node.getString("post_transform"));
}

Value convertTreeEnsemble(Node &node) {
  static constexpr StringLiteral functions[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  static constexpr StringLiteral transforms[] = {"NONE", "SOFTMAX", "LOGISTIC",
                                                 "SOFTMAX_ZERO", "PROBIT"};
  auto trees = readFlatTrees(node);
  int64_t function = node.getInt("aggregate_function", 1),
          transform = node.getInt("post_transform");
  if (!trees)
    return {};
  if (function < 0 || function > 3 || transform < 0 || transform > 4)
    return node.broken("has the aggregate_function " + Twine(function) +
                       " and the post_transform " + Twine(transform));
  return transformScores(node, aggregate(node, *trees, functions[function]),
                         transforms[transform]);
}

//===----------------------------------------------------------------------===//
// Classifiers
//===----------------------------------------------------------------------===//

/// Returns 1 where a score is larger than `limit`, else 0.
static Value isAbove(Node &node, Value scores, double limit) {
  if (!scores)
    return {};
  Value isLarge = node.createElementwise(
      "greater", {scores, node.splat(limit, getElement(scores))});
  return node.reshape(node.castTo(isLarge, node.getBuilder().getI64Type()),
                      getShape(scores).take_front(1));
}

static Value getColumn(Node &node, Value scores, int64_t column) {
  return node.create<nn::GatherOp>(scores, node.constant({column}), 1);
}

namespace {
/// Properties of the scores of a binary classifier.
struct TwoClasses {
  /// Whether the first and the second class have scores.
  bool hasFirst = false, hasSecond = false;
  bool isPositive = true; ///< no score is negative
};
} // namespace

/// Returns the scores of two classes and sets the first result. onnxruntime
/// has rules of its own for these: if leaves have scores for one class alone,
/// that is the positive one, and the other's score follows from it.
static Value classifyTwo(Node &node, Value scores, const TwoClasses &two,
                         ArrayRef<double> base, const Classes &classes) {
  StringRef transform = node.getString("post_transform");
  bool isSingle = two.hasFirst != two.hasSecond;
  Type type = getElement(scores);
  Value first = getColumn(node, scores, 0), second = getColumn(node, scores, 1);
  auto add = [&](Value a, double b) {
    return node.createElementwise("add", {a, node.splat(b, type)});
  };
  bool hasTwo = two.hasSecond;
  if (base.size() == 2 && two.hasSecond) {
    second = add(first, base[1]);
    first = node.createElementwise("neg", second);
  } else if (base.size() == 2) {
    second = add(second, base[1]);
    first = add(first, base[0]);
    hasTwo = true;
  } else if (base.size() == 1) {
    first = add(first, base[0]);
  }
  Value deciding = two.hasSecond ? second : first;
  double limit = isSingle && two.isPositive ? 0.5 : 0;
  Value index = isAbove(node, deciding, limit);
  // Without one class of its own, the label is 0 or 1 whatever the classes are.
  bool isNumbered = isSingle || !classes.names.empty();
  node.setResult(0, isNumbered ? makeLabels(node, index, classes) : index);
  if (hasTwo)
    return transformScores(node, joinColumns(node, first, second), transform);
  SecondClass mode = isSingle && two.isPositive ? SecondClass::complement
                     : isSingle || base.empty() ? SecondClass::opposite
                                                : SecondClass::none;
  return transformScores(node, first, transform, mode);
}

/// Returns for each target whether a tree has a score for it in all leaves, so
/// that every row gets a score.
static std::vector<bool> findScored(const Trees &trees) {
  std::vector<bool> isScored(trees.targets);
  for (int64_t root : trees.roots) {
    std::vector<int64_t> counts(trees.targets);
    llvm::SetVector<int64_t> reached;
    reached.insert(root);
    int64_t leaves = 0;
    for (size_t i = 0; i < reached.size(); ++i) {
      const TreeNode &own = trees.nodes[reached[i]];
      if (own.mode != TreeMode::leaf) {
        reached.insert(own.yes);
        reached.insert(own.no);
        continue;
      }
      ++leaves;
      llvm::SmallDenseSet<int64_t> targets;
      for (const TreeNode::Score &score : own.scores)
        if (targets.insert(score.target).second)
          ++counts[score.target];
    }
    for (int64_t target = 0; target < trees.targets; ++target)
      if (counts[target] == leaves)
        isScored[target] = true;
  }
  return isScored;
}

/// Returns the scores, with a value below all scores for a class that none of
/// the reached leaves has a score for, so that this class does not win.
static Value dropUnscored(Node &node, Trees trees, Value scores) {
  if (!llvm::is_contained(findScored(trees), false))
    return scores;
  for (TreeNode &own : trees.nodes)
    for (TreeNode::Score &score : own.scores)
      score.weight = 1;
  Value counts = buildTrees(node, trees, nn::TreeReduction::sum);
  Type type = getElement(scores);
  Value isScored =
      node.createElementwise("greater", {counts, node.splat(0, type)});
  return node.createElementwise(
      "select", {isScored, scores, node.splat(-HUGE_VAL, type)});
}

Value convertTreeEnsembleClassifier(Node &node) {
  auto trees = readTrees(node, "class");
  if (!trees)
    return {};
  Classes classes =
      readClasses(node, "classlabels_int64s", "classlabels_strings");
  if (classes.size() == 0)
    return node.broken("has no classlabels_int64s and no classlabels_strings");
  trees->targets = classes.size();
  Value scores = buildTrees(node, *trees, nn::TreeReduction::sum);
  if (!scores)
    return {};
  std::vector<double> base = readNumbers(node, "base_values");
  TwoClasses two;
  for (const TreeNode &own : trees->nodes)
    for (const TreeNode::Score &score : own.scores) {
      two.hasFirst |= score.target == 0;
      two.hasSecond |= score.target == 1;
      two.isPositive &= score.weight >= 0;
    }
  Type f32 = node.getBuilder().getF32Type();
  if (classes.size() == 2) {
    Value both = classifyTwo(node, scores, two, base, classes);
    node.setResult(1, node.castTo(both, f32));
    return node.getResults()[0];
  }
  scores = addBase(node, scores, base);
  StringRef transform = node.getString("post_transform");
  node.setResult(1, node.castTo(transformScores(node, scores, transform), f32));
  if (classes.size() == 1)
    return makeLabels(node, isAbove(node, scores, HUGE_VAL), classes);
  if (base.empty())
    scores = dropUnscored(node, *trees, scores);
  return makeLabels(node, findLargest(node, scores), classes);
}

} // namespace nnc::onnx
