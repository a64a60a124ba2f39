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

/// Both estimates have the same product in them: what else they differ by is
/// known well enough.
static constexpr double kWorthwhile = 0.99;

namespace {
struct Scaling {
  LayerOp layer;
  Value x;
  Middle middle;
};
} // namespace

/// Whether `value` has one number for each channel of images of type `x`.
static bool isPerChannel(Value value, RankedTensorType x) {
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[1] = x.getDimSize(1);
  return getTensorType(value).getShape() == ArrayRef(shape) &&
         x.getShape() != ArrayRef(shape);
}

/// A layer without an anchor as a scale, a bias and an activation of what it
/// reads first; each may be missing.
static std::optional<Scaling> getScaling(LayerOp layer) {
  RankedTensorType type = getTensorType(layer.getY());
  if (layer.getAnchorOp() || !type.getElementType().isF32() ||
      (type.getRank() != 3 && type.getRank() != 4))
    return std::nullopt;
  Scaling scaling{layer, Value(), {}};
  Middle &middle = scaling.middle;
  auto getExtra = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? layer.getExtras()[argument.getArgNumber()] : Value();
  };
  Value made;
  for (Operation &op : layer.getEpilogue().front().without_terminator()) {
    if (middle.activation != MiddleActivation::none)
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
      if (!other || !isPerChannel(other, type) || middle.bias ||
          (isMul && middle.scale))
        return std::nullopt;
      (isMul ? middle.scale : middle.bias) = other;
    } else if (op.getOperand(0) != made || !setActivation(op, middle)) {
      return std::nullopt;
    }
    made = op.getResult(0);
  }
  auto yield = cast<nn::YieldOp>(layer.getEpilogue().front().getTerminator());
  if (!made || yield.getValue() != made)
    return std::nullopt;
  return scaling;
}

/// The layer that computes both, beside them.
static LayerOp createLayer(const Scaling &scaling, LayerOp pointwise) {
  const Middle &middle = scaling.middle;
  LayerOp first = scaling.layer;
  OpBuilder builder(pointwise);
  Location loc = builder.getFusedLoc({pointwise.getLoc(), first.getLoc()});
  auto orAll = [&](Value own, double value) {
    return own ? own
               : createPerChannel(builder, first.getLoc(),
                                  getTensorType(scaling.x), value);
  };
  SmallVector<Value> inputs = {scaling.x, orAll(middle.scale, 1),
                               orAll(middle.bias, 0), pointwise.getInputs()[1]};
  LayerOp layer = createLayerOn(builder, loc, pointwise, inputs);
  Block &block = layer.getAnchor().front();
  builder.setInsertionPointToStart(&block);
  auto anchor = builder.create<ScaledConvOp>(
      loc, getConv(pointwise).getY().getType(), middle.activation,
      block.getArgument(0), block.getArgument(1), block.getArgument(2),
      block.getArgument(3), APFloat(middle.low), APFloat(middle.high));
  builder.create<nn::YieldOp>(loc, anchor.getY());
  return layer;
}

namespace {
struct FuseScalingPass : nnc::impl::FuseScalingBase<FuseScalingPass> {
  using Base::Base;
  FuseScalingPass(FuseScalingOptions options,
                  std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    FusionOptions options{"nn.scaling", kWorthwhile, /*countsFetch=*/false,
                          maxError, tuned.get()};
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      CostModel cost = makeCostModel(function, *machine,
                                     tuned ? &tuned->measurements : nullptr);
      for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>()))
        if (auto scaling = findScaling(layer))
          fuseWhereFaster({scaling->layer, layer}, createLayer(*scaling, layer),
                          options, cost);
    }
  }

  /// What scales the input of the 1 x 1 convolution that the layer is.
  static std::optional<Scaling> findScaling(LayerOp layer) {
    ConvOp conv = getConv(layer);
    if (!conv || !isPointwise(conv))
      return std::nullopt;
    Value between = layer.getInputs()[0];
    auto first = between.getDefiningOp<LayerOp>();
    if (!first || !between.hasOneUse())
      return std::nullopt;
    return getScaling(first);
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseScaling(FuseScalingOptions options,
                       std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseScalingPass>(std::move(options),
                                           std::move(tuned));
}
