//===- BatchPlanner.h - A batch size for each part of a network -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The network is imported for the largest batch, and its layers are planned for
// each size that a part may take, which tells time and memory of each layer.
// Modules are made of the plans that follow from that (nnc-batch), the fastest
// first, until one keeps to the limit of memory. The list does not depend on
// the limit: if all fail, the least of their memory is the least that any limit
// allows.
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

/// The numbers of samples that a run may take.
struct BatchRange {
  int64_t low = 1, high = 1;
};

/// A part of a network and how many samples it takes at a time.
struct BatchPart {
  int64_t size = 1;
  std::vector<std::string> layers; ///< by their names
};

/// The batch sizes of a module, with what they are compared with.
struct BatchChoice {
  BatchPlan plan; ///< its bytes are those that the module takes
  std::vector<BatchPart> parts;
  /// The best batch that all layers take at once, within the same limits; null
  /// if there is none.
  std::optional<BatchPlan> fixed;
};

/// The limits of a plan of batch sizes.
struct BatchLimits {
  BatchRange counts;
  std::optional<int64_t> maxRam;
  double maxSeconds = std::numeric_limits<double>::infinity();
};

class BatchPlanner {
public:
  enum class Outcome {
    found,
    failed, ///< passes, which have reported why
    slow,   ///< no plan keeps to the limit of time
    large   ///< no plan keeps to the limits of memory
  };

  /// `formed` has layers without routines, for the largest batch.
  BatchPlanner(mlir::ModuleOp formed, BatchLimits limits,
               PipelineOptions options, PassRunner run)
      : formed(formed), limits(limits), options(std::move(options)),
        run(std::move(run)) {}

  /// Looks for the plan that takes the least time for a sample. Finds
  /// BatchChoice::fixed only where it `compares`.
  Outcome choose(bool compares);

  /// Returns the result of choose(): the plan, the program that it makes, the
  /// pass that divides the batch, and the options of the passes around that.
  const BatchChoice &getChoice() const { return *choice; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  std::unique_ptr<mlir::Pass> createPass() const;
  const PipelineOptions &getOptions() const { return options; }

  /// The module that takes the fewest bytes, if all are too large.
  const RamDemand &getLeast() const { return least; }
  /// The least time of a run without limits.
  double getLeastSeconds() const;

private:
  /// Looks for a plan whose routines keep to `ram` bytes where they can. There
  /// is no choice afterwards if none fits.
  mlir::LogicalResult plan(int64_t ram, bool compares);
  /// Finds what the layers take at each batch size.
  mlir::LogicalResult findProfiles();
  /// Sets `best` to the fastest plan whose module keeps to the limits of
  /// memory, and makes `module` that one. If none does, `best` is null, and
  /// `demand` what the module takes that takes the fewest bytes.
  mlir::LogicalResult fit(std::vector<BatchPlan> plans,
                          std::optional<BatchPlan> &best, RamDemand &demand);
  /// Makes `module` what a plan makes of the layers.
  mlir::LogicalResult apply(const BatchPlan &plan);
  /// Runs nnc-batch: the network as a whole for `count` samples without
  /// segments, else these.
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
