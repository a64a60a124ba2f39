//===- FuseScaling.cpp - Scaling and 1 x 1 layers as one ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"
#include "compiler/passes/Passes.h"

namespace nnc {
#define GEN_PASS_DEF_FUSESCALING
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
struct Scaling {
  Value x;
  InnerEpilogue inner;
};
} // namespace

/// A layer without an anchor as a scale, a bias and an activation of what it
/// reads first; each may be missing.
static std::optional<Scaling> getScaling(LayerOp layer) {
  RankedTensorType type = getTensorType(layer.getY());
  if (layer.getAnchorOp() || !type.getElementType().isF32() ||
      (type.getRank() != 3 && type.getRank() != 4))
    return std::nullopt;
  Scaling scaling;
  InnerEpilogue &inner = scaling.inner;
  auto getExtra = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? layer.getExtras()[argument.getArgNumber()] : Value();
  };
  Value made;
  for (Operation &op : layer.getEpilogue().front().without_terminator()) {
    if (inner.activation != InnerActivation::none)
      return std::nullopt;
    if (!made) {
      // The first op reads the image itself, on either side.
      for (Value operand : op.getOperands())
        if (Value extra = getExtra(operand);
            extra && getTensorType(extra) == type && !made)
          made = operand;
      if (!made)
        return std::nullopt;
      scaling.x = getExtra(made);
    }
    bool isMul = isa<MulOp>(op), isAdd = isa<AddOp>(op);
    if (isMul || isAdd) {
      bool isLeft = op.getOperand(0) == made;
      if (!isLeft && op.getOperand(1) != made)
        return std::nullopt;
      Value other = getExtra(op.getOperand(isLeft ? 1 : 0));
      if (!other || getTensorType(other) != getPerChannelType(type) ||
          getTensorType(other) == type || inner.bias || (isMul && inner.scale))
        return std::nullopt;
      (isMul ? inner.scale : inner.bias) = other;
    } else if (op.getOperand(0) != made || !setActivation(op, inner)) {
      return std::nullopt;
    }
    made = op.getResult(0);
  }
  auto yield = cast<nn::YieldOp>(layer.getEpilogue().front().getTerminator());
  if (!made || yield.getValue() != made)
    return std::nullopt;
  return scaling;
}

/// The layer that computes both, beside them; null where `first` is none.
static LayerOp fuseScaling(LayerOp first, LayerOp second) {
  ConvOp pointwise = getPointwise(second);
  std::optional<Scaling> scaling = getScaling(first);
  if (!pointwise || !scaling)
    return {};
  const InnerEpilogue &inner = scaling->inner;
  RankedTensorType x = getTensorType(scaling->x);
  OpBuilder builder(second);
  SmallVector<Value> inputs = {
      scaling->x, getPerChannel(builder, first.getLoc(), inner.scale, x, 1),
      getPerChannel(builder, first.getLoc(), inner.bias, x, 0),
      second.getInputs()[1]};
  return createOneLayer(
      first, second, inputs, builder, [&](Location loc, Block &block) {
        return builder.create<ScaledConvOp>(
            loc, pointwise.getY().getType(), inner.activation,
            block.getArgument(0), block.getArgument(1), block.getArgument(2),
            block.getArgument(3), APFloat(inner.low), APFloat(inner.high));
      });
}

namespace {
struct FuseScalingPass : FusionPass<FuseScalingPass, nnc::impl::FuseScalingBase,
                                    FuseScalingOptions> {
  using FusionPass::FusionPass;

  static FusionRule getRule() {
    return {kScaledForm, fuseScaling, /*rival=*/nullptr, /*countsFetch=*/false};
  }
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseScaling(FuseScalingOptions options,
                       std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseScalingPass>(std::move(options),
                                           std::move(tuned));
}
