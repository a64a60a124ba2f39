//===- StackDepth.cpp - Stack depth from GCC's call graphs ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/StackDepth.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace nnc::tools {
namespace {
struct Function {
  std::optional<int64_t> bytes; ///< size of its own frame
  bool isBounded = true;        ///< whether `bytes` is an upper bound
  std::vector<std::string> calls;
  std::optional<int64_t> depth; ///< bytes with its calls, once known
  bool isOpen = false;          ///< true while its calls are followed
};

class CallGraph {
public:
  /// Returns the depth of a function that the graph does not know, or nullopt.
  llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> findOther;
  void add(llvm::StringRef graph);
  /// Returns the stack bytes of a function together with the functions that it
  /// calls.
  std::optional<int64_t> follow(llvm::StringRef name);
  bool has(llvm::StringRef name) const { return functions.contains(name); }
  std::set<std::string> beyond;

private:
  llvm::StringMap<Function> functions;
};
} // namespace

/// Returns the text in quotes that follows `key` in a line.
static llvm::StringRef readText(llvm::StringRef line, llvm::StringRef key) {
  auto [before, behind] = line.split((key + ": \"").str());
  return behind.take_until([](char c) { return c == '"'; });
}

/// Adds the functions and calls of a graph that the compiler has written for
/// one file. A node of the graph is a function. Its label ends with, for
/// instance, "24 bytes (static)", unless another file defines the function.
void CallGraph::add(llvm::StringRef graph) {
  for (llvm::StringRef line : llvm::split(graph, '\n')) {
    if (line.consume_front("node: ")) {
      Function &function = functions[readText(line, "title")];
      llvm::StringRef label = readText(line, "label");
      size_t end = label.find(" bytes (");
      if (end == llvm::StringRef::npos)
        continue;
      llvm::StringRef number = label.take_front(end);
      number = number.take_back(number.size() - number.rfind('n') - 1);
      int64_t bytes;
      if (llvm::to_integer(number, bytes, 10))
        function.bytes = bytes;
      llvm::StringRef kind = label.drop_front(end + 8);
      function.isBounded =
          kind.starts_with("static") || kind.contains("bounded");
    } else if (line.consume_front("edge: ")) {
      functions[readText(line, "sourcename")].calls.push_back(
          readText(line, "targetname").str());
    }
  }
}

std::optional<int64_t> CallGraph::follow(llvm::StringRef name) {
  Function &function = functions[name];
  if (function.depth)
    return function.depth;
  if (function.isOpen || name == "__indirect_call" || !function.isBounded)
    return std::nullopt;
  if (!function.bytes) {
    // A function of one file has the name of the file before its own.
    std::optional<int64_t> other = findOther(name.substr(name.rfind(':') + 1));
    if (!other)
      beyond.insert(name.str());
    return function.depth = other.value_or(0);
  }
  function.isOpen = true;
  int64_t most = 0;
  for (const std::string &call : function.calls) {
    std::optional<int64_t> depth = follow(call);
    if (!depth)
      return std::nullopt;
    most = std::max(most, *depth);
  }
  function.isOpen = false;
  most += *function.bytes;
  // The compiler does not count what a function written in assembly pushes, but
  // its machine code tells it.
  if (std::optional<int64_t> other =
          findOther(name.substr(name.rfind(':') + 1)))
    most = std::max(most, *other);
  return function.depth = most;
}

std::optional<StackDepth> findStackDepth(
    llvm::ArrayRef<std::string> graphs, llvm::StringRef root,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> findOther) {
  CallGraph graph;
  graph.findOther = findOther;
  for (const std::string &text : graphs)
    graph.add(text);
  if (!graph.has(root))
    return std::nullopt;
  std::optional<int64_t> bytes = graph.follow(root);
  if (!bytes)
    return std::nullopt;
  return StackDepth{*bytes, {graph.beyond.begin(), graph.beyond.end()}};
}

} // namespace nnc::tools
