//===- MatMulForms.cpp - Transposes of operands as flags of a product -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Patterns.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// Folds a transpose that makes the last axis the last but one into the
/// transpose flags of the matrix product. If other axes move too, a transpose
/// that moves whole rows remains in front of the product.
struct TransposeIntoMatMul : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp matmul,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : matmul->getOpOperands()) {
      auto transpose = operand.get().getDefiningOp<TransposeOp>();
      if (!transpose)
        continue;
      SmallVector<int64_t> order(transpose.getPermutation());
      int64_t rank = order.size();
      if (order[rank - 2] != rank - 1)
        continue;
      std::swap(order[rank - 2], order[rank - 1]);
      bool isGone = llvm::is_sorted(order);
      if (!isGone && !transpose->hasOneUse())
        continue;
      Value rows = transpose.getX();
      if (!isGone)
        rows = rewriter.create<TransposeOp>(transpose.getLoc(), rows, order);
      rewriter.modifyOpInPlace(matmul, [&] {
        operand.set(rows);
        if (operand.getOperandNumber() == 0)
          matmul.setTransposeA(!matmul.getTransposeA());
        else
          matmul.setTransposeB(!matmul.getTransposeB());
      });
      return success();
    }
    return failure();
  }
};
} // namespace

void nnc::populateMatMulForms(RewritePatternSet &patterns) {
  patterns.add<TransposeIntoMatMul>(patterns.getContext());
}
