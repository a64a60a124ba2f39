//===- BatchProfile.h - What a network takes at a batch size ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_BATCHPROFILE_H
#define NNC_COMPILER_PASSES_BATCHPROFILE_H

#include "compiler/passes/BatchSamples.h"
#include "compiler/routines/Cost.h"
#include "compiler/search/Batching.h"

namespace nnc {

/// Numbers the ops of a function, in order, in kBatchOpAttr; constants do not
/// count.
void numberOps(mlir::func::FuncOp function);
void forgetNumbers(mlir::func::FuncOp function);

/// Returns what the function, a numbered one with `ops` ops that takes `size`
/// samples and whose layers have routines, takes.
BatchProfile readBatchProfile(mlir::func::FuncOp function, int64_t size,
                              size_t ops, const CostModel &cost);

/// Returns, for each op of a function of layers and for its end, what it takes
/// to divide the function there.
std::vector<BatchCut> findBatchCuts(mlir::func::FuncOp function,
                                    const BatchSamples &samples,
                                    const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_BATCHPROFILE_H
