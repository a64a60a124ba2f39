//===- StripPlanner.h - The first layers of a network in strips -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The layers of a region at the beginning of a network can be computed strip by
// strip (nnc-patch): each strip of the region's result is computed from the
// rows that it needs. The values inside the region then take less memory, but
// rows that two strips need are computed twice. Modules are built for several
// regions and heights, as the memory of a module is known only when it is
// planned.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PLANNERS_STRIPPLANNER_H
#define NNC_COMPILER_PLANNERS_STRIPPLANNER_H

#include "compiler/memory/RamDemand.h"
#include "compiler/passes/Strips.h"
#include "compiler/pipelines/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>
#include <optional>

namespace nnc {

/// A region of a network and the number of its strips, which are the options of
/// nnc-patch.
struct StripChoice {
  StripRegion region;
  int64_t strips = 1;
};

/// Adds the pass nnc-patch, which cuts the strips.
void addStrips(mlir::OpPassManager &manager, const StripChoice &choice);

/// A search for strips with which a network keeps to its limits of memory.
class StripPlanner {
public:
  /// `network` is an imported module. `options` are those of the passes that
  /// follow nnc-patch.
  StripPlanner(mlir::ModuleOp network, PipelineOptions options)
      : network(network), options(std::move(options)) {}

  /// Searches for strips with which the module fits into its memories and takes
  /// at most `limit` bytes in all; of these it chooses those with the least
  /// estimated time. If there are none with the routines of the options, it
  /// tries those with the least memory. `whole` is the number of bytes of the
  /// module without strips. Returns true if there are such strips.
  bool choose(int64_t limit, int64_t whole);

  /// Returns the strips that choose() has found.
  const StripChoice &getChoice() const { return best->choice; }
  /// Returns the network with these strips, before the other passes.
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() {
    return std::move(best->module);
  }
  /// Returns the options of the passes after nnc-patch with which the module
  /// fits.
  const PipelineOptions &getOptions() const { return options; }
  /// Returns the bytes of the smallest module that was planned, with or without
  /// strips.
  int64_t getLeast() const { return least; }

private:
  struct Plan {
    StripChoice choice;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    RamDemand demand;
    double seconds = 0; ///< estimated time of a run
  };

  /// Compiles a copy of the network in which `region` is computed in strips of
  /// `height` rows of its result. Returns nullopt if the region cannot be cut
  /// like that.
  std::optional<Plan> plan(const StripRegion &region, int64_t height);
  /// Searches for the highest strips of the region that fit, since these
  /// compute the fewest rows twice. Low strips take little memory each, but
  /// there are many of them. Keeps the fastest plan in `best`.
  void search(const StripRegion &region, int64_t limit);

  mlir::ModuleOp network;
  PipelineOptions options;
  std::optional<Plan> best;
  int64_t least = std::numeric_limits<int64_t>::max();
};

} // namespace nnc

#endif // NNC_COMPILER_PLANNERS_STRIPPLANNER_H
