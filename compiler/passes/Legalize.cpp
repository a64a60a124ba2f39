//===- Legalize.cpp - Ops in the forms that routines take -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/evaluate/FoldConstants.h"
#include "compiler/passes/Passes.h"
#include "compiler/patterns/Patterns.h"

namespace nnc {
#define GEN_PASS_DEF_LEGALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct LegalizePass : nnc::impl::LegalizeBase<LegalizePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    nnc::populateLegalForms(patterns);
    nnc::populateMatMulForms(patterns);
    nnc::populateSubPixels(patterns);
    // What the rewrites make of constants is constant too.
    nnc::populateFoldConstants(patterns);
    if (failed(nnc::applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
