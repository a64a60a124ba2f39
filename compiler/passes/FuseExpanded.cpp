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

static LayerOp fuseExpanded(LayerOp first, LayerOp second) {
  ConvOp depthwise = getDepthwise(second);
  if (!depthwise || !getPointwise(first))
    return {};
  std::optional<InnerEpilogue> inner = getInnerEpilogue(first, second);
  return inner
             ? createOneLayer<ExpandedConvOp>(first, second, *inner, depthwise)
             : LayerOp();
}

namespace {
struct FuseExpandedPass
    : FusionPass<FuseExpandedPass, nnc::impl::FuseExpandedBase,
                 FuseExpandedOptions> {
  using FusionPass::FusionPass;

  static FusionRule getRule() {
    return {kExpandedForm, fuseExpanded, fuseSeparable, /*countsFetch=*/true};
  }
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseExpanded(FuseExpandedOptions options,
                        std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseExpandedPass>(std::move(options),
                                            std::move(tuned));
}
