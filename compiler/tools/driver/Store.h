//===- Store.h - Measurements of earlier runs of nnc tune -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_STORE_H
#define NNC_TOOLS_DRIVER_STORE_H

#include "compiler/tuning/Cache.h"
#include "compiler/tuning/WholePlans.h"

#include "llvm/ADT/StringMap.h"

namespace nnc::tools {

/// The user's cache, for one machine and build. A cache that cannot be used is
/// warned of once, and done without.
class Store {
public:
  /// That in `folder`; "none" remembers nothing, and without a name it is in
  /// the user's cache folder. `machine` is all that times depend on besides the
  /// candidate.
  Store(llvm::StringRef folder, std::string machine);

  /// Adds what earlier runs know of `function`.
  void recall(mlir::func::FuncOp function, const CostModel &cost,
              Measurements &known);
  void keep(llvm::ArrayRef<Job> jobs, llvm::ArrayRef<int64_t> nanoseconds);

  /// What is known of the first of these, up to one that is not.
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
  llvm::StringMap<uint64_t> hashes; ///< of headers and what they include
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_STORE_H
