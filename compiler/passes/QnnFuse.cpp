//===- QnnFuse.cpp - Layers of a QDQ model become integer layers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/FoldConstants.h"
#include "compiler/patterns/Patterns.h"
#include "compiler/routines/IntegerSums.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_QNNFUSE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

/// Returns true if a value depends on constants only.
static bool isKnown(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                (op->getNumOperands() > 0 &&
                 llvm::all_of(op->getOperands(), isKnown)));
}

/// Returns true if values other than constants are quantized.
static bool hasQuantizedActivations(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<nnc::qnn::QnnDialect>(op->getDialect()) &&
                       !llvm::all_of(op->getOperands(), isKnown)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct QnnFusePass : nnc::impl::QnnFuseBase<QnnFusePass> {
  using QnnFuseBase::QnnFuseBase;
  void runOnOperation() override {
    auto machine = nnc::target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    if (!nnc::qnn::hasQuantizedOps(getOperation()))
      return;
    if (hasQuantizedActivations(getOperation()))
      getOperation()->setAttr(nnc::qnn::kQuantizedAttr,
                              UnitAttr::get(&getContext()));
    int64_t floats = 0;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto hasIntegers = [&](Operation *product) {
        return nnc::hasIntegerSums(product, machine->getHost());
      };
      RewritePatternSet patterns(&getContext());
      nnc::populateQuantizedLayers(patterns, hasIntegers);
      // Folding turns transposed weights back into constants, which the
      // lowering of products needs.
      nnc::populateFoldConstants(patterns);
      if (failed(nnc::applyPatterns(function, std::move(patterns))))
        return signalPassFailure();
      RewritePatternSet compressed(&getContext());
      nnc::populateBlockWeights(compressed);
      if (failed(nnc::applyPatterns(function, std::move(compressed))))
        return signalPassFailure();
      floats += nnc::markByteWeights(function);
      // `nnc check` and `nnc explain` report these attributes.
      for (Operation &op : function.getBody().front())
        if (std::string why = nnc::getFloatObstacle(&op, hasIntegers);
            !why.empty())
          op.setAttr(nnc::qnn::kStaysFloatAttr,
                     StringAttr::get(&getContext(), why));
    }
    if (floats)
      getOperation()->setAttr(nnc::nn::kFloatConstantsAttr,
                              Builder(&getContext()).getI64IntegerAttr(floats));
  }
};
} // namespace
