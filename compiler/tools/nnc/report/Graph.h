//===- Graph.h - The dataflow graph of a program -------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_REPORT_GRAPH_H
#define NNC_TOOLS_NNC_REPORT_GRAPH_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/description/Description.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// A constant that a step of a program reads.
struct GraphWeight {
  std::string name;
  std::string role; ///< role such as "bias", or empty
  mlir::RankedTensorType type;
  int64_t bytes = 0;
  bool isShared = false; ///< whether an earlier step also reads it
};

/// A call or copy of a program.
struct GraphStep {
  mlir::Operation *op = nullptr;
  nn::Description description;
  /// The names of the branches and loops that contain it, outermost first.
  std::vector<std::string> within;
  std::vector<GraphWeight> weights;
  /// The bytes that the step reads and writes, without weights.
  int64_t activationBytes = 0;
  int64_t scratchBytes = 0;
};

/// A value that enters or leaves the program.
struct GraphPort {
  enum class Kind { input, state, output, nextState } kind;
  exec::PlaceOpInterface place;
};

/// A value that one node produces and another one reads. Nodes are indices of
/// the steps, followed by the ports.
struct GraphEdge {
  int64_t from, to;
  mlir::RankedTensorType type;
};

/// A program as an acyclic graph.
struct Graph {
  std::vector<GraphStep> steps; ///< in the order in which they run
  std::vector<GraphPort> ports;
  std::vector<GraphEdge> edges;

  static Graph build(exec::ProgramOp program);
};

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_REPORT_GRAPH_H
