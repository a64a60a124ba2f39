//===- Branches.cpp - Branches of TensorFlow 1 as If ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Frames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace nnc::tensorflow;

namespace {
/// A Merge with the branches that it joins.
struct Join {
  const pb::NodeDef *merge;
  StringRef results[2];  ///< references to the results of the two branches
  std::string condition; ///< reference to the condition of its Switch nodes
};

/// The nodes of a branch, found from its results backwards.
struct Region {
  /// The nodes that depend on a Switch, and constants.
  llvm::SetVector<const pb::NodeDef *> nodes;
  /// References of these nodes to results of Switch nodes.
  llvm::SetVector<StringRef> switched;
  /// References of these nodes to what does not depend on a Switch.
  llvm::SetVector<StringRef> captured;
};

/// A reducer of the branches of one graph.
class BranchReducer {
public:
  BranchReducer(Graph &graph, const MadeParts &parts)
      : graph(graph), parts(parts) {}

  void run();

private:
  const pb::NodeDef *find(StringRef reference) const {
    return graph.nodes.lookup(parseReference(reference).node);
  }
  std::string skipIdentities(StringRef reference) const;
  bool collect(StringRef result, Region &region) const;
  std::optional<Join> recognize(const pb::NodeDef &merge) const;
  void reduce(ArrayRef<Join> joins);

  Graph &graph;
  const MadeParts &parts;
};
} // namespace

static bool isSwitch(const pb::NodeDef &node) {
  return node.op() == "Switch" || node.op() == "RefSwitch";
}
static bool isMerge(const pb::NodeDef &node) {
  return node.op() == "Merge" || node.op() == "RefMerge";
}

/// Returns the reference of which `reference` is an Identity, in one form.
std::string BranchReducer::skipIdentities(StringRef reference) const {
  for (int steps = 0; steps < 64; ++steps) {
    const pb::NodeDef *node = find(reference);
    if (!node || node->op() != "Identity" || node->input().empty())
      break;
    reference = node->input(0);
  }
  reference.consume_back(":0");
  return reference.str();
}

/// Collects what computes `result` from Switch nodes on. Returns false if
/// another Merge is among it, which has to be reduced before.
bool BranchReducer::collect(StringRef result, Region &region) const {
  // A walk over all that `result` depends on, up to Switch nodes. Nodes become
  // part of the region if a Switch is before them.
  enum State { open, outside, inside };
  llvm::DenseMap<const pb::NodeDef *, State> states;
  struct Step {
    const pb::NodeDef *node;
    int next;
  };
  std::vector<Step> path;
  std::vector<const pb::NodeDef *> found;
  auto enter = [&](StringRef reference) {
    const pb::NodeDef *node = find(reference);
    if (!node || isSwitch(*node) || states.count(node))
      return;
    states[node] = open;
    path.push_back({node, 0});
  };
  enter(result);
  while (!path.empty()) {
    Step &step = path.back();
    const pb::NodeDef *node = step.node;
    if (isMerge(*node))
      return false;
    if (step.next < node->input_size()) {
      enter(node->input(step.next++));
      continue;
    }
    State state = node->op() == "Const" ? inside : outside;
    for (const std::string &input : node->input()) {
      const pb::NodeDef *before = find(input);
      if (before && (isSwitch(*before) || (before->op() != "Const" &&
                                           states.lookup(before) == inside)))
        state = inside;
    }
    states[node] = state;
    if (state == inside)
      found.push_back(node);
    path.pop_back();
  }
  auto note = [&](StringRef reference) {
    const pb::NodeDef *before = find(reference);
    bool isControl = reference.starts_with("^");
    if (before && isSwitch(*before))
      region.switched.insert(reference);
    else if (!isControl && (!before || states.lookup(before) != inside))
      region.captured.insert(reference);
  };
  note(result);
  for (const pb::NodeDef *node : found) {
    region.nodes.insert(node);
    for (const std::string &input : node->input())
      note(input);
  }
  return true;
}

std::optional<Join> BranchReducer::recognize(const pb::NodeDef &merge) const {
  if (merge.input_size() < 2)
    return std::nullopt;
  Join join{&merge, {}, ""};
  for (int i = 0; i < 2; ++i) {
    Region region;
    if (!collect(merge.input(i), region))
      return std::nullopt;
    int64_t side = -1;
    for (StringRef reference : region.switched) {
      const pb::NodeDef *node = find(reference);
      if (node->input_size() < 2)
        return std::nullopt;
      std::string condition = skipIdentities(node->input(1));
      if (!join.condition.empty() && condition != join.condition)
        return std::nullopt;
      join.condition = condition;
      if (reference.starts_with("^"))
        continue;
      int64_t index = parseReference(reference).index;
      if (side >= 0 && side != index)
        return std::nullopt;
      side = index;
    }
    if (side != 0 && side != 1)
      return std::nullopt;
    if (!join.results[side].empty())
      return std::nullopt;
    join.results[side] = merge.input(i);
  }
  return join;
}

/// Replaces the Merge nodes of branches with one condition by an If.
void BranchReducer::reduce(ArrayRef<Join> joins) {
  pb::NodeDef &made = parts.addNode();
  made.set_name(joins[0].merge->name() + "//If");
  made.set_op("If");
  made.add_input(joins[0].condition);
  static constexpr StringLiteral kNames[] = {"else", "then"};
  Graph *branches[2];
  llvm::SetVector<const pb::NodeDef *> switches;
  llvm::SetVector<StringRef> captured;
  for (int side = 0; side < 2; ++side) {
    Region region;
    for (const Join &join : joins)
      collect(join.results[side], region);
    branches[side] =
        &parts.addFunction((joins[0].merge->name() + "_" + kNames[side]).str());
    (*made.mutable_attr())[(kNames[side] + "_branch").str()]
        .mutable_func()
        ->set_name(branches[side]->name);
    for (const pb::NodeDef *node : region.nodes)
      branches[side]->nodes[node->name()] = node;
    for (const Join &join : joins)
      branches[side]->results.push_back(join.results[side].str());
    for (StringRef reference : region.switched)
      if (!reference.starts_with("^"))
        switches.insert(find(reference));
    captured.insert(region.captured.begin(), region.captured.end());
  }
  for (const pb::NodeDef *node : switches) {
    made.add_input(node->input(0));
    for (int side = 0; side < 2; ++side)
      branches[side]->arguments.push_back(node->name() + ":" +
                                          std::to_string(side));
  }
  for (StringRef reference : captured) {
    made.add_input(reference.str());
    for (Graph *branch : branches)
      branch->arguments.push_back(reference.str());
  }
  graph.nodes[made.name()] = &made;
  for (auto [i, join] : llvm::enumerate(joins)) {
    pb::NodeDef &result = parts.addNode();
    result.set_name(join.merge->name());
    result.set_op("Identity");
    result.add_input(made.name() + ":" + std::to_string(i));
    graph.nodes[result.name()] = &result;
  }
}

void BranchReducer::run() {
  std::vector<const pb::NodeDef *> merges;
  for (const auto &entry : graph.nodes)
    if (isMerge(*entry.second))
      merges.push_back(entry.second);
  llvm::sort(merges, [](const pb::NodeDef *a, const pb::NodeDef *b) {
    return a->name() < b->name();
  });
  // Branches in branches are reduced first.
  bool hasChanged = true;
  while (hasChanged && !merges.empty()) {
    hasChanged = false;
    // The results of one conditional are beside each other in one name scope.
    std::map<std::pair<std::string, std::string>, std::vector<Join>> groups;
    std::vector<const pb::NodeDef *> others;
    for (const pb::NodeDef *merge : merges) {
      if (auto join = recognize(*merge)) {
        std::string scope = StringRef(merge->name()).rsplit('/').first.str();
        groups[{scope, join->condition}].push_back(*join);
      } else {
        others.push_back(merge);
      }
    }
    for (const auto &entry : groups) {
      reduce(entry.second);
      hasChanged = true;
    }
    merges = std::move(others);
  }
}

void nnc::tensorflow::reduceBranches(Graph &graph, const MadeParts &parts) {
  BranchReducer(graph, parts).run();
}
