//===- BatchPlanner.h - A batch size for each part of a network -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The network is imported for the largest batch. Its layers are planned for
// each batch size that a part of the network may use, which gives the time and
// the memory of each layer at each size. From these figures follows a list of
// plans, of which modules are built (nnc-batch), the fastest first, until one
// keeps to the limit of memory. The list does not depend on that limit: if no
// module keeps to it, the smallest demand among them is the least memory with
// which the search would succeed.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PLANNERS_BATCHPLANNER_H
#define NNC_COMPILER_PLANNERS_BATCHPLANNER_H

#include "compiler/memory/RamDemand.h"
#include "compiler/pipelines/Pipeline.h"
#include "compiler/search/Batching.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc {

/// The range of the number of samples that a run may process, both ends
/// included.
struct BatchRange {
  int64_t low = 1, high = 1;
};

/// A part of a network and the number of samples that it processes at a time.
struct BatchPart {
  int64_t size = 1;
  std::vector<std::string> layers; ///< names of the layers
};

/// The chosen batch sizes of a module, and the best fixed batch for comparison.
struct BatchChoice {
  BatchPlan plan; ///< with the bytes that the built module takes
  std::vector<BatchPart> parts;
  /// The best plan within the same limits in which all layers process the whole
  /// batch at once; nullopt if there is none or it was not searched for.
  std::optional<BatchPlan> fixed;
};

/// The limits that a plan of batch sizes has to keep to.
struct BatchLimits {
  BatchRange counts;
  std::optional<int64_t> maxRam;
  double maxSeconds = std::numeric_limits<double>::infinity();
};

class BatchPlanner {
public:
  enum class Outcome {
    found,
    failed, ///< A pass failed and has reported an error.
    slow,   ///< no plan keeps to the limit of time
    large   ///< no plan keeps to the limits of memory
  };

  /// `formed` holds the layers of the network, without routines, for the
  /// largest batch.
  BatchPlanner(mlir::ModuleOp formed, BatchLimits limits,
               PipelineOptions options, PassRunner run)
      : formed(formed), limits(limits), options(std::move(options)),
        run(std::move(run)) {}

  /// Searches for the plan with the least time per sample. Sets
  /// BatchChoice::fixed only if `compares`.
  Outcome choose(bool compares);

  /// Return the results of choose(): the plan, the program built from it, the
  /// pass that divides the batch, and the options of the other passes.
  const BatchChoice &getChoice() const { return *choice; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  std::unique_ptr<mlir::Pass> createPass() const;
  const PipelineOptions &getOptions() const { return options; }

  /// Returns the memory of the smallest module that was built, if none keeps to
  /// the limit of memory.
  const RamDemand &getLeast() const { return least; }
  /// Returns the estimated seconds of the fastest run of all plans, without any
  /// limits.
  double getLeastSeconds() const;

private:
  /// Searches for a plan whose routines keep to `ram` bytes where they can. If
  /// none keeps to the limits, there is no choice afterwards.
  mlir::LogicalResult plan(int64_t ram, bool compares);
  /// Finds the time and the memory of the layers at each batch size.
  mlir::LogicalResult findProfiles();
  /// Sets `best` to the fastest plan whose module keeps to the limits of
  /// memory, and `module` to that module. If there is none, `best` is null, and
  /// `demand` is set to the memory of the smallest module.
  mlir::LogicalResult fit(std::vector<BatchPlan> plans,
                          std::optional<BatchPlan> &best, RamDemand &demand);
  /// Sets `module` to the program that a plan makes of the layers.
  mlir::LogicalResult apply(const BatchPlan &plan);
  /// Runs nnc-batch for `count` samples with the given segments. Without
  /// segments, the whole network processes all samples at once.
  mlir::LogicalResult divide(mlir::ModuleOp module, int64_t count,
                             llvm::ArrayRef<BatchSegment> segments);
  std::unique_ptr<mlir::Pass>
  createPass(int64_t count, llvm::ArrayRef<BatchSegment> segments) const;
  const Measurements *getMeasured() const {
    return options.tuned ? &options.tuned->measurements : nullptr;
  }

  mlir::ModuleOp formed;
  BatchLimits limits;
  PipelineOptions options;
  PassRunner run;
  BatchProblem problem;
  bool isSlow = false;
  std::optional<BatchChoice> choice;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  RamDemand least;
};

} // namespace nnc

#endif // NNC_COMPILER_PLANNERS_BATCHPLANNER_H
