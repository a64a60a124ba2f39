//===- TuningStore.h - Measurements of earlier runs of nnc tune -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MEASURE_TUNINGSTORE_H
#define NNC_COMPILER_TOOLS_DRIVER_MEASURE_TUNINGSTORE_H

#include "compiler/tuning/Cache.h"
#include "compiler/tuning/WholePlans.h"

#include "llvm/ADT/StringMap.h"

namespace nnc::tools {

/// The user's cache of measurements, for one machine and build. If the cache
/// cannot be used, a warning is printed once and nothing is cached.
class Store {
public:
  /// Opens the cache in `folder`, or in the user's cache folder if the name is
  /// empty; "none" disables caching. `machine` identifies everything that times
  /// depend on besides the candidate.
  Store(llvm::StringRef folder, std::string machine);

  /// Adds to `known` the measurements that earlier runs have made of the
  /// candidates of `function`.
  void recall(mlir::func::FuncOp function, const CostModel &cost,
              Measurements &known);
  void keep(llvm::ArrayRef<Job> jobs, llvm::ArrayRef<int64_t> nanoseconds);

  /// Returns the times of the plans in nanoseconds, up to the first plan that
  /// is not in the cache.
  std::vector<int64_t> recall(llvm::ArrayRef<WholePlan> plans);
  void keep(llvm::ArrayRef<WholePlan> plans,
            llvm::ArrayRef<int64_t> nanoseconds);

private:
  uint64_t getHash(llvm::StringRef header);
  Circumstances where(const Job &job);
  MeasurementCache::Entry describe(const WholePlan &plan);
  void giveUp(llvm::Error error);

  std::string machine;
  std::optional<MeasurementCache> cache;
  llvm::StringMap<uint64_t> hashes; ///< hashes of headers with their includes
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MEASURE_TUNINGSTORE_H
