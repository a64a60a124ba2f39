//===- AssignThreads.cpp - What one thread computes -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/routines/Candidates.h"

namespace nnc {
#define GEN_PASS_DEF_ASSIGNTHREADS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Twice what it takes to hand a share to another thread and to wait for it:
/// two threads save half.
static constexpr double kTooShortSeconds = 1e-6;

/// What a call of the routine that `layer` names takes on one thread.
static double getCallSeconds(LayerOp layer, const CostModel &cost) {
  double seconds = 0;
  LayoutAttr layout = getLayout(layer.getY().getType());
  forEachCandidate(layer, cost, layout, [&](const Candidate &candidate) {
    if (candidate.result == layer.getY().getType())
      seconds = candidate.seconds;
  });
  return seconds / double(getRoutineCalls(layer).size());
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
    }
  }

  void assign(Operation *op, double seconds) {
    auto params = op->getAttrOfType<DenseI64ArrayAttr>("params");
    // Each thread would begin the call.
    seconds -= CostModel::getStartSeconds(params && !params.empty());
    if (seconds < kTooShortSeconds)
      op->setAttr(exec::kSerialAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
