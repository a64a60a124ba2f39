//===- Contents.cpp - Contents of lookup tables ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/tables/Contents.h"

using namespace mlir;
using namespace nnc::tensorflow;

/// Returns true if the first of the attributes that `node` has is a type of
/// numbers.
static bool isNumber(const pb::NodeDef &node, ArrayRef<const char *> names) {
  for (const char *name : names)
    if (auto found = node.attr().find(name); found != node.attr().end())
      return found->second.type() != pb::DT_INVALID &&
             found->second.type() != pb::DT_STRING;
  return false;
}

bool nnc::tensorflow::isNumberTable(const pb::NodeDef &node) {
  return isNumber(node, {"key_dtype", "Tin", "Tkey"}) &&
         isNumber(node, {"value_dtype", "Tout", "Tval"});
}

namespace {
/// A search for the nodes that fill tables, through calls of functions.
class TableFinder {
public:
  TableFinder(const Graphs &graphs, const Limits &limits)
      : graphs(graphs), limits(limits) {}

  /// Nodes of the main graph, which make tables or are constants, by the names
  /// of nodes and arguments of a function that stand for them.
  using Nodes = llvm::StringMap<const pb::NodeDef *>;

  void search(const Graph &graph, const Nodes &arguments, int64_t depth);
  llvm::StringMap<TableContents> tables;

private:
  const pb::NodeDef *trace(const Graph &graph, const Nodes &arguments,
                           StringRef reference) const;
  void fill(const pb::NodeDef *table, const pb::NodeDef *keys,
            const pb::NodeDef *values);

  const Graphs &graphs;
  const Limits &limits;
  int64_t visits = 0;
};
} // namespace

static bool makesTable(const pb::NodeDef *node) {
  return node && StringRef(node->op()).contains("HashTable");
}

/// Returns the node that makes the table or is the constant to which
/// `reference` refers, or null.
const pb::NodeDef *TableFinder::trace(const Graph &graph,
                                      const Nodes &arguments,
                                      StringRef reference) const {
  for (int steps = 0; steps < 16; ++steps) {
    StringRef name = parseReference(reference).node;
    if (const pb::NodeDef *given = arguments.lookup(name))
      return given;
    const pb::NodeDef *node = graph.nodes.lookup(name);
    if (!node || makesTable(node) || node->op() == "Const")
      return node;
    if (node->op() != "Identity" || node->input().empty())
      return nullptr;
    reference = node->input(0);
  }
  return nullptr;
}

void TableFinder::fill(const pb::NodeDef *table, const pb::NodeDef *keys,
                       const pb::NodeDef *values) {
  if (!makesTable(table) || !isNumberTable(*table))
    return;
  auto [entry, isNew] = tables.try_emplace(table->name());
  TableContents &contents = entry->second;
  if (isNew && keys && values)
    contents = {keys, values};
  else if (contents.keys != keys || contents.values != values)
    contents = {};
}

void TableFinder::search(const Graph &graph, const Nodes &arguments,
                         int64_t depth) {
  if (depth > limits.depth || (visits += graph.nodes.size()) > limits.nodes)
    return;
  for (const auto &entry : graph.nodes) {
    const pb::NodeDef &node = *entry.second;
    auto find = [&](int i) {
      return i < node.input_size() ? trace(graph, arguments, node.input(i))
                                   : nullptr;
    };
    StringRef op = node.op();
    if (op.starts_with("InitializeTable") ||
        op.starts_with("LookupTableImport") ||
        op.starts_with("LookupTableInsert"))
      fill(find(0), find(1), find(2));
    if (op != "PartitionedCall" && op != "StatefulPartitionedCall")
      continue;
    const Graph *callee = graphs.find(getFunction(node, "f"));
    if (!callee)
      continue;
    Nodes given;
    bool hasTable = false;
    for (auto [i, argument] : llvm::enumerate(callee->arguments))
      if (const pb::NodeDef *known = find(int(i))) {
        given[parseReference(argument).node] = known;
        hasTable |= makesTable(known);
      }
    if (hasTable)
      search(*callee, given, depth + 1);
  }
}

llvm::StringMap<TableContents>
nnc::tensorflow::findTables(const Graphs &graphs, const Limits &limits) {
  TableFinder finder(graphs, limits);
  finder.search(graphs.getMain(), {}, 0);
  return std::move(finder.tables);
}
