//===- Graph.cpp - The nodes of a graph or function -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Graph.h"

#include "frontends/tensorflow/Ops.h"
#include "frontends/tensorflow/graph/Dilations.h"

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
  main.effects = model.effects;
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
  reduceFlow(problems);
  MadeParts parts;
  parts.addNode = [&]() -> pb::NodeDef & { return made.emplace_back(); };
  std::vector<std::string> outputs;
  for (const Port &port : model.outputs)
    outputs.push_back(port.tensor);
  reduceDilations(main, outputs, parts);
  for (auto &entry : functions)
    reduceDilations(entry.second, entry.second.results, parts);
}

/// Returns true if a graph has loops or branches as of TensorFlow 1.
static bool hasFlow(const Graph &graph) {
  return llvm::any_of(graph.nodes, [](const auto &entry) {
    StringRef op = entry.second->op();
    return op == "Enter" || op == "RefEnter" || op == "Merge" ||
           op == "RefMerge";
  });
}

void Graphs::reduceFlow(Problems &problems) {
  std::vector<Graph *> open;
  if (hasFlow(main))
    open.push_back(&main);
  for (auto &entry : functions)
    if (hasFlow(entry.second))
      open.push_back(&entry.second);
  MadeParts parts;
  parts.addNode = [&]() -> pb::NodeDef & { return made.emplace_back(); };
  parts.addFunction = [&](StringRef name) -> Graph & {
    std::string unique = name.str();
    while (functions.count(unique))
      unique += "_";
    Graph &graph = functions[unique];
    graph.name = unique;
    open.push_back(&graph); // a loop or branch may hold others
    return graph;
  };
  for (size_t i = 0; i < open.size(); ++i) {
    reduceLoops(*open[i], parts, problems);
    reduceBranches(*open[i], parts);
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

/// Returns true for operators that change a variable, which is input 0. Those
/// that nnc lacks are among them, so that the import reports them where no node
/// reads their results.
static bool changesVariables(StringRef op) {
  for (StringRef begin : {"Apply", "Assign", "ResourceApply", "ResourceScatter",
                          "ResourceSparseApply", "SparseApply"})
    if (op.starts_with(begin))
      return true;
  for (StringRef other : {"CountUpTo", "ResourceCountUpTo",
                          "ResourceStridedSliceAssign", "StridedSliceAssign"})
    if (op == other)
      return true;
  return op.starts_with("Scatter") && op != "ScatterNd" &&
         op != "ScatterNdNonAliasingAdd";
}

static bool acts(const pb::NodeDef &node) {
  const OpInfo *op = findOp(node.op());
  return op ? op->kind == OpKind::acting : changesVariables(node.op());
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
    else if (acts(*node) && !find(0).empty() && changesVariables(op))
      assigned[find(0)] = true;
    auto visit = [&](StringRef function, int first) {
      const Graph *callee = graphs.find(function);
      if (!callee)
        return;
      Variables given;
      for (auto [i, argument] : llvm::enumerate(callee->arguments))
        if (std::string variable = find(int(i) + first); !variable.empty())
          given[parseReference(argument).node] = variable;
      if (!given.empty())
        search(*callee, callee->results, std::move(given), depth + 1);
    };
    for (StringRef name : {"f", "then_branch", "else_branch", "body", "cond"})
      visit(getFunction(*node, name), name.ends_with("_branch") ? 1 : 0);
    if (auto found = node->attr().find("branches"); found != node->attr().end())
      for (const pb::NameAttrList &function : found->second.list().func())
        visit(function.name(), 1);
  }
}

llvm::StringMap<bool> nnc::tensorflow::findAssigned(
    const Graphs &graphs, ArrayRef<std::string> results, Problems &problems) {
  AssignmentFinder finder(graphs, problems);
  finder.search(graphs.getMain(), results, {}, 0);
  return std::move(finder.assigned);
}
