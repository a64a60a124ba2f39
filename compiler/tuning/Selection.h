//===- Selection.h - What is worth measuring ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_SELECTION_H
#define NNC_COMPILER_TUNING_SELECTION_H

#include "compiler/tuning/WholePlans.h"

namespace nnc {

/// Share of a plan's time that no measurement is made for.
constexpr double negligibleShare = 0.0005;

/// Calls `visit` with everything that a measurement could tell of `function`,
/// each subject once.
void forEachJob(mlir::func::FuncOp function, const CostModel &cost,
                llvm::function_ref<void(Job)> visit);

struct Selection {
  llvm::SmallVector<Job, 0> jobs; ///< the most valuable first
  double planSeconds; ///< the cost of the plan that they could change
};

/// What is not measured and could change the plan that the costs give now: what
/// the plan itself consists of, and what would be in it if its cost were wrong
/// by a fifth, or a tenth where its routine is measured on the layer with other
/// params. A job is worth the time that the model spends on such layers, less
/// the further the candidate is behind and the more candidates are better or
/// known. What matters less than the negligible share is left out.
mlir::FailureOr<Selection> selectJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

/// What is not measured and matters to one of `plans`, each subject once.
llvm::SmallVector<Job, 0> selectPlansJobs(llvm::ArrayRef<WholePlan> plans);

/// What is not measured, whether it could change the plan or not, except what
/// is estimated to take many times as long as the best: what costs are judged
/// by. First comes what the plan consists of; then in turns a candidate of each
/// layer, in an order that depends on nothing but its name. So the first jobs
/// are a fair sample, however many there is time for.
mlir::FailureOr<Selection> sampleJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_SELECTION_H
