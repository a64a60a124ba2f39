//===- FoldedOps.cpp - Ops on constants, at several sizes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/FoldedOps.h"

#include "compiler/sizes/Constants.h"
#include "compiler/sizes/Progressions.h"
#include "dialects/evaluate/Evaluate.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/Resource.h"
#include "dialects/nn/tensors/TensorData.h"

using namespace mlir;
using namespace nnc;

/// Returns true if all operands of an op are constants.
static bool isOnConstants(Operation *op) {
  return op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return operand.getDefiningOp<nn::ConstantOp>() != nullptr;
         });
}

/// Returns true if corresponding ops on constants have results that depend on
/// the sizes.
static bool dependsOnSizes(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops.drop_front(), [&](Operation *op) {
    if (op->getResultTypes() != ops[0]->getResultTypes() ||
        op->getAttrDictionary() != ops[0]->getAttrDictionary())
      return true;
    for (auto [a, b] :
         llvm::zip_equal(op->getOperands(), ops[0]->getOperands())) {
      auto x = TensorData::get(a), y = TensorData::get(b);
      if (!x || !y || x->getBytes() != y->getBytes())
        return true;
    }
    return false;
  });
}

/// Returns the result of an op on constants as a constant in front of it; null
/// if nothing evaluates the op.
static nn::ConstantOp evaluateOp(Operation *op) {
  SmallVector<TensorData> operands;
  for (Value operand : op->getOperands()) {
    auto data = TensorData::get(operand);
    if (!data)
      return {};
    operands.push_back(std::move(*data));
  }
  FailureOr<TensorData> result = evaluate(op, operands);
  if (failed(result))
    return {};
  OpBuilder builder(op);
  return builder.create<nn::ConstantOp>(
      op->getLoc(),
      result->toAttribute(nn::getModelName(op->getLoc(), "folded")));
}

static void eraseConstant(nn::ConstantOp op) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  op.erase();
  if (resource)
    nn::freeResource(resource);
}

static bool isFoldable(Operation *op) {
  return op->getNumResults() == 1 && !op->hasAttr(nn::kVariesAttr) &&
         isa<nn::NnDialect>(op->getDialect()) && !isa<nn::ConstantOp>(op);
}

/// Replaces operands of corresponding ops by constants, as far as they are
/// computed from constants in a few steps.
static void foldOperands(ArrayRef<Operation *> ops,
                         llvm::function_ref<bool(Operation *)> isFolded,
                         int depth = 0) {
  constexpr int kMostSteps = 4;
  for (unsigned i = 0; i < ops[0]->getNumOperands(); ++i) {
    SmallVector<Operation *> sources;
    for (Operation *op : ops)
      if (Operation *source = op->getOperand(i).getDefiningOp();
          source && isFoldable(source) && isFolded(source))
        sources.push_back(source);
    if (sources.size() < ops.size())
      continue;
    if (depth < kMostSteps)
      foldOperands(sources, isFolded, depth + 1);
    if (!llvm::all_of(sources, isOnConstants) || dependsOnSizes(sources))
      continue;
    for (auto [op, source] : llvm::zip_equal(ops, sources))
      if (auto constant = evaluateOp(source))
        op->setOperand(i, constant.getResult());
  }
}

/// Returns true if the ops were replaced by constants.
static bool foldOps(ArrayRef<Operation *> ops) {
  SmallVector<nn::ConstantOp> constants;
  for (Operation *op : ops)
    if (auto constant = evaluateOp(op))
      constants.push_back(constant);
  if (constants.size() < ops.size() || !canShare(constants)) {
    for (nn::ConstantOp constant : constants)
      eraseConstant(constant);
    return false;
  }
  for (auto [op, constant] : llvm::zip_equal(ops, constants)) {
    op->getResult(0).replaceAllUsesWith(constant.getResult());
    op->erase();
  }
  return true;
}

void nnc::foldAlike(ArrayRef<ModuleOp> modules,
                    llvm::function_ref<bool(Operation *)> isFolded) {
  auto all = listAlike(modules);
  for (size_t i = 0; !all.empty() && i < all[0].size(); ++i) {
    SmallVector<Operation *> ops;
    for (const auto &own : all)
      ops.push_back(own[i]);
    if (!isFoldable(ops[0]))
      continue;
    if (llvm::any_of(ops, [&](Operation *op) {
          return op->getResultTypes() != ops[0]->getResultTypes();
        }))
      foldOperands(ops, isFolded);
    if (!llvm::all_of(ops, isOnConstants) || !dependsOnSizes(ops))
      continue;
    if (llvm::all_of(ops, isFolded) && foldOps(ops))
      continue;
    for (Operation *op : ops)
      op->setAttr(nn::kVariesAttr, UnitAttr::get(op->getContext()));
  }
}

/// Returns the places of the first and of the last element of a slice of a
/// concatenation along its axis, and the end of each of its operands; an empty
/// list for other slices.
static SmallVector<int64_t> listBounds(nn::SliceOp slice) {
  auto concat = slice.getX().getDefiningOp<nn::ConcatOp>();
  if (!concat)
    return {};
  auto axis = static_cast<int64_t>(concat.getAxis());
  int64_t first = slice.getStarts()[axis], end = 0;
  SmallVector<int64_t> bounds = {first, first + (slice.getSizes()[axis] - 1) *
                                                    slice.getSteps()[axis]};
  for (Value part : concat.getXs())
    bounds.push_back(end += nn::getTensorType(part).getDimSize(axis));
  return bounds;
}

/// Returns the number of the operand of a concatenation in which a slice with
/// these bounds begins, and that of the one in which it ends.
static std::pair<size_t, size_t> findParts(ArrayRef<int64_t> bounds) {
  auto find = [&](int64_t place) {
    return llvm::find_if(bounds.drop_front(2),
                         [&](int64_t end) { return place < end; }) -
           bounds.begin();
  };
  return {find(bounds[0]), find(bounds[1])};
}

/// Returns true if a slice of a concatenation lies within the same operand at
/// all sizes, or within one at none, given its bounds at the samples.
static bool isOfOnePart(ArrayRef<SmallVector<int64_t>> bounds,
                        ExpressionFinder &finder) {
  constexpr int64_t kPoints = 512;
  SmallVector<AffineExpr> expressions;
  for (size_t i = 0; i < bounds[0].size(); ++i) {
    SmallVector<int64_t> values;
    for (const auto &own : bounds)
      values.push_back(own[i]);
    expressions.push_back(finder.find(values));
    if (!expressions.back())
      return false;
  }
  auto [first, last] = findParts(bounds[0]);
  for (const SizePoint &point :
       chooseChecks(finder.getRanges(), kPoints, /*withZeros=*/true)) {
    SmallVector<int64_t> own;
    for (AffineExpr expression : expressions)
      own.push_back(evaluate(expression, point));
    auto [begin, end] = findParts(own);
    if (first == last ? begin != first || end != last : begin == end)
      return false;
  }
  return true;
}

void nnc::keepSlicesAlike(ArrayRef<ModuleOp> modules,
                          ExpressionFinder &finder) {
  auto all = listAlike(modules);
  for (size_t i = 0; !all.empty() && i < all[0].size(); ++i) {
    if (!isa<nn::SliceOp>(all[0][i]))
      continue;
    SmallVector<SmallVector<int64_t>> bounds;
    for (const auto &own : all)
      bounds.push_back(listBounds(cast<nn::SliceOp>(own[i])));
    bool isAlike = llvm::all_of(bounds, [&](const auto &own) {
      return own.size() == bounds[0].size();
    });
    if (bounds[0].empty() || !isAlike || isOfOnePart(bounds, finder))
      continue;
    for (const auto &own : all)
      own[i]->setAttr(nn::kVariesAttr, UnitAttr::get(all[0][i]->getContext()));
  }
}
