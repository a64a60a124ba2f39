//===- Batching.h - Batch sizes of the parts of a network -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SEARCH_BATCHING_H
#define NNC_COMPILER_SEARCH_BATCHING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace nnc {

/// The time and the memory of the ops of a network that processes `size`
/// samples at a time.
struct BatchProfile {
  int64_t size = 1;
  std::vector<double> seconds; ///< seconds of each op
  /// For each op, the bytes of the values and the scratch memory in use while
  /// it runs.
  std::vector<int64_t> bytes;
  /// For each op, the part of `bytes` that is in the arena: without the inputs
  /// and outputs of the network, which are in memory of the caller.
  std::vector<int64_t> bytesWithoutPorts;
};

/// The cost per sample of dividing the network in front of an op. The values
/// that cross the cut (queue) are kept for all samples of the second part, and
/// the inputs that the first part reads are copied. All fields are 0 in front
/// of the first op.
struct BatchCut {
  int64_t queueBytes = 0, inputBytes = 0;
  double queueSeconds = 0, inputSeconds = 0;
};

struct BatchProblem {
  std::vector<BatchProfile> profiles; ///< in ascending order of size
  std::vector<BatchCut> cuts; ///< one in front of each op and one at the end
  int64_t callersBytes = 0;   ///< inputs and outputs of one sample
  int64_t maxBytes = std::numeric_limits<int64_t>::max();
  double maxSeconds = std::numeric_limits<double>::infinity();
};

/// A segment of a network: the ops from the end of the previous segment up to
/// number `end`, which process `size` samples at a time.
struct BatchSegment {
  size_t end;
  int64_t size;
  bool operator==(const BatchSegment &other) const {
    return end == other.end && size == other.size;
  }
};

/// A plan with a batch size for each segment of a network, in ascending order.
/// Each size divides the next one, and the last one divides `count`, the number
/// of samples of a run.
struct BatchPlan {
  int64_t count = 1;
  std::vector<BatchSegment> segments;
  int64_t bytes = 0;  ///< estimated, including memory of the caller
  double seconds = 0; ///< estimated time of a run
  double getSecondsPerSample() const { return seconds / double(count); }
  /// Returns true if both plans give the same module.
  bool operator==(const BatchPlan &other) const {
    return count == other.count && segments == other.segments;
  }
};

/// Returns the plan with the least time per sample that keeps to the limits,
/// for a run of one of `counts` samples; nullopt if there is none. The dynamic
/// program is that of Vooturi et al., 2018, section V-D. Instead of a table
/// over bytes of memory, it keeps all partial plans for which no other one
/// takes less memory and less time.
std::optional<BatchPlan> findBatchPlan(const BatchProblem &problem,
                                       llvm::ArrayRef<int64_t> counts);

/// Returns plans that serve any limit of memory. They are the plans for which
/// no other one takes fewer bytes and less time per sample according to the
/// estimates, and plans that may take less memory than estimated: the fixed
/// batches, and those that run all ops in one loop. `problem.maxBytes` is
/// ignored.
std::vector<BatchPlan> listBatchPlans(const BatchProblem &problem,
                                      llvm::ArrayRef<int64_t> counts);

/// Returns the fixed batches that keep to the limits: plans in which all ops
/// process all samples of a run at once.
std::vector<BatchPlan> listFixedBatches(const BatchProblem &problem,
                                        llvm::ArrayRef<int64_t> counts);

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_BATCHING_H
