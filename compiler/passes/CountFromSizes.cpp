//===- CountFromSizes.cpp - Whole numbers that depend on sizes ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/FoldConstants.h"
#include "compiler/sizes/EqualAtAllSizes.h"
#include "compiler/sizes/FoldedOps.h"
#include "compiler/sizes/Progressions.h"
#include "compiler/sizes/SizedNetwork.h"

namespace nnc {
#define GEN_PASS_DEF_COUNTFROMSIZES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct CountFromSizesPass : nnc::impl::CountFromSizesBase<CountFromSizesPass> {
  void runOnOperation() override {
    auto sampled = SizedNetwork::read(getOperation());
    if (failed(sampled))
      return signalPassFailure();
    keepSlicesAlike(sampled->getNetworks(), sampled->getFinder());
    countFromSizes(sampled->getNetworks(), sampled->getFinder());
    foldAlike(sampled->getNetworks(), isWorthFolding);
    shareEqualConstants(sampled->getNetworks());
    separateConstants(sampled->getNetworks());
    sampled->keepSums();
  }
};
} // namespace
