//===- MarkVarying.cpp - Marks numbers that vary with the sizes -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/sizes/Constants.h"
#include "compiler/sizes/EqualAtAllSizes.h"
#include "compiler/sizes/SizedNetwork.h"
#include "compiler/sizes/VaryingLayers.h"

namespace nnc {
#define GEN_PASS_DEF_MARKVARYING
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct MarkVaryingPass : nnc::impl::MarkVaryingBase<MarkVaryingPass> {
  void runOnOperation() override {
    auto sampled = SizedNetwork::read(getOperation());
    if (failed(sampled) || failed(mark(*sampled)))
      return signalPassFailure();
    sampled->keepSums();
  }

  static LogicalResult mark(SizedNetwork &sampled) {
    ModuleOp plan = sampled.getPlan();
    for (ModuleOp network : sampled.getNetworks())
      spreadConstants(network);
    for (ModuleOp network : sampled.getNetworks().drop_front())
      if (failed(compareLayers(plan, network)))
        return failure();
    shareEqualConstants(sampled.getNetworks());
    if (failed(shareConstants(sampled.getNetworks())))
      return failure();
    separateConstants(sampled.getNetworks());
    if (failed(markVarying(sampled.getNetworks(), sampled.getFinder())))
      return failure();
    for (auto function : plan.getOps<func::FuncOp>())
      if (!function.isPrivate())
        function->setAttr(exec::kSizesAttr, sampled.getSizes());
    return success();
  }
};
} // namespace
