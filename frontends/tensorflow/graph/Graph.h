//===- Graph.h - The nodes of a graph or function ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_GRAPH_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_GRAPH_H

#include "frontends/tensorflow/file/Load.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

namespace nnc::tensorflow {

/// A reference to a tensor, as nodes have it among their inputs.
struct Reference {
  llvm::StringRef node;   ///< name of a node or of an argument
  llvm::StringRef result; ///< name of the result in a function, or empty
  int64_t index = 0;      ///< number of the result, among those of that name
  bool isControl = false; ///< the node only has to run before
};

/// Returns the parts of a reference; `index` is -1 if it is no number.
Reference parseReference(llvm::StringRef text);

/// The main graph or a function.
struct Graph {
  std::string name; ///< name of the function, or empty
  llvm::StringMap<const pb::NodeDef *> nodes;
  /// The function's arguments; the main graph has none. In a function made of
  /// a loop or a branch they are references to results of nodes outside.
  std::vector<std::string> arguments;
  /// Further references to arguments, with the numbers of these.
  std::vector<std::pair<std::string, size_t>> aliases;
  /// References to the results of the function.
  std::vector<std::string> results;
  /// The nodes that run whether their results are read or not.
  std::vector<std::string> effects;
};

/// The main graph and the functions of a model. Loops and branches of
/// TensorFlow 1 are those of TensorFlow 2 in them (Frames.h).
class Graphs {
public:
  /// Reports names that occur twice.
  Graphs(const LoadedModel &model, Problems &problems);

  const Graph &getMain() const { return main; }
  /// Returns a function, or null.
  const Graph *find(llvm::StringRef name) const;

private:
  void reduceFlow(Problems &problems);

  Graph main;
  llvm::StringMap<Graph> functions;
  std::deque<pb::NodeDef> made; ///< nodes that are not in the model
};

/// Returns the nodes that compute `results` and those among `effects` and their
/// predecessors that act, each behind the nodes that it reads. Returns nullopt
/// after an error if nodes form a cycle.
std::optional<std::vector<const pb::NodeDef *>>
sortNodes(const Graph &graph, llvm::ArrayRef<std::string> results,
          Problems &problems);

/// Returns the names of the nodes VarHandleOp whose variables nodes assign that
/// run for `results` of the main graph.
llvm::StringMap<bool> findAssigned(const Graphs &graphs,
                                   llvm::ArrayRef<std::string> results,
                                   Problems &problems);

/// Returns the function that a node names as the attribute `name`; empty if it
/// has none.
llvm::StringRef getFunction(const pb::NodeDef &node, llvm::StringRef name);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_GRAPH_H
