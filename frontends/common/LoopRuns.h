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

/// A loop-carried value.
struct Carried {
  mlir::Value init;     ///< value before the first iteration
  mlir::Value argument; ///< the body's argument for the value
  mlir::Value next;     ///< value that the body computes for the next iteration
};

/// The number of iterations of a loop: at most `most`.
struct LoopRuns {
  int64_t most;
  /// True if the loop has exactly `most` iterations unless it has none.
  bool isExact;
};

/// Returns the number of iterations of a loop whose body computes `condition`,
/// which tells whether another iteration follows. In the body, `run` is the
/// number of the iteration, an i64, and `isRunning`, unless it is null, is
/// true. If `limit` is given, the loop has at most `limit` iterations. Returns
/// nullopt if no bound is known: if the condition does not depend on constants
/// alone, or is still true after as many iterations as are tried.
std::optional<LoopRuns> countRuns(mlir::Value condition, mlir::Value run,
                                  mlir::Value isRunning,
                                  llvm::ArrayRef<Carried> carried,
                                  std::optional<int64_t> limit);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LOOPRUNS_H
