//===- SizesPipeline.h - Several sizes or shapes to exec ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PIPELINES_SIZESPIPELINE_H
#define NNC_COMPILER_PIPELINES_SIZESPIPELINE_H

#include "compiler/pipelines/Pipeline.h"

#include "mlir/Pass/Pass.h"

namespace nnc {

/// Adds the passes of `build` for the network at the largest sizes and for the
/// network in each nn.sample.
void addForEachSize(
    mlir::OpPassManager &manager,
    llvm::function_ref<void(mlir::OpPassManager &manager)> build);

/// Adds the passes from a network at several sizes (nn.sample) to one exec
/// program for all sizes.
void buildSizesPipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);

/// Returns true if the module holds a network at several sizes.
bool hasSamples(mlir::ModuleOp module);

/// Adds the passes from an imported module to an exec program: those of
/// buildSizesPipeline() if `isSampled`, which says that the network is given at
/// several sizes, else those of buildLayersPipeline() and buildPlanPipeline().
void buildNetworkPipeline(mlir::OpPassManager &manager, bool isSampled,
                          const PipelineOptions &options);

/// Adds the passes that merge the exec programs of the nested modules, one for
/// each shape of the inputs, into one module with encoded weights.
void buildShapesPipeline(mlir::OpPassManager &manager);

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_SIZESPIPELINE_H
