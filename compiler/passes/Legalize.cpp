//===- Legalize.cpp - Ops in the forms that routines take -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/EmptyTensors.h"
#include "compiler/patterns/FoldConstants.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/nn/legalize/LegalForms.h"
#include "dialects/nn/tensors/Empty.h"

namespace nnc {
#define GEN_PASS_DEF_LEGALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct LegalizePass : nnc::impl::LegalizeBase<LegalizePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    nnc::populateEmptyTensors(patterns);
    nnc::populateLegalForms(patterns);
    nnc::populateMatMulForms(patterns);
    nnc::populateSubPixels(patterns);
    // Removes transposes between convolutions over three axes, whose slices lie
    // along the first axis.
    nnc::populateTransposes(patterns);
    // The rewrites create ops on constants, which are folded here.
    nnc::populateFoldConstants(patterns);
    if (failed(nnc::applyPatterns(getOperation(), std::move(patterns))) ||
        failed(checkOperands()))
      signalPassFailure();
  }

  /// Reports an error for operands without elements, which no routine reads.
  LogicalResult checkOperands() {
    LogicalResult result = success();
    getOperation().walk([&](Operation *op) {
      if (!nnc::nn::readsNothing(op))
        return;
      result = op->emitOpError("has a result of ")
               << op->getResult(0).getType()
               << ", but an operand without elements to compute it from, and "
                  "the operator does not say what it is then; remove the axis "
                  "of size 0 from the operand";
    });
    return result;
  }
};
} // namespace
