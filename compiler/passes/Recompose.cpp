//===- Recompose.cpp - Recognises ops that exporters take apart -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/FoldConstants.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/legalize/ApplyPatterns.h"

namespace nnc {
#define GEN_PASS_DEF_RECOMPOSE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct RecomposePass : nnc::impl::RecomposeBase<RecomposePass> {
  using RecomposeBase::RecomposeBase;
  void runOnOperation() override {
    if (failed(recomposeOps()) || failed(composeChains()))
      signalPassFailure();
  }

private:
  LogicalResult recomposeOps() {
    RewritePatternSet patterns(&getContext());
    nnc::populateActivations(patterns);
    nnc::populateNormalizations(patterns);
    nnc::populateProductShapes(patterns);
    nnc::populateHiddenRows(patterns);
    if (attention)
      nnc::populateAttention(patterns);
    nnc::populateFoldConstants(patterns);
    nnc::populateIdentities(patterns);
    return nnc::applyPatterns(getOperation(), std::move(patterns));
  }

  /// Composes chains of scales and shifts. This runs after the activations are
  /// recognised, because the + 3 of a hard-swish must not be merged with the
  /// bias before it. Factors that the recognised ops leave behind (x * clip(x +
  /// 3, 0, 6) is 6 * hard_swish(x)) are merged with the model's own constants
  /// here.
  LogicalResult composeChains() {
    RewritePatternSet patterns(&getContext());
    nnc::populateFoldConstants(patterns);
    nnc::populateIdentities(patterns);
    nnc::populateFoldAffine(patterns);
    nnc::populatePooling(patterns);
    return nnc::applyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
