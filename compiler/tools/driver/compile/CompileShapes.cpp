//===- CompileShapes.cpp - Several shapes of the inputs in one module -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/tools/driver/compile/Driver.h"

namespace nnc::tools {

ExitCode Driver::compileOthers() {
  mlir::OwningOpRef<mlir::ModuleOp> all =
      mlir::ModuleOp::create((*op)->getLoc());
  all->push_back(op.release());
  for (const frontends::GivenShapes &other : choices.otherShapes) {
    ImportPoint point{other};
    point.shapes.insert(choices.shapes.begin(), choices.shapes.end());
    ImportedModel one;
    if (ExitCode code = importer->importPoint(point, one);
        code != ExitCode::done)
      return code;
    if (!one.foundSizes.empty()) {
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << "has '" << one.foundSizes.front().name
          << "', as long as data say, and takes one shape for each input";
      return ExitCode::unsupported;
    }
    if (ExitCode code = compileModel(one); code != ExitCode::done)
      return code;
    all->push_back(op.release());
  }
  op = std::move(all);
  mlir::PassManager manager(&context);
  manager.addPass(createJoinShapes());
  return runPipeline(manager, *op);
}

} // namespace nnc::tools
