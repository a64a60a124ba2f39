//===- QnnCanonicalize.cpp - Quantized ops become nn ops ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/qnn/Qnn.h"

namespace nnc {
#define GEN_PASS_DEF_QNNCANONICALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
/// Lowers a quantized op through its interface. The reinterpretations between
/// neighbouring lowered ops fold away.
struct LowerQuantizedOp
    : OpInterfaceRewritePattern<nnc::qnn::LoweringOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(nnc::qnn::LoweringOpInterface op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.lower(rewriter));
    return success();
  }
};

struct QnnCanonicalizePass
    : nnc::impl::QnnCanonicalizeBase<QnnCanonicalizePass> {
  void runOnOperation() override {
    // Folders run first, alone, since they match ops that the lowering would
    // decompose.
    RewritePatternSet none(&getContext()), patterns(&getContext());
    patterns.add<LowerQuantizedOp>(&getContext());
    if (failed(nnc::applyPatterns(getOperation(), std::move(none))) ||
        failed(nnc::applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](nnc::qnn::ReinterpretOp op) {
      op.emitOpError("is left over: what stands on its other side has no "
                     "integer form, or is an argument or result of the "
                     "function; reinterpret it there");
      signalPassFailure();
    });
  }
};
} // namespace
