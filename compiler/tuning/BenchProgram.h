//===- BenchProgram.h - A program that measures candidates ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Codegen prints this program as it prints models. Each candidate is a call
// with a constant shape, and the runner times every call. Since times depend on
// the contents of the caches, each call finds its input just written, as by the
// preceding layer, and its weights as far from the core as in the model, which
// reads all its other weights in between.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_BENCHPROGRAM_H
#define NNC_COMPILER_TUNING_BENCHPROGRAM_H

#include "compiler/routines/Candidates.h"

#include "mlir/IR/OwningOpRef.h"

namespace nnc {

/// A measurement to be made: the time of a layer computed by one of its
/// candidates or, if `layer` is null, the time of an adapt.
struct Job {
  nn::LayerOp layer;
  Candidate candidate;
  Subject subject;
};

/// Returns the job that measures the adapt from type `from` to type `to` with
/// the routine of `adapt`.
Job makeAdaptJob(mlir::RankedTensorType from, mlir::RankedTensorType to,
                 const AdaptCost &adapt);
Job makeLayerJob(nn::LayerOp layer, Candidate candidate);

struct BenchProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The half-open range of each job's calls, as indices among all calls and
  /// copies of the program.
  llvm::SmallVector<std::pair<int, int>> calls;
};

/// Builds the program that measures `jobs`, which may be in any order, for a
/// model with `weightBytes` bytes of weights, run by up to `threads` threads.
mlir::FailureOr<BenchProgram> buildBenchProgram(llvm::ArrayRef<Job> jobs,
                                                target::MachineAttr machine,
                                                int64_t weightBytes,
                                                int threads);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_BENCHPROGRAM_H
