//===- ForEachShape.cpp - Runs a pipeline for each shape ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace nnc {
#define GEN_PASS_DEF_FOREACHSHAPE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;

namespace {
struct ForEachShapePass : nnc::impl::ForEachShapeBase<ForEachShapePass> {
  using ForEachShapeBase::ForEachShapeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (const OpPassManager &manager : passes)
      manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp outer = getOperation();
    auto modules = llvm::to_vector(outer.getOps<ModuleOp>());
    if (modules.size() != passes.size()) {
      outer.emitError() << "holds " << modules.size() << " modules, and there "
                        << "are pipelines for " << passes.size()
                        << "; give each module one";
      return signalPassFailure();
    }
    for (size_t i = 0; i < modules.size(); ++i)
      if (failed(runPipeline(passes[i], modules[i])))
        return signalPassFailure();
  }
};
} // namespace
