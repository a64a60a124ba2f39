//===- Selection.h - What is worth measuring ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_SELECTION_H
#define NNC_COMPILER_TUNING_SELECTION_H

#include "compiler/tuning/BenchProgram.h"

namespace nnc {

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
/// by a fifth; by a tenth where its routine is measured on the layer with other
/// params; by a thirtieth where the same call is on a layer alike. A job is
/// worth what a plan gains by it on average, in all layers alike, of which one
/// is measured; less the more candidates are better or known. What gains less
/// than a five-thousandth of the whole is left out.
mlir::FailureOr<Selection> selectJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

/// How many layers `other` has that `function` has not, or has in another form.
size_t countOtherLayers(mlir::func::FuncOp other, mlir::func::FuncOp function);

/// What is not measured and could compute such layers: the cheapest candidates
/// of each, whose cost decides which of the two forms the model gets.
llvm::SmallVector<Job, 0> selectOtherJobs(mlir::func::FuncOp other,
                                          mlir::func::FuncOp function,
                                          const CostModel &cost,
                                          double maxError);

/// What is not measured, whether it could change the plan or not, except what
/// is estimated to take many times as long as the best: what costs are judged
/// by. First comes what the plan consists of; then in turns a candidate of each
/// layer, in an order that depends on nothing but its name. So the first jobs
/// are a fair sample, however many there is time for.
mlir::FailureOr<Selection> sampleJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_SELECTION_H
