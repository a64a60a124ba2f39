//===- Selection.h - Selection of what to measure -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_SELECTION_H
#define NNC_COMPILER_TUNING_SELECTION_H

#include "compiler/tuning/BenchProgram.h"

namespace nnc {

/// Calls `visit` with the job of every measurement that could be made for
/// `function`: all candidates of all layers and all adapts between their
/// layouts. Each subject is visited once.
void forEachJob(mlir::func::FuncOp function, const CostModel &cost,
                llvm::function_ref<void(Job)> visit);

struct Selection {
  llvm::SmallVector<Job, 0> jobs; ///< in descending order of value
  double planSeconds;             ///< cost of the present plan in seconds
};

/// Selects the jobs that are not measured yet and could change the plan that
/// follows from the present costs: the adapts of the plan, and the candidates
/// that would be in the plan if their cost were a little lower. How much lower
/// depends on what is known of a candidate; see the constants in Selection.cpp.
/// The value of a job is the time that the plan gains from it on average,
/// summed over all similar layers, of which one is measured; it falls with the
/// number of better or measured candidates of the layer. Jobs with a negligible
/// gain are left out.
mlir::FailureOr<Selection> selectJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

/// Returns the number of layers of `other` that `function` does not have or has
/// with another anchor.
size_t countOtherLayers(mlir::func::FuncOp other, mlir::func::FuncOp function);

/// Selects the unmeasured jobs among the cheapest candidates of the layers that
/// countOtherLayers counts. Their costs decide which of the two forms the model
/// gets.
llvm::SmallVector<Job, 0> selectOtherJobs(mlir::func::FuncOp other,
                                          mlir::func::FuncOp function,
                                          const CostModel &cost,
                                          double maxError);

/// Selects all jobs that are not measured yet, whether or not they could change
/// the plan, as a sample to judge the cost model by. Candidates whose estimate
/// is many times that of the best are left out. The adapts of the plan and its
/// candidates come first, followed by one candidate of each layer in turn, in
/// an order given by a hash of their names. The first jobs are therefore a fair
/// sample, however many there is time for.
mlir::FailureOr<Selection> sampleJobs(mlir::func::FuncOp function,
                                      const CostModel &cost, double maxError);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_SELECTION_H
