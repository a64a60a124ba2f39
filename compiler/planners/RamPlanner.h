//===- RamPlanner.h - A program within limits of memory ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A network whose program takes more memory than there is gets routines that
// take less of it, which bounds of nnc-choose-routines ask for. Where these do
// not suffice, its first layers are computed in strips (StripPlanner.h).
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

/// The search for a program that keeps to limits of memory: plan() first, then
/// fit() where that program does not fit.
class RamPlanner {
public:
  enum class Outcome {
    found,
    failed, ///< passes, which have reported why
    large   ///< no program keeps to the limits of memory
  };

  /// `network` is a module before any pass on its ops, at one size or at
  /// several (nn.sample), with its memories (nnc-set-constraints). The arena,
  /// inputs, outputs and state may take `maxRam` bytes in all, if there is a
  /// limit. `options` are those of the passes, which `run` runs.
  RamPlanner(mlir::OwningOpRef<mlir::ModuleOp> network,
             std::optional<int64_t> maxRam, PipelineOptions options,
             PassRunner run);

  /// Makes the program of the network, whatever memory it takes.
  mlir::LogicalResult plan();
  /// Whether the program keeps to the limits of memory.
  bool fits() const { return demand.fits(limit); }
  /// Makes another program, which fits, of the network for which plan() has
  /// made one that does not. There is no program where that fails.
  Outcome fit();

  /// The program, and the options of the passes that have made it.
  mlir::ModuleOp getModule() { return *module; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  const PipelineOptions &getOptions() const { return options; }
  /// The strips that it has; null for none.
  const std::optional<StripChoice> &getStrips() const { return strips; }

  /// The memory of the program without strips that takes the fewest bytes, if
  /// none fits.
  const RamDemand &getLeast() const { return least; }
  /// The smallest number of bytes that a program with strips took, if none fits
  /// and that is less.
  std::optional<int64_t> getLeastInStrips() const { return leastInStrips; }

private:
  /// Makes the program of a copy of the network with routines that keep to
  /// `ram` bytes where they can.
  mlir::LogicalResult planWithin(int64_t ram);
  /// Runs the passes on `module`.
  mlir::LogicalResult runPasses();
  /// Looks for routines with which the program fits. Sets `least`.
  mlir::LogicalResult fitRoutines();
  /// Looks for faster routines that make use of all bytes of the limit where
  /// those for `ram` bytes, which the program has, fit.
  mlir::LogicalResult useRest(int64_t ram);
  /// Looks for strips with which the program fits.
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
