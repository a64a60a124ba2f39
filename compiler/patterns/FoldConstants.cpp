//===- FoldConstants.cpp - Ops on constants become constants --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/FoldConstants.h"

#include "dialects/evaluate/Evaluate.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The size in bytes up to which a folded constant is always allowed. A larger
/// one may not have more elements than its operands together, so that folding
/// never makes a model larger (by an expand of one value or an outer product).
static constexpr int64_t kFreeBytes = 1 << 16;

/// The largest number of operations of an op that is folded, which take the
/// slow portable routines a second or two. The model computes larger ops at run
/// time.
static constexpr int64_t kMostWork = 1 << 30;

bool nnc::isWorthFolding(Operation *op) {
  RankedTensorType type = getTensorType(op->getResult(0));
  if (getPhysicalBytes(getLogicalType(type)) <= kFreeBytes)
    return true;
  int64_t elements = 0;
  for (Type operand : op->getOperandTypes())
    elements += cast<RankedTensorType>(operand).getNumElements();
  if (type.getNumElements() > elements)
    return false;
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return true;
  Work work = cost.getWork();
  return work.multiplyAdds + work.operations <= kMostWork;
}

namespace {
/// Replaces any op on constants that the reference can evaluate. Views of
/// constants are not folded here: their folders share the memory of the
/// constant.
struct FoldConstantOperands : RewritePattern {
  FoldConstantOperands(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<NnDialect>(op->getDialect()) ||
        op->getNumOperands() == 0 || op->getNumResults() != 1 ||
        isa<ReshapeOp, AdaptOp>(op) || op->hasAttr(kVariesAttr) ||
        !isa<func::FuncOp>(op->getParentOp()))
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !llvm::all_of(op->getOperands(), [](Value operand) {
          return operand.getDefiningOp<ConstantOp>();
        }))
      return failure();
    if (!isWorthFolding(op))
      return rewriter.notifyMatchFailure(op, "the constant would be too large");
    SmallVector<TensorData> operands;
    for (Value operand : op->getOperands()) {
      std::optional<TensorData> data = TensorData::get(operand);
      if (!data)
        return rewriter.notifyMatchFailure(op, "an operand has no bytes");
      operands.push_back(*data);
    }
    FailureOr<TensorData> result = evaluate(op, operands);
    if (failed(result))
      return rewriter.notifyMatchFailure(op, "no reference for these types");
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, type, result->toAttribute(getModelName(op->getLoc(), "folded")));
    return success();
  }
};
} // namespace

void nnc::populateFoldConstants(RewritePatternSet &patterns) {
  patterns.add<FoldConstantOperands>(patterns.getContext());
}
