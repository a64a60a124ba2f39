//===- Sort.cpp - Puts nodes in the order they run in ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Sort.h"

#include "frontends/onnx/file/Check.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <queue>

using namespace mlir;
using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

/// The largest number of node names that the error about a cycle lists.
static constexpr size_t kMaxListed = 8;

//===----------------------------------------------------------------------===//
// Operands of nodes
//===----------------------------------------------------------------------===//

/// Adds the names of the enclosing graphs that the subgraph reads.
static void
collectGraphUses(const GraphProto &graph,
                 llvm::function_ref<void(const std::string &)> use) {
  llvm::StringSet<> own;
  for (const auto &input : graph.input())
    own.insert(input.name());
  for (const auto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const NodeProto &node : graph.node())
    own.insert(node.output().begin(), node.output().end());
  auto useOuter = [&](const std::string &name) {
    if (!own.contains(name))
      use(name);
  };
  for (const NodeProto &node : graph.node())
    collectUses(node, useOuter);
  for (const auto &output : graph.output())
    useOuter(output.name());
}

void nnc::onnx::collectUses(const NodeProto &node,
                            llvm::function_ref<void(const std::string &)> use) {
  for (const std::string &name : node.input())
    use(name);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      collectGraphUses(attribute.g(), use);
    for (const GraphProto &graph : attribute.graphs())
      collectGraphUses(graph, use);
  }
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

namespace {
/// Sorts one list of nodes.
class Sorter {
public:
  /// `given` has the names that are defined before the first node runs.
  Sorter(Nodes &nodes, const llvm::StringSet<> &given, Problems &problems)
      : nodes(nodes), given(given), problems(problems) {}
  bool run();

private:
  void connect();
  void reportCycle(int start);
  void permute(ArrayRef<int> order);

  Nodes &nodes;
  const llvm::StringSet<> &given;
  Problems &problems;
  /// For each node: the nodes that compute its operands, and the nodes that
  /// read its results.
  std::vector<std::vector<int>> producers, readers;
};
} // namespace

void Sorter::connect() {
  llvm::StringMap<int> producerOf;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &name : nodes[i].output())
      // A name that is defined twice is reported elsewhere.
      if (!name.empty() && !given.contains(name))
        producerOf.try_emplace(name, i);
  producers.resize(nodes.size());
  readers.resize(nodes.size());
  for (int i = 0; i < nodes.size(); ++i)
    collectUses(nodes[i], [&](const std::string &name) {
      auto found = producerOf.find(name);
      if (found == producerOf.end())
        return;
      producers[i].push_back(found->second);
      readers[found->second].push_back(i);
    });
}

/// Reports a cycle. Each remaining node depends on another remaining node, so
/// that following these from `start` leads into a cycle.
void Sorter::reportCycle(int start) {
  std::vector<int> seenAt(nodes.size(), -1);
  std::vector<int> path;
  int at = start;
  while (seenAt[at] < 0) {
    seenAt[at] = path.size();
    path.push_back(at);
    at = *llvm::find_if(producers[at],
                        [&](int i) { return !readers[i].empty(); });
  }
  // The path went from readers to producers.
  std::vector<int> cycle(path.begin() + seenAt[at], path.end());
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), llvm::min_element(cycle), cycle.end());
  auto diagnostic = problems.report(
      ImportStatus::broken, problems.getLoc(getNodeName(nodes[cycle[0]])));
  diagnostic << nodes[cycle[0]].op_type() << ": the graph has a cycle: ";
  for (int i : ArrayRef(cycle).take_front(kMaxListed))
    diagnostic << "'" << getNodeName(nodes[i]) << "' -> ";
  if (cycle.size() > kMaxListed)
    diagnostic << "(" << cycle.size() - kMaxListed << " more nodes) -> ";
  diagnostic << "'" << getNodeName(nodes[cycle[0]])
             << "'; each of these nodes reads a result of the one before it";
}

/// Moves node order[i] to place i.
void Sorter::permute(ArrayRef<int> order) {
  std::vector<int> placeOf(order.size());
  for (auto [place, node] : llvm::enumerate(order))
    placeOf[node] = place;
  for (int i = 0; i < nodes.size(); ++i)
    while (placeOf[i] != i) {
      int place = placeOf[i];
      nodes.SwapElements(i, place);
      std::swap(placeOf[i], placeOf[place]);
    }
}

bool Sorter::run() {
  connect();
  bool isSorted = true;
  std::vector<size_t> waitsFor(nodes.size());
  // The nodes that may run next, the first one in the model's order on top.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    isSorted &= llvm::all_of(producers[i], [&](int p) { return p < i; });
    waitsFor[i] = producers[i].size();
    if (waitsFor[i] == 0)
      ready.push(i);
  }
  if (isSorted)
    return true;
  std::vector<int> order;
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int reader : readers[next])
      if (--waitsFor[reader] == 0)
        ready.push(reader);
    readers[next].clear(); // marks it as placed
  }
  if (order.size() < static_cast<size_t>(nodes.size())) {
    reportCycle(llvm::find_if(waitsFor, [](size_t n) { return n > 0; }) -
                waitsFor.begin());
    return false;
  }
  permute(order);
  return true;
}

static bool sortGraph(GraphProto &graph, Problems &problems);

static bool sortList(Nodes &nodes, const llvm::StringSet<> &given,
                     Problems &problems) {
  bool isSorted = true;
  for (NodeProto &node : nodes)
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        isSorted &= sortGraph(*attribute.mutable_g(), problems);
      for (GraphProto &graph : *attribute.mutable_graphs())
        isSorted &= sortGraph(graph, problems);
    }
  return Sorter(nodes, given, problems).run() && isSorted;
}

static bool sortGraph(GraphProto &graph, Problems &problems) {
  llvm::StringSet<> given;
  for (const auto &input : graph.input())
    given.insert(input.name());
  for (const auto &tensor : graph.initializer())
    given.insert(tensor.name());
  return sortList(*graph.mutable_node(), given, problems);
}

bool nnc::onnx::sortNodes(::onnx::ModelProto &model, Problems &problems) {
  bool isSorted = sortGraph(*model.mutable_graph(), problems);
  for (auto &function : *model.mutable_functions()) {
    llvm::StringSet<> given;
    given.insert(function.input().begin(), function.input().end());
    isSorted &= sortList(*function.mutable_node(), given, problems);
  }
  return isSorted;
}
