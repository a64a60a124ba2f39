//===- Symbol.h - Reads the JSON of an MXNet symbol -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_FILE_SYMBOL_H
#define NNC_FRONTENDS_MXNET_FILE_SYMBOL_H

#include "frontends/common/Problems.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc::mxnet {
using namespace nnc::frontends;

/// Result `output` of the node with the number `node`.
struct Entry {
  uint32_t node, output;
};

struct Symbol;

/// A node of the graph: an operator, or with the operator "null" a variable,
/// which is an input or a parameter of the network.
struct SymbolNode {
  std::string op, name;
  std::vector<Entry> inputs;
  /// The texts of the operator's parameters and of hidden keys such as
  /// "__shape__".
  llvm::StringMap<std::string> attributes;
  /// The graphs that the operator runs, such as the body of a loop. Their
  /// variables stand for values that the operator gives them.
  std::vector<Symbol> subgraphs;

  bool isVariable() const { return op == "null"; }
};

/// A graph as MXNet 0.8 to 1.9 save it.
struct Symbol {
  std::shared_ptr<llvm::MemoryBuffer> file; ///< null for subgraphs
  std::vector<SymbolNode> nodes;
  std::vector<Entry> heads; ///< outputs of the network
  /// The version that saved the graph, as in 10901 for 1.9.1; 0 if the file
  /// does not state it, as before MXNet 0.9.
  int64_t version = 0;

  /// Returns the number of nodes, including those of subgraphs.
  int64_t countNodes() const;
};

/// Reads the file at `path`, and checks that nodes are named and that all
/// entries are those of nodes. Returns nullopt after an error.
std::optional<Symbol> loadSymbol(llvm::StringRef path, Problems &problems);

/// Returns the numbers of the nodes that the outputs of the network are
/// computed from, each behind those that it reads. `countReads` returns the
/// number of leading inputs that a node reads. Returns nullopt after an error
/// if the graph has a cycle.
std::optional<std::vector<uint32_t>>
sortNodes(const Symbol &symbol,
          llvm::function_ref<size_t(const SymbolNode &)> countReads,
          Problems &problems);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_FILE_SYMBOL_H
