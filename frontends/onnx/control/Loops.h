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

/// A loop: a node (Loop, Scan or SequenceMap) that runs the graph of its
/// attribute `body` several times.
struct LoopForm {
  /// The largest number of iterations; nullopt if it is not known.
  std::optional<int64_t> runs;
  /// An i64 scalar, not known at compile time, that limits the number of
  /// iterations; or null.
  mlir::Value count;
  /// True if the second input and the first result of the graph are the
  /// condition on which it runs again. `condition` is the condition of the
  /// first iteration, or null if that is true.
  bool hasCondition = false;
  mlir::Value condition;
  /// The initial values of the loop-carried values.
  llvm::SmallVector<mlir::Value> inits;
  /// Returns the inputs of the graph behind the loop-carried values in
  /// iteration `run`. If `body` is not null, the graph is imported into this
  /// function.
  std::function<llvm::SmallVector<mlir::Value>(mlir::Value run, Body *body)>
      getInputs;
  /// True if the first input of the subgraph is the number of the iteration.
  bool takesRun = false;
  /// The number of results whose values of all iterations are collected.
  size_t collected = 0;
};

/// The results of a loop: the final values of the loop-carried values, and for
/// each collected result either one tensor whose first axis counts the
/// iterations (`collected`) or the values of all iterations (`all`).
struct LoopResults {
  llvm::SmallVector<mlir::Value> carried, collected;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> all;
};

/// Imports a loop as an nn.loop, or unrolled if it has few iterations or if
/// iterations differ in more than the values that they compute. Reports an
/// error if neither is possible.
std::optional<LoopResults> importLoop(Node &node, const LoopForm &form);

/// Imports a loop unrolled, and returns collected results as the values of all
/// iterations.
std::optional<LoopResults> unrollLoop(Node &node, const LoopForm &form);

/// Returns `x` with the order of its first axis reversed.
mlir::Value reverseFirst(Node &node, mlir::Value x);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CONTROL_LOOPS_H
