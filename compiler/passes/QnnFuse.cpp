//===- QnnFuse.cpp - Layers of a QDQ model become integer layers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/Patterns.h"
#include "compiler/routines/IntegerSums.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_QNNFUSE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct QnnFusePass : nnc::impl::QnnFuseBase<QnnFusePass> {
  using QnnFuseBase::QnnFuseBase;
  void runOnOperation() override {
    auto machine = nnc::target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      nnc::CostModel cost(*machine, nnc::getWeightBytes(function));
      auto isFasterInIntegers = [&](Operation *product) {
        nnc::ProductTimes times = nnc::estimateProduct(product, cost);
        return times.integers <= times.floats;
      };
      RewritePatternSet patterns(&getContext());
      nnc::populateQuantizedLayers(patterns, isFasterInIntegers);
      if (failed(nnc::applyPatterns(function, std::move(patterns))))
        return signalPassFailure();
    }
  }
};
} // namespace
