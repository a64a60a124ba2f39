//===- LoopRuns.h - How often a loop runs -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// Exporters write a loop over the steps of a sequence as one that ends by a
// condition: counters that the body adds to and compares with a length. Where
// the condition follows from constants, the number of runs is known.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LOOPRUNS_H
#define NNC_FRONTENDS_COMMON_LOOPRUNS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace nnc::frontends {

/// A value that each run of a loop takes from the one before.
struct Carried {
  mlir::Value init;     ///< outside of the loop
  mlir::Value argument; ///< of the body
  mlir::Value next;     ///< that the body computes
};

/// How often a loop runs.
struct LoopRuns {
  int64_t most;
  /// Whether it runs as often as that if it runs at all.
  bool isExact;
};

/// Returns how often a loop runs whose body computes `condition`, which says
/// whether another run follows. In the body `isRunning`, if it is not null, is
/// true, and `run` is the number of the run, an i64. The loop runs no more than
/// `limit` times, if that is there. Nothing is returned where no limit is
/// known: where the condition depends on more than constants, or does not
/// become false in as many runs as are tried.
std::optional<LoopRuns> countRuns(mlir::Value condition, mlir::Value run,
                                  mlir::Value isRunning,
                                  llvm::ArrayRef<Carried> carried,
                                  std::optional<int64_t> limit);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LOOPRUNS_H
