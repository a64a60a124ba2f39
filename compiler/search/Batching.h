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

/// Time and memory of the ops of a network on `size` samples at a time.
struct BatchProfile {
  int64_t size = 1;
  std::vector<double> seconds; ///< of each op
  /// Bytes of the values and the scratch memory in use while each op runs.
  std::vector<int64_t> bytes;
  /// Those bytes without inputs and outputs of the network, which the caller
  /// has memory for.
  std::vector<int64_t> bytesWithoutPorts;
};

/// The cost of dividing the network in front of an op, for each sample: the
/// values that cross there are kept for all samples of the second part, and the
/// inputs that the first part reads are copied. All is 0 in front of the first.
struct BatchCut {
  int64_t queueBytes = 0, inputBytes = 0;
  double queueSeconds = 0, inputSeconds = 0;
};

struct BatchProblem {
  std::vector<BatchProfile> profiles; ///< with sizes that grow
  std::vector<BatchCut> cuts;         ///< one for each op, and one behind all
  int64_t callersBytes = 0;           ///< of inputs and outputs of one sample
  int64_t maxBytes = std::numeric_limits<int64_t>::max();
  double maxSeconds = std::numeric_limits<double>::infinity();
};

/// Ops up to number `end`, which take `size` samples at a time.
struct BatchSegment {
  size_t end;
  int64_t size;
  bool operator==(const BatchSegment &other) const {
    return end == other.end && size == other.size;
  }
};

/// A batch size for each part of a network. The sizes grow: each divides the
/// next, and the last one divides `count`, the samples of a run.
struct BatchPlan {
  int64_t count = 1;
  std::vector<BatchSegment> segments;
  int64_t bytes = 0;  ///< estimated, with those of the caller
  double seconds = 0; ///< of a run, estimated
  double getSecondsPerSample() const { return seconds / double(count); }
  /// Whether both make the same module.
  bool operator==(const BatchPlan &other) const {
    return count == other.count && segments == other.segments;
  }
};

/// Returns the plan that takes the least time for a sample within the limits,
/// with a run of one of `counts` samples; nullopt if none keeps to them. The
/// dynamic program is that of Vooturi et al., 2018, section V-D; in the place
/// of a table over bytes of memory, it keeps all partial plans of which no
/// other takes less memory and less time.
std::optional<BatchPlan> findBatchPlan(const BatchProblem &problem,
                                       llvm::ArrayRef<int64_t> counts);

/// Returns plans among which there is one for each limit of memory: those of
/// which no other takes fewer bytes and less time for a sample, as far as
/// estimates tell, and plans that may take less memory than is estimated, which
/// are the fixed batches and those that run all ops in one loop. What
/// `problem.maxBytes` says plays no part.
std::vector<BatchPlan> listBatchPlans(const BatchProblem &problem,
                                      llvm::ArrayRef<int64_t> counts);

/// Returns the plans of which all ops take all samples at once, that is, the
/// fixed batches, which keep to the limits.
std::vector<BatchPlan> listFixedBatches(const BatchProblem &problem,
                                        llvm::ArrayRef<int64_t> counts);

} // namespace nnc

#endif // NNC_COMPILER_SEARCH_BATCHING_H
