//===- Generalize.cpp - Merges programs of several sizes ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Generalize.h"
#include "compiler/passes/Passes.h"
#include "compiler/sizes/SizedNetwork.h"

namespace nnc {
#define GEN_PASS_DEF_GENERALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct GeneralizePass : nnc::impl::GeneralizeBase<GeneralizePass> {
  using Base::Base;
  void runOnOperation() override {
    auto sampled = SizedNetwork::read(getOperation());
    if (failed(sampled) || failed(generalize(sampled->getNetworks(),
                                             sampled->getFinder(), threads)))
      return signalPassFailure();
    sampled->becomePlan();
  }
};
} // namespace
