//===- CheckRoutines.cpp - Can each layer be computed as it says? ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/schedule/Candidates.h"

namespace nnc {
#define GEN_PASS_DEF_CHECKROUTINES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct CheckRoutinesPass : nnc::impl::CheckRoutinesBase<CheckRoutinesPass> {
  void runOnOperation() override {
    auto machine = target::getTarget(getOperation());
    if (failed(machine))
      return signalPassFailure();
    bool sound = true;
    getOperation().walk([&](Operation *op) {
      if (auto layer = dyn_cast<nn::LayerOp>(op))
        sound &= succeeded(checkRoutine(layer, *machine));
      else if (auto adapt = dyn_cast<nn::AdaptOp>(op))
        sound &= succeeded(checkRoutine(adapt, *machine));
    });
    if (!sound)
      signalPassFailure();
  }
};
} // namespace
