//===- WholePlans.h - Plans that are worth running whole ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_WHOLEPLANS_H
#define NNC_COMPILER_TUNING_WHOLEPLANS_H

#include "compiler/tuning/BenchProgram.h"

namespace nnc {

/// What could compute a model.
struct WholePlan {
  std::vector<Subject> choices;   ///< as PlanGraph::getChoices() says them
  llvm::SmallVector<Job, 0> jobs; ///< its layers', those that are alike once
  double seconds = 0;             ///< by the costs of its layers
  bool untuned = false;           ///< what is chosen where nothing is measured
};

/// At most `count` plans that differ, two at least if there are: layers take
/// other times in a network than alone, so that these are worth running whole
/// (SoftNeuro section III, integrated profiling). First the cheapest, then the
/// one that estimates alone find, then each the cheapest where what the ones
/// before consist of takes a twentieth longer, if it is no tenth dearer.
mlir::FailureOr<llvm::SmallVector<WholePlan, 0>>
findWholePlans(mlir::func::FuncOp function, target::MachineAttr machine,
               const Measurements &known, double maxError, size_t count,
               CandidateMemo *memo = nullptr);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_WHOLEPLANS_H
