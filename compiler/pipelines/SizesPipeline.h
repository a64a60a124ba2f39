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

/// Adds the passes of `build` for the network at the largest sizes and for each
/// nn.sample.
void addForEachSize(
    mlir::OpPassManager &manager,
    llvm::function_ref<void(mlir::OpPassManager &manager)> build);

/// The passes from a network at several sizes (nn.sample) up to one exec
/// program for all sizes.
void buildSizesPipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);

/// Whether a module is a network at several sizes.
bool hasSamples(mlir::ModuleOp module);

/// The passes from an imported module up to an exec program: those of a network
/// at several sizes if it `isSampled`, else the first two parts of
/// buildPipeline().
void buildNetworkPipeline(mlir::OpPassManager &manager, bool isSampled,
                          const PipelineOptions &options);

/// The passes behind those that make a program of each module inside: one
/// module of all of them, with its weights as bytes.
void buildShapesPipeline(mlir::OpPassManager &manager);

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_SIZESPIPELINE_H
