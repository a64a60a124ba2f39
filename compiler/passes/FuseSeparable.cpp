//===- FuseSeparable.cpp - Depthwise and 1 x 1 layers as one --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"
#include "compiler/passes/Passes.h"

#include "mlir/IR/Matchers.h"

namespace nnc {
#define GEN_PASS_DEF_FUSESEPARABLE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Which layers
//===----------------------------------------------------------------------===//

static bool isDepthwise(ConvOp conv) {
  int64_t groups = conv.getGroups();
  return groups > 1 && conv.getX().getType().getDimSize(1) == groups &&
         conv.getY().getType().getDimSize(1) == groups;
}

/// The epilogue of a depthwise layer as a bias and an activation.
static std::optional<Middle> getMiddle(LayerOp layer) {
  Middle middle;
  Block &block = layer.getEpilogue().front();
  Value made = block.getArgument(0);
  for (Operation &op : block.without_terminator()) {
    bool isBias = false;
    if (auto add = dyn_cast<AddOp>(op); add && made == block.getArgument(0)) {
      Value other = add.getA() == made ? add.getB() : add.getA();
      auto argument = dyn_cast<BlockArgument>(other);
      if (!argument || argument == made ||
          layer.getExtraKind(argument.getArgNumber() - 1) != ExtraKind::Channel)
        return std::nullopt;
      middle.bias = layer.getExtras()[argument.getArgNumber() - 1];
      isBias = matchPattern(middle.bias, m_Constant());
    }
    bool isLast = middle.activation != MiddleActivation::none;
    if (isLast ||
        !(isBias || (op.getOperand(0) == made && setActivation(op, middle))))
      return std::nullopt;
    made = op.getResult(0);
  }
  if (cast<nn::YieldOp>(block.getTerminator()).getValue() != made)
    return std::nullopt;
  return middle;
}

//===----------------------------------------------------------------------===//
// One layer
//===----------------------------------------------------------------------===//

/// The layer that computes both, beside them; null where `first` is not
/// depthwise, or more lies between them.
static LayerOp fuseSeparable(LayerOp first, LayerOp pointwise) {
  ConvOp conv = getConv(first);
  if (!conv || !isDepthwise(conv) ||
      !getTensorType(first.getY()).getElementType().isF32() ||
      !matchPattern(first.getInputs()[1], m_Constant()) ||
      !matchPattern(pointwise.getInputs()[1], m_Constant()))
    return {};
  std::optional<Middle> middle = getMiddle(first);
  if (!middle)
    return {};
  OpBuilder builder(pointwise);
  Value bias = getPerChannel(builder, first.getLoc(), middle->bias,
                             conv.getX().getType(), 0);
  SmallVector<Value> inputs = {first.getInputs()[0], first.getInputs()[1], bias,
                               pointwise.getInputs()[1]};
  return createOneLayer(
      first, pointwise, inputs, builder, [&](Location loc, Block &block) {
        return builder.create<SeparableConvOp>(
            loc, getConv(pointwise).getY().getType(), middle->activation,
            block.getArgument(0), block.getArgument(1), block.getArgument(2),
            block.getArgument(3), conv.getStrides(), conv.getDilations(),
            conv.getPads(), APFloat(middle->low), APFloat(middle->high));
      });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FuseSeparablePass : nnc::impl::FuseSeparableBase<FuseSeparablePass> {
  using Base::Base;
  FuseSeparablePass(FuseSeparableOptions options,
                    std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    // One layer takes less than this share of the time of two, or there are
    // two: estimates are a few percent off, and much of what two layers move
    // hides behind their arithmetic.
    const double worthwhile = 0.9;
    FusionOptions options{target,
                          "nn.separable",
                          worthwhile,
                          /*countsFetch=*/true,
                          maxError,
                          tuned.get()};
    if (failed(fusePointwise(getOperation(), options, fuseSeparable)))
      signalPassFailure();
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseSeparable(FuseSeparableOptions options,
                         std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseSeparablePass>(std::move(options),
                                             std::move(tuned));
}
