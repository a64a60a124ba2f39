//===- AssignThreads.cpp - Layers that a single thread computes -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Decode.h"

namespace nnc {
#define GEN_PASS_DEF_ASSIGNTHREADS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The time in seconds below which a layer is not divided among threads. It is
/// twice the time to hand a share to another thread and to wait for it, since
/// two threads save half of the layer's time.
static constexpr double kTooShortSeconds = 1e-6;

/// Returns the seconds of one of the calls that compute a layer, on average.
static double getCallSeconds(LayerOp layer, const CostModel &cost) {
  return getLayerSeconds(layer, cost) / double(getRoutineCalls(layer).size());
}

static double getCallSeconds(AdaptOp adapt, const CostModel &cost) {
  return cost.getAdapt(adapt.getX().getType(), adapt.getY().getType()).seconds;
}

namespace {
struct AssignThreadsPass : nnc::impl::AssignThreadsBase<AssignThreadsPass> {
  using Base::Base;

  void runOnOperation() override {
    auto machine = target::getTarget(getOperation());
    if (failed(machine))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      CostModel cost(*machine, getWeightBytes(function));
      for (LayerOp layer : function.getOps<LayerOp>())
        assign(layer, getCallSeconds(layer, cost));
      for (AdaptOp adapt : function.getOps<AdaptOp>())
        if (!adapt.isView())
          assign(adapt, getCallSeconds(adapt, cost));
      for (DecodeOp decode : function.getOps<DecodeOp>())
        assign(decode, findDecode(decode.getShape(), decode.getX().getType(),
                                  decode.getY().getType(), cost)
                           .seconds);
    }
  }

  void assign(Operation *op, double seconds) {
    auto params = op->getAttrOfType<DenseI64ArrayAttr>("params");
    // Every thread has to start the call, so that this time is not divided.
    seconds -= CoreCost::getStartSeconds(params && !params.empty());
    if (seconds < kTooShortSeconds)
      op->setAttr(exec::kSerialAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
