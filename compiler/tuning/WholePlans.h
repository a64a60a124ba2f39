//===- WholePlans.h - Plans to be measured as a whole ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_WHOLEPLANS_H
#define NNC_COMPILER_TUNING_WHOLEPLANS_H

#include "compiler/tuning/BenchProgram.h"

namespace nnc {

/// A plan for a whole model: a candidate for each of its layers.
struct WholePlan {
  std::vector<Subject> choices;   ///< see PlanGraph::getChoices()
  llvm::SmallVector<Job, 0> jobs; ///< one for each distinct layer
  double seconds = 0;             ///< its cost in the search
  bool untuned = false;           ///< whether it is based on estimates only
};

/// Returns up to `count` different plans that are worth measuring as a whole,
/// because layers take other times in a network than alone (SoftNeuro section
/// III, integrated profiling). The first plan is the cheapest, and the second
/// is the cheapest by estimates alone; both are returned even if `count` is
/// smaller. Each further plan is the cheapest one after the measured times of
/// the layers of all preceding plans have been raised by 5 % each, provided
/// that its real cost is at most 10 % above that of the first plan.
mlir::FailureOr<llvm::SmallVector<WholePlan, 0>>
findWholePlans(mlir::func::FuncOp function, target::MachineAttr machine,
               const Measurements &known, double maxError, size_t count,
               CandidateMemo *memo = nullptr, const LayerForms *forms = nullptr,
               const WeightRules &rules = {});

} // namespace nnc

#endif // NNC_COMPILER_TUNING_WHOLEPLANS_H
