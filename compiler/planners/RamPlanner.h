//===- RamPlanner.h - A program within limits of memory ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// If the program of a network takes more memory than there is, the network gets
// routines that take less, by means of the option `max-ram` of
// nnc-choose-routines. If that does not suffice, its first layers are computed
// in strips (StripPlanner.h).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PLANNERS_RAMPLANNER_H
#define NNC_COMPILER_PLANNERS_RAMPLANNER_H

#include "compiler/memory/RamDemand.h"
#include "compiler/pipelines/Pipeline.h"
#include "compiler/planners/StripPlanner.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <optional>

namespace nnc {

/// A search for a program that keeps to the limits of memory. Call plan()
/// first, and fit() if the program of plan() does not fit.
class RamPlanner {
public:
  enum class Outcome {
    found,
    failed, ///< A pass failed and has reported an error.
    large   ///< no program keeps to the limits of memory
  };

  /// `network` is an imported module, at one size or at several (nn.sample),
  /// whose memories nnc-set-constraints has recorded. The arena, inputs,
  /// outputs and state may take `maxRam` bytes in all; nullopt means no limit.
  /// `options` are those of the passes, which `run` runs.
  RamPlanner(mlir::OwningOpRef<mlir::ModuleOp> network,
             std::optional<int64_t> maxRam, PipelineOptions options,
             PassRunner run);

  /// Builds the fastest program of the network, without regard to memory.
  mlir::LogicalResult plan();
  /// Returns true if the program keeps to the limits of memory.
  bool fits() const { return demand.fits(limit); }
  /// Searches for another program of the network that fits. There is no valid
  /// program unless the outcome is Outcome::found.
  Outcome fit();

  /// Return the program, and the options of the passes that built it.
  mlir::ModuleOp getModule() { return *module; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  const PipelineOptions &getOptions() const { return options; }
  /// Returns the strips of the program; nullopt if it has none.
  const std::optional<StripChoice> &getStrips() const { return strips; }

  /// Returns the memory of the smallest program without strips. Valid only if
  /// no program fits.
  const RamDemand &getLeast() const { return least; }
  /// Returns the bytes of the smallest program with strips. Nullopt if a
  /// program fits, or if that is no less than without strips.
  std::optional<int64_t> getLeastInStrips() const { return leastInStrips; }

private:
  /// Builds the program of a copy of the network with routines that keep to
  /// `ram` bytes where they can.
  mlir::LogicalResult planWithin(int64_t ram);
  /// Runs the passes on `module`.
  mlir::LogicalResult runPasses();
  /// Searches for routines with which the program fits. Sets `least`.
  mlir::LogicalResult fitRoutines();
  /// Replaces the program, whose routines were chosen for `ram` bytes, by one
  /// whose routines may use all bytes of the limit, if that one fits, too.
  mlir::LogicalResult useRest(int64_t ram);
  /// Searches for strips with which the program fits.
  mlir::LogicalResult cutStrips();

  mlir::OwningOpRef<mlir::ModuleOp> network, module;
  int64_t limit;
  bool isSampled; ///< whether the network is at several sizes
  PipelineOptions options;
  PassRunner run;
  RamDemand demand, least;
  std::optional<StripChoice> strips;
  std::optional<int64_t> leastInStrips;
};

} // namespace nnc

#endif // NNC_COMPILER_PLANNERS_RAMPLANNER_H
