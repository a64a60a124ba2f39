//===- FuseExpanded.cpp - 1 x 1 and depthwise layers as one ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"
#include "compiler/passes/Passes.h"

namespace nnc {
#define GEN_PASS_DEF_FUSEEXPANDED
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The layer that computes both, beside them; null where they are others, or
/// more lies between them.
static LayerOp fuseExpanded(LayerOp first, LayerOp second) {
  ConvOp pointwise = getPointwise(first), conv = getDepthwise(second);
  if (!conv || !pointwise ||
      !getTensorType(first.getY()).getElementType().isF32() ||
      !hasConstantWeights(first) || !hasConstantWeights(second))
    return {};
  std::optional<Middle> middle = getMiddle(first);
  if (!middle)
    return {};
  OpBuilder builder(second);
  Value bias = getPerChannel(builder, first.getLoc(), middle->bias,
                             conv.getX().getType(), 0);
  SmallVector<Value> inputs = {first.getInputs()[0], first.getInputs()[1], bias,
                               second.getInputs()[1]};
  return createOneLayer(
      first, second, inputs, builder, [&](Location loc, Block &block) {
        return builder.create<ExpandedConvOp>(
            loc, conv.getY().getType(), middle->activation,
            block.getArgument(0), block.getArgument(1), block.getArgument(2),
            block.getArgument(3), conv.getStrides(), conv.getDilations(),
            conv.getPads(), APFloat(middle->low), APFloat(middle->high));
      });
}

namespace {
struct FuseExpandedPass : nnc::impl::FuseExpandedBase<FuseExpandedPass> {
  using Base::Base;
  FuseExpandedPass(FuseExpandedOptions options,
                   std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    // As of separable layers.
    const double worthwhile = 0.9;
    FusionOptions options{target,
                          "nn.expanded",
                          fuseExpanded,
                          fuseSeparable,
                          worthwhile,
                          /*countsFetch=*/true,
                          maxError,
                          tuned.get()};
    if (failed(fuseLayers(getOperation(), options)))
      signalPassFailure();
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseExpanded(FuseExpandedOptions options,
                        std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseExpandedPass>(std::move(options),
                                            std::move(tuned));
}
