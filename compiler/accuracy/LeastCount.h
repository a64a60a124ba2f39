//===- LeastCount.h - Search for the least sufficient count -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ACCURACY_LEASTCOUNT_H
#define NNC_COMPILER_ACCURACY_LEASTCOUNT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <cstddef>
#include <memory>

namespace nnc::accuracy {

/// An interface to show how long a search still takes, until it is destroyed. A
/// program with a terminal derives from it.
class SearchProgress {
public:
  virtual ~SearchProgress() = default;
  virtual void setSecondsLeft(double seconds) = 0;
};

/// Finds the least count from 1 to `high` that is enough according to
/// `attempt`, by exponential search followed by bisection, since it is often
/// small. `high` must be enough, and every count above one that is enough must
/// be enough, too. Sets `found`, which need not be the count of the last
/// attempt. Fails if an attempt fails.
llvm::LogicalResult findLeastCount(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t count, bool &isEnough)>
        attempt,
    SearchProgress &progress, size_t &found);

} // namespace nnc::accuracy

#endif // NNC_COMPILER_ACCURACY_LEASTCOUNT_H
