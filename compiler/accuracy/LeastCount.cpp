//===- LeastCount.cpp - Search for the least sufficient count -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/accuracy/LeastCount.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <chrono>

namespace nnc::accuracy {

llvm::LogicalResult findLeastCount(
    size_t high,
    llvm::function_ref<llvm::LogicalResult(size_t count, bool &isEnough)>
        attempt,
    SearchProgress &progress, size_t &found) {
  // Invariant: `low` is not enough, and `high` is.
  size_t low = 0;
  bool isDoubling = true;
  auto start = std::chrono::steady_clock::now();
  for (int done = 0; low + 1 < high; ++done) {
    // Once the range is being halved, the number of remaining attempts is
    // known.
    if (!isDoubling) {
      std::chrono::duration<double> spent =
          std::chrono::steady_clock::now() - start;
      progress.setSecondsLeft(llvm::Log2_64_Ceil(high - low) * spent.count() /
                              done);
    }
    size_t count = isDoubling ? std::min(std::max<size_t>(2 * low, 1), high - 1)
                              : (low + high) / 2;
    bool isEnough = false;
    if (llvm::failed(attempt(count, isEnough)))
      return llvm::failure();
    (isEnough ? high : low) = count;
    isDoubling &= !isEnough;
  }
  found = high;
  return llvm::success();
}

} // namespace nnc::accuracy
