//===- BatchProfile.h - Time and memory at a batch size ---------*- C++ -*-===//
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

/// Sets kBatchOpAttr of each op of a function, except for constants, to its
/// position among these ops.
void numberOps(mlir::func::FuncOp function);
void forgetNumbers(mlir::func::FuncOp function);

/// Returns the time and the memory of each op of `function` on `size` samples.
/// The function has routines; numberOps() numbered its `ops` ops before the
/// passes that added others.
BatchProfile readBatchProfile(mlir::func::FuncOp function, int64_t size,
                              size_t ops, const CostModel &cost);

/// Returns the cost of dividing a function of layers in front of each of its
/// ops, and at its end.
std::vector<BatchCut> findBatchCuts(mlir::func::FuncOp function,
                                    const BatchSamples &samples,
                                    const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_BATCHPROFILE_H
