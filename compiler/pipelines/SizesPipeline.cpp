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
  // First, before passes fold constants that depend on the sizes.
  manager.addPass(createCountFromSizes());
  addForEachSize(manager, [&](OpPassManager &network) {
    buildFormPipeline(network, options);
  });
  // On the network at all sizes at once: costs depend on the sizes, but at each
  // size the network has to consist of the same layers.
  buildFusePipeline(manager, options);
  // When the layers that it compares have been formed, and before the choice of
  // routines, which have to apply at all sizes.
  manager.addPass(createMarkVarying());
  // Routines, layouts and places are chosen for the largest sizes.
  buildPlacePipeline(manager.nest<ModuleOp>(), options);
  // When only the shapes of the plan change any more.
  manager.addPass(createRetypeSamples());
  addForEachSize(manager, [&](OpPassManager &network) {
    buildLowerPipeline(network, options);
  });
  // When there is an exec program for each size.
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
  // When weights are encoded as bytes, which can be compared.
  manager.addPass(createShareWeights());
}
