//===- Transposes.cpp - Transposes behind elementwise ops -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Models whose images are N, H, W, C have a transpose in front of each
// convolution and another one behind it. Where elementwise ops stand between
// the two, such as those of a residual sum, these move in front of the second
// transpose, so that both cancel and the ops become part of a layer.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// So many elementwise ops may stand between two transposes.
static constexpr int kMaxDistance = 64;

static bool areInverse(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (b[a[i]] != static_cast<int64_t>(i))
      return false;
  return true;
}

/// Returns true if elementwise ops lead from `value` to a transpose that undoes
/// `permutation`.
static bool leadsToInverse(Value value, ArrayRef<int64_t> permutation,
                           int &budget) {
  for (Operation *user : value.getUsers()) {
    if (--budget < 0)
      return false;
    auto transpose = dyn_cast<TransposeOp>(user);
    if (transpose && areInverse(permutation, transpose.getPermutation()))
      return true;
    if (isa<ElementwiseOpInterface>(user) &&
        leadsToInverse(user->getResult(0), permutation, budget))
      return true;
  }
  return false;
}

/// Returns a constant that broadcasts to a tensor of `rank` axes with its axes
/// in the order before a transpose.
static Value transposeBack(PatternRewriter &rewriter, Value constant,
                           ArrayRef<int64_t> permutation) {
  RankedTensorType type = getTensorType(constant);
  size_t rank = permutation.size();
  if (type.getNumElements() == 1)
    return constant;
  SmallVector<int64_t> shape(rank - type.getRank(), 1), inverse(rank);
  llvm::append_range(shape, type.getShape());
  for (size_t i = 0; i < rank; ++i)
    inverse[permutation[i]] = static_cast<int64_t>(i);
  Value whole = rewriter.createOrFold<ReshapeOp>(
      constant.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      constant);
  return rewriter.create<TransposeOp>(constant.getLoc(), whole, inverse);
}

namespace {
/// Moves the transposes of an op's operands behind the op.
struct SinkTransposes : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!result || getLayout(result))
      return failure();
    TransposeOp first;
    for (Value operand : op->getOperands()) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      bool isConstant = operand.getDefiningOp<ConstantOp>() &&
                        getTensorType(operand).getRank() <= result.getRank();
      if (isConstant)
        continue;
      if (!transpose ||
          transpose.getY().getType().getShape() != result.getShape())
        return failure();
      if (first && first.getPermutation() != transpose.getPermutation())
        return failure();
      first = first ? first : transpose;
    }
    int budget = kMaxDistance;
    if (!first ||
        !leadsToInverse(op->getResult(0), first.getPermutation(), budget))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      operands.push_back(
          transpose ? Value(transpose.getX())
                    : transposeBack(rewriter, operand, first.getPermutation()));
    }
    RankedTensorType before = RankedTensorType::get(
        first.getX().getType().getShape(), result.getElementType());
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(before);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, moved->getResult(0),
                                             first.getPermutation());
    return success();
  }
};
} // namespace

void nnc::populateTransposes(RewritePatternSet &patterns) {
  patterns.add<SinkTransposes>(patterns.getContext());
}
