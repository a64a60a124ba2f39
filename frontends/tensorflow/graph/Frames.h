//===- Frames.h - Loops and branches of TensorFlow 1 ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// TensorFlow 1, and TensorFlow 2 where it freezes graphs, writes a loop as a
// cycle of nodes in a frame. Each loop-carried value enters the frame by an
// Enter and passes a Merge, which reads the Enter or, from the second run on, a
// NextIteration. A Switch, whose condition is the LoopCond of the frame, gives
// the value either to the body, which computes the input of the NextIteration,
// or to an Exit. A branch is what stands between Switch nodes and a Merge that
// have one condition. These nodes are replaced by While and If of TensorFlow 2.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_FRAMES_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_FRAMES_H

#include "frontends/tensorflow/graph/Graph.h"

#include <functional>

namespace nnc::tensorflow {

/// The makers of functions and nodes that the reduction of a graph adds to the
/// model.
struct MadeParts {
  /// Returns a new, empty function, whose name begins with the given text.
  std::function<Graph &(llvm::StringRef)> addFunction;
  /// Returns a new node.
  std::function<pb::NodeDef &()> addNode;
};

/// Replaces the frames of loops in `graph` by While nodes, whose conditions and
/// bodies become functions. Reports frames of another structure.
void reduceLoops(Graph &graph, const MadeParts &parts, Problems &problems);

/// Replaces pairs of branches that end in Merge nodes by If nodes. A Merge of
/// another structure is left as it is.
void reduceBranches(Graph &graph, const MadeParts &parts);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_FRAMES_H
