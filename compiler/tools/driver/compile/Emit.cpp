//===- Emit.cpp - From an exec program to an emitted folder ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Emit.h"

#include "compiler/passes/Passes.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Supervise.h"
#include "dialects/nn/tensors/Resource.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"

namespace nnc::tools {

/// Returns the resources that hold values of weights in `module`.
static llvm::SmallVector<mlir::DenseResourceElementsAttr>
findResources(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::DenseResourceElementsAttr> found;
  module.walk([&](exec::WeightOp weight) {
    if (auto resource =
            llvm::dyn_cast<mlir::DenseResourceElementsAttr>(weight.getValue()))
      found.push_back(resource);
  });
  return found;
}

mlir::LogicalResult emitCode(mlir::ModuleOp module, const std::string &folder,
                             const codegen::EmitOptions &options,
                             ModelWeights weights, std::error_code *failure) {
  llvm::DenseSet<const void *> ofModel;
  for (mlir::DenseResourceElementsAttr resource : findResources(module))
    ofModel.insert(resource.getRawHandle().getResource());
  mlir::PassManager manager(module.getContext());
  buildEncodePipeline(manager, weights == ModelWeights::release);
  manager.addPass(createShareWeights());
  noteStep("nnc-encode-weights");
  mlir::LogicalResult result = manager.run(module);
  resumeStep();
  if (mlir::succeeded(result))
    result = codegen::emit(module, folder, options, failure);
  // Resources live as long as the context, and tuning emits many modules in one
  // context.
  for (mlir::DenseResourceElementsAttr resource : findResources(module))
    if (!ofModel.contains(resource.getRawHandle().getResource()))
      nn::freeResource(resource);
  return result;
}

} // namespace nnc::tools
