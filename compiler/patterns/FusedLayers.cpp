//===- FusedLayers.cpp - Builds fused layers from two layers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/FusedLayers.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The inner epilogue of a fused layer, applied between its two parts: a scale
/// and a shift for each channel, then an activation.
struct InnerEpilogue {
  Value scale; ///< one value for each channel, or null for 1
  Value bias;  ///< one value for each channel, or null for 0
  InnerActivation activation = InnerActivation::none;
  double low = 0, high = 0; ///< the bounds of InnerActivation::clip
};
} // namespace

//===----------------------------------------------------------------------===//
// The two layers
//===----------------------------------------------------------------------===//

/// Sets the activation of `inner` to that of `op`. Fails if fused layers do not
/// have this activation.
static LogicalResult setActivation(Operation &op, InnerEpilogue &inner) {
  if (isa<ReluOp>(op)) {
    inner.activation = InnerActivation::relu;
  } else if (isa<HardSwishOp>(op)) {
    inner.activation = InnerActivation::hard_swish;
  } else if (isa<SiluOp>(op)) {
    inner.activation = InnerActivation::silu;
  } else if (auto clip = dyn_cast<ClipOp>(op)) {
    inner.activation = InnerActivation::clip;
    inner.low = clip.getMin().convertToDouble();
    inner.high = clip.getMax().convertToDouble();
  } else {
    return failure();
  }
  return success();
}

static bool hasConstantWeights(LayerOp layer) {
  return matchPattern(layer.getInputs()[1], m_Constant());
}

/// Returns the epilogue of the convolution `first` as an inner epilogue.
/// Returns nullopt if it is more than a constant bias and an activation, if the
/// layers compute with other types than floats, or if weights are not constant.
static std::optional<InnerEpilogue> getInnerEpilogue(LayerOp first,
                                                     LayerOp second) {
  if (!getTensorType(first.getY()).getElementType().isF32() ||
      !hasConstantWeights(first) || !hasConstantWeights(second))
    return std::nullopt;
  InnerEpilogue inner;
  Block &block = first.getEpilogue().front();
  Value made = block.getArgument(0);
  for (Operation &op : block.without_terminator()) {
    if (op.getNumOperands() == 0) // a literal
      return std::nullopt;
    bool isBias = false;
    if (auto add = dyn_cast<AddOp>(op); add && made == block.getArgument(0)) {
      Value other = add.getA() == made ? add.getB() : add.getA();
      auto argument = dyn_cast<BlockArgument>(other);
      if (!argument || argument == made ||
          first.getExtraKind(argument.getArgNumber() - 1) != ExtraKind::Channel)
        return std::nullopt;
      inner.bias = first.getExtras()[argument.getArgNumber() - 1];
      isBias = matchPattern(inner.bias, m_Constant());
    }
    bool isLast = inner.activation != InnerActivation::none;
    if (isLast || !(isBias || (op.getOperand(0) == made &&
                               succeeded(setActivation(op, inner)))))
      return std::nullopt;
    made = op.getResult(0);
  }
  if (cast<nn::YieldOp>(block.getTerminator()).getValue() != made)
    return std::nullopt;
  return inner;
}

/// Returns the layer's convolution, or null. A convolution whose weights are
/// stored as 8-bit integers is not fused, because fused layers read floats.
static ConvOp getConv(LayerOp layer) {
  auto conv = dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
  return conv && !conv->hasAttr(kByteWeightsAttr) ? conv : ConvOp();
}

/// Returns the layer's convolution if it is 1 x 1 with stride 1 and one group,
/// or null.
static ConvOp getPointwise(LayerOp layer) {
  ConvOp conv = getConv(layer);
  return conv && conv.isPointwise() && conv.getGroups() == 1 ? conv : ConvOp();
}

/// Returns the layer's convolution if it is depthwise with one filter per
/// channel, or null.
static ConvOp getDepthwise(LayerOp layer) {
  ConvOp conv = getConv(layer);
  if (!conv)
    return {};
  int64_t groups = conv.getGroups();
  bool isOneEach = groups > 1 &&
                   conv.getX().getType().getDimSize(1) == groups &&
                   conv.getY().getType().getDimSize(1) == groups;
  return isOneEach ? conv : ConvOp();
}

//===----------------------------------------------------------------------===//
// The one layer
//===----------------------------------------------------------------------===//

/// Returns the type of a tensor with one value for each channel of images of
/// type `x`.
static RankedTensorType getPerChannelType(RankedTensorType x) {
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[1] = x.getDimSize(1);
  return RankedTensorType::get(shape, x.getElementType());
}

/// Returns `own`, or if it is null, a constant that holds `value` for each
/// channel of images of type `x`.
static Value getPerChannel(OpBuilder &builder, Location loc, Value own,
                           RankedTensorType x, double value) {
  if (own)
    return own;
  Attribute element = builder.getFloatAttr(x.getElementType(), value);
  return builder.create<ConstantOp>(
      loc, DenseElementsAttr::get(getPerChannelType(x), ArrayRef(element)));
}

/// Creates the layer that reads `inputs`, with the name and the epilogue of
/// `second` and the anchor that `create` builds in the given block.
static LayerOp createOneLayer(LayerOp first, LayerOp second, ValueRange inputs,
                              OpBuilder &builder,
                              function_ref<Value(Location, Block &)> create) {
  Location loc = builder.getFusedLoc({second.getLoc(), first.getLoc()});
  auto layer =
      builder.create<LayerOp>(loc, second.getY().getType(), second.getName(),
                              inputs, second.getExtras(), nullptr, nullptr);
  Block &block = layer.getAnchor().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(getLogicalType(getTensorType(input)), input.getLoc());
  builder.setInsertionPointToStart(&block);
  builder.create<nn::YieldOp>(loc, create(loc, block));
  IRMapping mapping;
  second.getEpilogue().cloneInto(&layer.getEpilogue(), mapping);
  return layer;
}

/// Creates the layer with anchor `Op` for two convolutions, or returns null if
/// the ops between them are more than an inner epilogue. `window` is the
/// convolution of the two whose filters have more than one tap.
template <class Op>
static LayerOp fuseConvolutions(LayerOp first, LayerOp second, ConvOp window) {
  std::optional<InnerEpilogue> inner = getInnerEpilogue(first, second);
  if (!inner)
    return {};
  OpBuilder builder(second);
  RankedTensorType between = getTensorType(first.getY());
  SmallVector<Value> inputs = {
      first.getInputs()[0], first.getInputs()[1],
      getPerChannel(builder, first.getLoc(), inner->bias, between, 0),
      second.getInputs()[1]};
  return createOneLayer(
      first, second, inputs, builder, [&](Location loc, Block &block) {
        return builder.create<Op>(
            loc, second.getAnchorOp()->getResult(0).getType(),
            inner->activation, block.getArgument(0), block.getArgument(1),
            block.getArgument(2), block.getArgument(3), window.getStrides(),
            window.getDilations(), window.getPads(), APFloat(inner->low),
            APFloat(inner->high));
      });
}

LayerOp nnc::fuseExpanded(LayerOp first, LayerOp second) {
  ConvOp depthwise = getDepthwise(second);
  return depthwise && getPointwise(first)
             ? fuseConvolutions<ExpandedConvOp>(first, second, depthwise)
             : LayerOp();
}

LayerOp nnc::fuseSeparable(LayerOp first, LayerOp second) {
  ConvOp depthwise = getDepthwise(first);
  return depthwise && getPointwise(second)
             ? fuseConvolutions<SeparableConvOp>(first, second, depthwise)
             : LayerOp();
}

//===----------------------------------------------------------------------===//
// Scaled channels
//===----------------------------------------------------------------------===//

namespace {
/// A layer that only applies an inner epilogue to the image `x`.
struct Scaling {
  Value x;
  InnerEpilogue inner;
};
} // namespace

/// Returns `layer` as a scaling, or nullopt if it computes anything else.
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
    if (inner.activation != InnerActivation::none || op.getNumOperands() == 0)
      return std::nullopt;
    if (!made) {
      // One operand of the first op is the image itself.
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
    } else if (op.getOperand(0) != made || failed(setActivation(op, inner))) {
      return std::nullopt;
    }
    made = op.getResult(0);
  }
  auto yield = cast<nn::YieldOp>(layer.getEpilogue().front().getTerminator());
  if (!made || yield.getValue() != made)
    return std::nullopt;
  return scaling;
}

LayerOp nnc::fuseScaling(LayerOp first, LayerOp second) {
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
