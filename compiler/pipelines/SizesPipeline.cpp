//===- SizesPipeline.cpp - Several sizes or shapes to exec ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipelines/SizesPipeline.h"

#include "compiler/passes/Passes.h"

using namespace mlir;

void nnc::addForEachSize(OpPassManager &manager,
                         llvm::function_ref<void(OpPassManager &)> build) {
  build(manager.nest<ModuleOp>());
  build(manager.nest<nn::SampleOp>().nest<ModuleOp>());
}

void nnc::buildSizesPipeline(OpPassManager &manager,
                             const PipelineOptions &options) {
  // First of all, before passes fold what depends on the sizes.
  manager.addPass(createCountFromSizes());
  addForEachSize(manager, [&](OpPassManager &network) {
    buildFormPipeline(network, options);
  });
  // For all sizes at once: costs depend on the sizes, and all of them have to
  // consist of the layers of the plan.
  buildFusePipeline(manager, options);
  // When the layers are there that are compared, before there are routines,
  // which have to apply at all sizes.
  manager.addPass(createMarkVarying());
  // Routines, layouts and places are chosen for the largest sizes.
  buildPlacePipeline(manager.nest<ModuleOp>(), options);
  // When nothing of the plan changes any more but its shapes.
  manager.addPass(createRetypeSamples());
  addForEachSize(manager, [&](OpPassManager &network) {
    buildLowerPipeline(network, options);
  });
  // When there are programs.
  manager.addPass(createGeneralize({options.threads}));
}

bool nnc::hasSamples(ModuleOp module) {
  return !module.getOps<nn::SampleOp>().empty();
}

void nnc::buildNetworkPipeline(OpPassManager &manager, bool isSampled,
                               const PipelineOptions &options) {
  if (isSampled)
    return buildSizesPipeline(manager, options);
  buildLayersPipeline(manager, options);
  buildPlanPipeline(manager, options);
}

void nnc::buildShapesPipeline(OpPassManager &manager) {
  manager.addPass(createJoinShapes());
  buildEncodePipeline(manager);
  // When weights are bytes, which can be compared.
  manager.addPass(createShareWeights());
}
