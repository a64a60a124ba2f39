//===- FuseSeparable.cpp - Depthwise and 1 x 1 layers as one --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"
#include "compiler/passes/Passes.h"

namespace nnc {
#define GEN_PASS_DEF_FUSESEPARABLE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LayerOp nnc::fuseSeparable(LayerOp first, LayerOp second) {
  ConvOp depthwise = getDepthwise(first);
  if (!depthwise || !getPointwise(second))
    return {};
  std::optional<InnerEpilogue> inner = getInnerEpilogue(first, second);
  return inner
             ? createOneLayer<SeparableConvOp>(first, second, *inner, depthwise)
             : LayerOp();
}

namespace {
struct FuseSeparablePass
    : FusionPass<FuseSeparablePass, nnc::impl::FuseSeparableBase,
                 FuseSeparableOptions> {
  using FusionPass::FusionPass;

  static FusionRule getRule() {
    return {kSeparableForm, fuseSeparable, /*rival=*/nullptr,
            /*countsFetch=*/true};
  }
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseSeparable(FuseSeparableOptions options,
                         std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseSeparablePass>(std::move(options),
                                             std::move(tuned));
}
