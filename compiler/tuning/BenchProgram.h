//===- BenchProgram.h - A program that runs candidates for their times ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The program is one that codegen prints as it prints models: each candidate is
// a call with its shape as constants, and whoever runs it takes the time of
// every call. What matters beside the code is what the caches hold: each call
// finds its input just written, as behind another layer, and its weights as far
// away as they are in the model, where all other weights are read in between.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_BENCHPROGRAM_H
#define NNC_COMPILER_TUNING_BENCHPROGRAM_H

#include "compiler/routines/Candidates.h"

#include "mlir/IR/OwningOpRef.h"

namespace nnc {

/// Something to be measured: how long a layer takes by a candidate of its, or
/// without a layer, how long an adapt takes.
struct Job {
  nn::LayerOp layer;
  Candidate candidate;
  Subject subject;
};

/// The job of an adapt between these types, that `adapt` computes.
Job makeAdaptJob(mlir::RankedTensorType from, mlir::RankedTensorType to,
                 const AdaptCost &adapt);
Job makeLayerJob(nn::LayerOp layer, Candidate candidate);

struct BenchProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The calls of each job: first and one behind the last of the program's
  /// calls and copies, counted together.
  llvm::SmallVector<std::pair<int, int>> calls;
};

/// A program for `jobs`, in any order, of a model with `weightBytes` of
/// weights, for up to `threads` threads.
mlir::FailureOr<BenchProgram> buildBenchProgram(llvm::ArrayRef<Job> jobs,
                                                target::MachineAttr machine,
                                                int64_t weightBytes,
                                                int threads);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_BENCHPROGRAM_H
