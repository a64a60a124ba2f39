//===- RetypeSamples.cpp - Gives a plan the shapes of other sizes ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/sizes/SizedNetwork.h"
#include "compiler/sizes/VaryingLayers.h"

namespace nnc {
#define GEN_PASS_DEF_RETYPESAMPLES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct RetypeSamplesPass : nnc::impl::RetypeSamplesBase<RetypeSamplesPass> {
  void runOnOperation() override {
    auto sampled = SizedNetwork::read(getOperation());
    if (failed(sampled))
      return signalPassFailure();
    for (auto sample : getOperation().getOps<nn::SampleOp>()) {
      ModuleOp layers = sample.getNetwork();
      auto copy = cast<ModuleOp>(sampled->getPlan()->clone());
      sample.getBody().front().push_back(copy);
      // For samples beyond the largest sizes, values and scratch memory need
      // not fit into their places.
      if (failed(
              retypeLayers(copy, layers, sampled->isBeyond(sample.getPoint()))))
        return signalPassFailure();
      layers.erase();
    }
  }
};
} // namespace
