//===- AffineChain.cpp - Scales and shifts that follow each other ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/AffineChain.h"

#include "compiler/patterns/Accuracy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The size in bytes up to which a weight that several ops share may be copied
/// for one of them.
static constexpr int64_t kShareableBytes = 1 << 16;

/// Returns true if x * value equals x divided by a float, bit by bit.
static bool isReciprocal(double value) {
  return isPowerOfTwo(value) &&
         std::abs(value) >= std::numeric_limits<float>::min();
}

bool AffineChain::append(Operation *op, const AffineOp &next) {
  if (ops.size() == kMostOps)
    return false;
  // A chain has one list of scales and shifts, which cannot vary along two
  // axes.
  if (axis != -1 && next.axis != -1 && next.axis != axis)
    return false;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  Affine both = affine.then(next.affine);
  if (!next.affine.isHarmless(type) || !both.isHarmless(type))
    return false;
  axis = axis == -1 ? next.axis : axis;
  affine = both;
  ops.push_back(op);
  hasNorm |= isa<BatchNormOp>(op);
  divides |= isa<DivOp>(op) && !llvm::all_of(next.affine.scale, isReciprocal);
  return true;
}

bool AffineChain::reachesStep() const {
  return !hasNorm && nnc::reachesStep(ops.back()->getResult(0));
}

std::optional<WeightView> AffineChain::findWeights() const {
  Operation *anchor = base.getDefiningOp();
  auto routine = dyn_cast_or_null<RoutineOpInterface>(anchor);
  if (!routine || !base.hasOneUse())
    return std::nullopt;
  std::optional<int64_t> channels = routine.getChannelAxis();
  std::optional<WeightView> view = getOutputView(anchor);
  if (!view || (axis != -1 && axis != channels) ||
      !mayScaleWeights(anchor, view->operand) ||
      !affine.scales(getElementTypeOrSelf(base.getType())) || reachesStep())
    return std::nullopt;
  return view;
}

AffineChain nnc::followChain(Operation *first, const AffineOp &match,
                             bool normsOnly) {
  AffineChain chain(match.x);
  AffineChain best = chain, one = chain;
  std::optional<AffineOp> next = match;
  Operation *op = first;
  while (next && chain.append(op, *next)) {
    if ((!normsOnly || chain.endsInNorm()) &&
        (chain.isOneOp() || chain.affine.isAccurate() ||
         chain.affine.roundsOnce()))
      best = chain;
    if (chain.isOneOp())
      one = chain;
    Value result = op->getResult(0);
    if (!result.hasOneUse())
      break;
    op = *result.user_begin();
    next = matchAffine(op);
    if (next && next->x != result)
      break;
  }
  // If the bits of the last op reach a step function, so do those of the other
  // ops.
  return best.ops.size() > 1 && best.reachesStep() ? one : best;
}

bool nnc::mayScaleWeights(Operation *anchor, unsigned i) {
  Value weight = anchor->getOperand(i);
  auto constant = weight.getDefiningOp<ConstantOp>();
  if (!constant || anchor->hasAttr(kByteWeightsAttr))
    return false;
  auto type = cast<RankedTensorType>(weight.getType());
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return false;
  return weight.hasOneUse() || getPhysicalBytes(type) <= kShareableBytes;
}
