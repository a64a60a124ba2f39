//===- Graph.cpp - The nodes of a graph or function -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Graph.h"

#include "frontends/tensorflow/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::tensorflow;

Reference nnc::tensorflow::parseReference(StringRef text) {
  Reference reference;
  reference.isControl = text.consume_front("^");
  auto [node, rest] = text.split(':');
  reference.node = node;
  if (rest.contains(':'))
    std::tie(reference.result, rest) = rest.split(':');
  if (!rest.empty() && rest.getAsInteger(10, reference.index))
    reference.index = -1;
  return reference;
}

StringRef nnc::tensorflow::getFunction(const pb::NodeDef &node,
                                       StringRef name) {
  auto found = node.attr().find(name.str());
  return found != node.attr().end() && found->second.has_func()
             ? StringRef(found->second.func().name())
             : StringRef();
}

Graphs::Graphs(const LoadedModel &model, Problems &problems) {
  auto addNodes = [&](const auto &nodes, Graph &graph) {
    for (const pb::NodeDef &node : nodes)
      if (!graph.nodes.try_emplace(node.name(), &node).second)
        problems.report(ImportStatus::broken, problems.getLoc(node.name()))
            << "is the name of two nodes"
            << (graph.name.empty() ? "" : " of the function " + graph.name);
  };
  addNodes(model.graph.node(), main);
  for (const pb::FunctionDef &function : model.graph.library().function()) {
    const pb::OpDef &signature = function.signature();
    auto [entry, isNew] = functions.try_emplace(signature.name());
    Graph &graph = entry->second;
    if (!isNew) {
      problems.report(ImportStatus::broken)
          << "has two functions " << signature.name();
      continue;
    }
    graph.name = signature.name();
    addNodes(function.node_def(), graph);
    for (const auto &argument : signature.input_arg())
      graph.arguments.push_back(argument.name());
    for (const auto &result : signature.output_arg()) {
      auto found = function.ret().find(result.name());
      graph.results.push_back(found == function.ret().end() ? ""
                                                            : found->second);
    }
    for (const auto &[name, node] : function.control_ret())
      graph.effects.push_back(node);
    llvm::sort(graph.effects);
  }
}

const Graph *Graphs::find(StringRef name) const {
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

namespace {
/// A depth-first search over the predecessors of nodes, which keeps its path in
/// memory of its own: graphs may be deep.
class Sorter {
public:
  Sorter(const Graph &graph, Problems &problems)
      : graph(graph), problems(problems) {}

  bool visit(StringRef name);
  std::vector<const pb::NodeDef *> sorted;

private:
  enum class State { open, done };
  struct Step {
    const pb::NodeDef *node;
    int next;
  };
  void enter(StringRef name);

  const Graph &graph;
  Problems &problems;
  llvm::DenseMap<const pb::NodeDef *, State> states;
  std::vector<Step> path;
};
} // namespace

void Sorter::enter(StringRef name) {
  auto found = graph.nodes.find(name);
  // A missing node is reported where its result is read.
  if (found != graph.nodes.end() &&
      states.try_emplace(found->second, State::open).second)
    path.push_back({found->second, 0});
}

bool Sorter::visit(StringRef name) {
  enter(name);
  while (!path.empty()) {
    Step &step = path.back();
    const pb::NodeDef *node = step.node;
    if (step.next == node->input_size()) {
      states[node] = State::done;
      sorted.push_back(node);
      path.pop_back();
      continue;
    }
    StringRef before = parseReference(node->input(step.next++)).node;
    auto found = graph.nodes.find(before);
    if (found == graph.nodes.end())
      continue;
    auto state = states.find(found->second);
    if (state != states.end() && state->second == State::open) {
      problems.report(ImportStatus::broken, problems.getLoc(node->name()),
                      node->op())
          << node->op() << " is part of a cycle of nodes with " << before;
      return false;
    }
    enter(before);
  }
  return true;
}

static bool acts(const pb::NodeDef &node) {
  const OpInfo *op = findOp(node.op());
  return op && op->kind == OpKind::acting;
}

std::optional<std::vector<const pb::NodeDef *>>
nnc::tensorflow::sortNodes(const Graph &graph, ArrayRef<std::string> results,
                           Problems &problems) {
  Sorter sorter(graph, problems);
  for (const auto &list : {results, ArrayRef<std::string>(graph.effects)})
    for (const std::string &result : list)
      if (!sorter.visit(parseReference(result).node))
        return std::nullopt;
  // Nodes that only have to run before, and act on nothing, are left out, such
  // as assertions and what they compute.
  llvm::StringSet<> needed;
  for (const std::string &result : results)
    needed.insert(parseReference(result).node);
  std::vector<const pb::NodeDef *> kept;
  for (const pb::NodeDef *node : llvm::reverse(sorter.sorted)) {
    if (!needed.contains(node->name()) && !acts(*node))
      continue;
    kept.push_back(node);
    for (const std::string &input : node->input())
      if (Reference reference = parseReference(input); !reference.isControl)
        needed.insert(reference.node);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

//===----------------------------------------------------------------------===//
// Assigned variables
//===----------------------------------------------------------------------===//

namespace {
/// A search for assignments through calls of functions.
class AssignmentFinder {
public:
  AssignmentFinder(const Graphs &graphs, Problems &problems)
      : graphs(graphs), problems(problems) {}

  using Variables = llvm::StringMap<std::string>;

  /// Searches a graph, in which the arguments stand for `variables`.
  void search(const Graph &graph, ArrayRef<std::string> results,
              Variables variables, int64_t depth);
  llvm::StringMap<bool> assigned;

private:
  const Graphs &graphs;
  Problems &problems;
  int64_t visits = 0;
};
} // namespace

void AssignmentFinder::search(const Graph &graph, ArrayRef<std::string> results,
                              Variables variables, int64_t depth) {
  const Limits &limits = problems.getLimits();
  auto sorted = sortNodes(graph, results, problems);
  // The import reports what is too deep or too large.
  if (!sorted || depth > limits.depth ||
      (visits += int64_t(sorted->size())) > limits.nodes)
    return;
  for (const pb::NodeDef *node : *sorted) {
    auto find = [&](int i) {
      auto found = i < node->input_size()
                       ? variables.find(parseReference(node->input(i)).node)
                       : variables.end();
      return found == variables.end() ? std::string() : found->second;
    };
    StringRef op = node->op();
    if (op == "VarHandleOp")
      variables[node->name()] = node->name();
    else if (op == "Identity" && !find(0).empty())
      variables[node->name()] = find(0);
    else if (op.starts_with("Assign") && !find(0).empty())
      assigned[find(0)] = true;
    for (StringRef name : {"f", "then_branch", "else_branch", "body", "cond"}) {
      const Graph *callee = graphs.find(getFunction(*node, name));
      if (!callee)
        continue;
      int first = name.ends_with("_branch") ? 1 : 0;
      Variables given;
      for (auto [i, argument] : llvm::enumerate(callee->arguments))
        if (std::string variable = find(int(i) + first); !variable.empty())
          given[argument] = variable;
      if (!given.empty())
        search(*callee, callee->results, std::move(given), depth + 1);
    }
  }
}

llvm::StringMap<bool> nnc::tensorflow::findAssigned(
    const Graphs &graphs, ArrayRef<std::string> results, Problems &problems) {
  AssignmentFinder finder(graphs, problems);
  finder.search(graphs.getMain(), results, {}, 0);
  return std::move(finder.assigned);
}
