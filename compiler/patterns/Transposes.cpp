//===- Transposes.cpp - Transposes between layers of images ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Models with images in the order N, H, W, C have a transpose in front of each
// convolution and another one behind it. Elementwise ops between two
// transposes, such as those of a residual sum, are moved in front of the second
// one, so that the transposes cancel and the ops become part of a layer. A
// transpose behind a padding is moved in front of it, so that the padding
// becomes part of the convolution that reads it.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The largest number of users among which a transpose is searched that undoes
/// another one.
static constexpr int kMaxUsers = 64;

/// Returns true if elementwise ops lead from `value` to a transpose by
/// `permutation`. Of all users, at most `budget` are looked at.
static bool leadsToTranspose(Value value, ArrayRef<int64_t> permutation,
                             int &budget) {
  for (Operation *user : value.getUsers()) {
    if (--budget < 0)
      return false;
    auto transpose = dyn_cast<TransposeOp>(user);
    if (transpose && transpose.getPermutation() == permutation)
      return true;
    if (isa<ElementwiseOpInterface>(user) &&
        leadsToTranspose(user->getResult(0), permutation, budget))
      return true;
  }
  return false;
}

/// Returns the constant with its axes in the order before a transpose by
/// `permutation`, for broadcasting.
static Value transposeBack(PatternRewriter &rewriter, Value constant,
                           ArrayRef<int64_t> permutation) {
  RankedTensorType type = getTensorType(constant);
  size_t rank = permutation.size();
  if (type.getNumElements() == 1)
    return constant;
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  Value whole = rewriter.createOrFold<ReshapeOp>(
      constant.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      constant);
  return rewriter.create<TransposeOp>(constant.getLoc(), whole,
                                      invertPermutationVector(permutation));
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
    int budget = kMaxUsers;
    if (!first || !leadsToTranspose(
                      op->getResult(0),
                      invertPermutationVector(first.getPermutation()), budget))
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

/// Moves a transpose of a padded tensor in front of the padding.
struct HoistTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp transpose,
                                PatternRewriter &rewriter) const override {
    auto pad = transpose.getX().getDefiningOp<PadOp>();
    if (!pad || !pad->hasOneUse() || getLayout(pad.getY().getType()) ||
        getLayout(transpose.getY().getType()))
      return failure();
    ArrayRef<int64_t> permutation = transpose.getPermutation(),
                      pads = pad.getPads();
    SmallVector<int64_t> moved(pads);
    for (auto [to, from] : llvm::enumerate(permutation)) {
      moved[to] = pads[from];
      moved[to + permutation.size()] = pads[from + permutation.size()];
    }
    Value x = rewriter.create<TransposeOp>(transpose.getLoc(), pad.getX(),
                                           permutation);
    auto padded = cast<PadOp>(rewriter.clone(*pad));
    padded.getXMutable().assign(x);
    padded.setPads(moved);
    padded.getY().setType(transpose.getY().getType());
    rewriter.replaceOp(transpose, padded);
    return success();
  }
};
} // namespace

void nnc::populateTransposes(RewritePatternSet &patterns) {
  patterns.add<SinkTransposes, HoistTranspose>(patterns.getContext());
}
