//===- StripPlanner.h - The first layers of a network in strips -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A region at the beginning of a network may be computed in strips of its
// result (nnc-patch), each from the rows that it needs. The values inside then
// take less memory, and rows that two strips need are computed twice. Modules
// are planned for several regions and heights, as only the plan tells what one
// takes.
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

/// A region of a network and the number of its strips: the options of
/// nnc-patch.
struct StripChoice {
  StripRegion region;
  int64_t strips = 1;
};

/// Adds the pass that cuts the strips.
void addStrips(mlir::OpPassManager &manager, const StripChoice &choice);

/// The search for strips with which a network fits into limits of memory.
class StripPlanner {
public:
  /// `network` is a module before any pass on its ops. `options` are those of
  /// the passes behind it.
  StripPlanner(mlir::ModuleOp network, PipelineOptions options)
      : network(network), options(std::move(options)) {}

  /// Looks for strips with which the module fits into its memories, takes at
  /// most `limit` bytes in all, and is estimated to run the fastest. Where no
  /// strips fit with the routines of the options, looks for some with those
  /// that take the least memory. `whole` is the bytes that the module takes
  /// without strips. Returns whether there are such strips.
  bool choose(int64_t limit, int64_t whole);

  /// The result of choose().
  const StripChoice &getChoice() const { return best->choice; }
  /// The network with these strips, before the other passes.
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() {
    return std::move(best->module);
  }
  /// The options of the passes behind nnc-patch with which they fit.
  const PipelineOptions &getOptions() const { return options; }
  /// The fewest bytes that a module with strips or the whole one took.
  int64_t getLeast() const { return least; }

private:
  struct Plan {
    StripChoice choice;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    RamDemand demand;
    double seconds = 0; ///< of a run, estimated
  };

  /// Compiles a copy of the network in which a region is computed in strips of
  /// `height` rows of its result; null where the region cannot be cut so.
  std::optional<Plan> plan(const StripRegion &region, int64_t height);
  /// Looks for the highest strips of the region that fit, which compute the
  /// fewest rows twice. Low strips take little memory each, but there are many
  /// of them. Keeps the best plan.
  void search(const StripRegion &region, int64_t limit);

  mlir::ModuleOp network;
  PipelineOptions options;
  std::optional<Plan> best;
  int64_t least = std::numeric_limits<int64_t>::max();
};

} // namespace nnc

#endif // NNC_COMPILER_PLANNERS_STRIPPLANNER_H
