//===- LeastCount.h - The fewest layers that must stay as they are --------===//
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

/// Shows how long a search still takes, until it is destroyed. A program that
/// has a terminal derives from it.
class SearchProgress {
public:
  virtual ~SearchProgress() = default;
  virtual void setSecondsLeft(double seconds) = 0;
};

/// Finds the least count from 1 to `high` for which `attempt` says that it is
/// enough; `high` is known to be. Counts that are enough are followed by others
/// that are. It is often a small one: the count doubles until it is enough,
/// and is halved then. The count that was found need not be the last attempt.
/// Fails where an attempt fails.
llvm::LogicalResult findLeastCount(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t count, bool &isEnough)>
        attempt,
    SearchProgress &progress, size_t &found);

} // namespace nnc::accuracy

#endif // NNC_COMPILER_ACCURACY_LEASTCOUNT_H
