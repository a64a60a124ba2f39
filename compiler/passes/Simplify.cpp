//===- Simplify.cpp - Canonicalise, fold constants, drop dead code --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/EmptyTensors.h"
#include "compiler/patterns/FoldConstants.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/legalize/ApplyPatterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace nnc {
#define GEN_PASS_DEF_SIMPLIFY
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct SimplifyPass : nnc::impl::SimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    // Equal values are merged first, since rewrites ask whether a value has one
    // use.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    RewritePatternSet patterns(&getContext());
    for (RegisteredOperationName op : getContext().getRegisteredOperations())
      op.getCanonicalizationPatterns(patterns, &getContext());
    nnc::populateEmptyTensors(patterns);
    nnc::populateFoldConstants(patterns);
    nnc::populateIdentities(patterns);
    nnc::populateTransposes(patterns);
    // Variances come before means are turned into poolings.
    nnc::populateVariances(patterns);
    nnc::populateFoldBatchNorm(patterns);
    if (failed(nnc::applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
