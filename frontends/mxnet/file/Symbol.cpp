//===- Symbol.cpp - Reads the JSON of an MXNet symbol ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/file/Symbol.h"

#include "frontends/common/ParseJson.h"

using namespace mlir;
using namespace nnc::mxnet;
namespace json = llvm::json;

namespace {
/// The reader of the parts of a symbol.
class SymbolReader {
public:
  /// `owner` is the name of the node that has the symbol as a subgraph.
  SymbolReader(Symbol &symbol, Problems &problems, StringRef owner = "")
      : symbol(symbol), problems(problems), owner(owner) {}

  bool run(const json::Object &top);

private:
  bool fail(StringRef place, const Twine &why,
            ImportStatus status = ImportStatus::broken) {
    if (place.empty())
      place = owner;
    problems.report(status,
                    place.empty() ? problems.getLoc() : problems.getLoc(place))
        << why;
    return isSound = false;
  }
  void readNode(const json::Value &value, size_t number);
  /// Adds the texts of the object `key` of a node, if it has one.
  void readAttributes(const json::Object &from, StringRef key,
                      SymbolNode &node);
  /// Reads the graphs that a node runs.
  void readSubgraphs(const json::Object &from, SymbolNode &node);
  /// Reads a list of entries, each with two or three numbers.
  void readEntries(const json::Array &from, StringRef place, StringRef what,
                   std::vector<Entry> &to);
  void readVersion(const json::Object &top);

  Symbol &symbol;
  Problems &problems;
  StringRef owner;
  size_t count = 0; ///< number of nodes
  bool isSound = true;
};
} // namespace

void SymbolReader::readAttributes(const json::Object &from, StringRef key,
                                  SymbolNode &node) {
  const json::Value *value = from.get(key);
  if (!value || value->getAsNull())
    return;
  const json::Object *object = value->getAsObject();
  if (!object) {
    fail(node.name, "has '" + key + "' that is no object");
    return;
  }
  for (const auto &[name, text] : *object) {
    auto given = text.getAsString();
    if (given)
      node.attributes[StringRef(name)] = given->str();
    else
      fail(node.name, "has an attribute '" + StringRef(name) +
                          "' that is no text; MXNet writes texts");
  }
}

void SymbolReader::readEntries(const json::Array &from, StringRef place,
                               StringRef what, std::vector<Entry> &to) {
  for (const json::Value &value : from) {
    const json::Array *entry = value.getAsArray();
    // The third number is the version of a mutable variable.
    bool fits = entry && (entry->size() == 2 || entry->size() == 3);
    auto node = fits ? (*entry)[0].getAsInteger() : std::nullopt;
    auto output = fits ? (*entry)[1].getAsInteger() : std::nullopt;
    if (!node || !output) {
      fail(place, "has " + what +
                      " that are not lists of a node's number and the number "
                      "of its result");
      return;
    }
    if (*node < 0 || *node >= int64_t(count) || *output < 0 ||
        *output > INT32_MAX) {
      fail(place, "has result " + Twine(*output) + " of node " + Twine(*node) +
                      " among its " + what + "; the model has " + Twine(count) +
                      " nodes");
      return;
    }
    to.push_back({uint32_t(*node), uint32_t(*output)});
  }
}

void SymbolReader::readSubgraphs(const json::Object &from, SymbolNode &node) {
  const json::Array *graphs = from.getArray("subgraphs");
  if (!graphs)
    return;
  for (const json::Value &value : *graphs) {
    const json::Object *object = value.getAsObject();
    if (!object) {
      fail(node.name, "has a subgraph that is no object");
      return;
    }
    Symbol &graph = node.subgraphs.emplace_back();
    graph.version = symbol.version;
    isSound &= SymbolReader(graph, problems, node.name).run(*object);
  }
}

void SymbolReader::readNode(const json::Value &value, size_t number) {
  SymbolNode node;
  std::string place = "node" + std::to_string(number);
  const json::Object *object = value.getAsObject();
  auto op = object ? object->getString("op") : std::nullopt;
  auto name = object ? object->getString("name") : std::nullopt;
  const json::Array *inputs = object ? object->getArray("inputs") : nullptr;
  if (!op || !name || (!inputs && *op != "null")) {
    fail(place, "lacks its operator, its name or its inputs");
    symbol.nodes.push_back(std::move(node));
    return;
  }
  node.op = op->str();
  node.name = name->empty() ? place : name->str();
  // Graphs of MXNet 0.8 have "param" and "attr", newer ones "attr" or "attrs".
  for (StringRef key : {"param", "attr", "attrs"})
    readAttributes(*object, key, node);
  if (inputs)
    readEntries(*inputs, node.name, "inputs", node.inputs);
  readSubgraphs(*object, node);
  symbol.nodes.push_back(std::move(node));
}

void SymbolReader::readVersion(const json::Object &top) {
  const json::Object *attributes = top.getObject("attrs");
  const json::Array *version =
      attributes ? attributes->getArray("mxnet_version") : nullptr;
  if (version && version->size() == 2)
    symbol.version = (*version)[1].getAsInteger().value_or(0);
}

bool SymbolReader::run(const json::Object &top) {
  const json::Array *nodes = top.getArray("nodes");
  const json::Array *heads = top.getArray("heads");
  if (!nodes || !heads)
    return fail("", owner.empty()
                        ? "is not a symbol of MXNet: it lacks its 'nodes' or "
                          "its 'heads'"
                        : "has a subgraph that lacks its 'nodes' or its "
                          "'heads'");
  count = nodes->size();
  if (int64_t(count) > problems.getLimits().nodes)
    return fail("",
                "has " + Twine(count) + " nodes, more than " +
                    Twine(problems.getLimits().nodes) +
                    "; --limit nodes=N allows more",
                ImportStatus::limit);
  readVersion(top);
  for (const auto &[i, node] : llvm::enumerate(*nodes))
    readNode(node, i);
  readEntries(*heads, "", "heads", symbol.heads);
  if (isSound && symbol.heads.empty())
    fail("", owner.empty() ? "has no outputs" : "has a subgraph of no outputs");
  return isSound;
}

int64_t Symbol::countNodes() const {
  int64_t all = int64_t(nodes.size());
  for (const SymbolNode &node : nodes)
    for (const Symbol &graph : node.subgraphs)
      all += graph.countNodes();
  return all;
}

std::optional<Symbol> nnc::mxnet::loadSymbol(StringRef path,
                                             Problems &problems) {
  Symbol symbol;
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken) << why;
    return std::nullopt;
  };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail("cannot be read: " + file.getError().message());
  symbol.file = std::move(*file);
  auto value = parseJson(symbol.file->getBuffer());
  if (!value)
    return fail("is not valid JSON: " + llvm::toString(value.takeError()));
  const json::Object *top = value->getAsObject();
  if (!top)
    return fail("is JSON, but no symbol of MXNet");
  if (!SymbolReader(symbol, problems).run(*top))
    return std::nullopt;
  return symbol;
}

std::optional<std::vector<uint32_t>>
nnc::mxnet::sortNodes(const Symbol &symbol,
                      llvm::function_ref<size_t(const SymbolNode &)> countReads,
                      Problems &problems) {
  enum class State : char { unseen, open, done };
  std::vector<State> states(symbol.nodes.size(), State::unseen);
  std::vector<uint32_t> sorted;
  struct Visit {
    uint32_t node;
    size_t next, reads;
  };
  std::vector<Visit> stack;
  auto enter = [&](uint32_t number) {
    const SymbolNode &node = symbol.nodes[number];
    states[number] = State::open;
    stack.push_back(
        {number, 0, std::min(countReads(node), node.inputs.size())});
  };
  for (const Entry &head : symbol.heads) {
    if (states[head.node] == State::unseen)
      enter(head.node);
    while (!stack.empty()) {
      Visit &visit = stack.back();
      if (visit.next == visit.reads) {
        states[visit.node] = State::done;
        sorted.push_back(visit.node);
        stack.pop_back();
        continue;
      }
      uint32_t input = symbol.nodes[visit.node].inputs[visit.next++].node;
      if (states[input] == State::open) {
        problems.report(ImportStatus::broken,
                        problems.getLoc(symbol.nodes[input].name))
            << "reads a value that is computed from its own result";
        return std::nullopt;
      }
      if (states[input] == State::unseen)
        enter(input);
    }
  }
  return sorted;
}
