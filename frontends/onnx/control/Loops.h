//===- Loops.h - Subgraphs that run several times ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_CONTROL_LOOPS_H
#define NNC_FRONTENDS_ONNX_CONTROL_LOOPS_H

#include "frontends/onnx/graph/Node.h"

#include <functional>

namespace nnc::onnx {

/// A node that runs the graph of its attribute `body` several times: Loop, Scan
/// or SequenceMap.
struct LoopForm {
  /// How often it runs at most, where that is known or limited.
  std::optional<int64_t> runs;
  /// One i64 that limits the runs to a number that is not known; or null.
  mlir::Value count;
  /// Whether the graph takes a condition behind the number of the run, and
  /// gives one in front of its other results; `condition` is the first, and
  /// null where it is true.
  bool hasCondition = false;
  mlir::Value condition;
  /// The first values of what each run takes from the one before.
  llvm::SmallVector<mlir::Value> inits;
  /// Returns the further inputs of the graph in run number `run`. It runs in a
  /// function if `body` is not null.
  std::function<llvm::SmallVector<mlir::Value>(mlir::Value run, Body *body)>
      getInputs;
  /// Whether the first input of the subgraph is the number of the iteration.
  bool takesRun = false;
  /// The number of results that are collected.
  size_t collected = 0;
};

/// What a loop leaves: the last values of what is carried, and of each value
/// that is collected one tensor, with a new first axis, or the values of all
/// runs.
struct LoopResults {
  llvm::SmallVector<mlir::Value> carried, collected;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> all;
};

/// Imports a loop: as one, or run by run where the runs are few, or differ in
/// more than the values that they compute. Reports where neither is possible.
std::optional<LoopResults> importLoop(Node &node, const LoopForm &form);

/// Imports it run by run, and gives the values of all runs as they are.
std::optional<LoopResults> unrollLoop(Node &node, const LoopForm &form);

/// Returns x with the order of its first axis reversed.
mlir::Value reverseFirst(Node &node, mlir::Value x);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CONTROL_LOOPS_H
