//===- EmptyTensors.cpp - Folds tensors without elements ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Routines divide their work by the sizes of axes, and reductions read a first
// element. Therefore no routine is called on tensors without elements: such
// tensors become constants, and so do the results of ops that read no elements.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/EmptyTensors.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/Empty.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The benefit of these patterns, which come before all others because most
/// patterns assume that tensors have elements.
static constexpr unsigned kFirst = 100;

namespace {
/// Replaces an op whose result has no elements by a constant.
struct EmptyResultToConstant : RewritePattern {
  EmptyResultToConstant(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), kFirst, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<NnDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::ConstantLike>() || op->getNumResults() != 1 ||
        !isa<func::FuncOp>(op->getParentOp()) || !isEmpty(op->getResult(0)))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (getLayout(type))
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, DenseElementsAttr::getFromRawBuffer(type, {}));
    return success();
  }
};

/// Replaces an op that reads no elements, so that all elements of its result
/// are equal, by a constant.
struct EmptyOperandToConstant : OpInterfaceRewritePattern<RoutineOpInterface> {
  EmptyOperandToConstant(MLIRContext *context)
      : OpInterfaceRewritePattern(context, kFirst) {}
  LogicalResult matchAndRewrite(RoutineOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!isa<func::FuncOp>(op->getParentOp()) || !readsNothing(op))
      return failure();
    TypedAttr value = getEmptyResult(op);
    if (!value)
      return rewriter.notifyMatchFailure(op, "has no result of no elements");
    auto type = getTensorType(op->getResult(0));
    auto number = RankedTensorType::get({}, type.getElementType());
    Value constant = rewriter.create<ConstantOp>(
        op->getLoc(), DenseElementsAttr::get(number, Attribute(value)));
    rewriter.replaceOpWithNewOp<ExpandOp>(op, type, constant);
    return success();
  }
};
} // namespace

void nnc::populateEmptyTensors(RewritePatternSet &patterns) {
  patterns.add<EmptyResultToConstant, EmptyOperandToConstant>(
      patterns.getContext());
}
