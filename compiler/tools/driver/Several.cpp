//===- Several.cpp - Several shapes of the inputs in one module -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/tools/driver/Driver.h"

namespace nnc::tools {

std::string Driver::findSeveralProblem() const {
  if (!wanted.takesSeveral)
    return "this command takes one shape for each input; give --shape once";
  if (!choices.ranges.empty())
    return "--shape gives an input several shapes, and no bounds with '..' "
           "then";
  if (choices.stream)
    return "--stream has one window of time in memory, and takes one shape for "
           "each input";
  if (!choices.customs.functions.empty())
    return "--custom takes one shape for each input";
  for (const MemoryChoice &memory : choices.memories)
    if (memory.holdsWeights)
      return "--pool=...:weights takes one shape for each input";
  for (size_t i = 0; i < choices.otherShapes.size(); ++i)
    for (size_t j = 0; j <= i; ++j) {
      auto complete = [&](frontends::GivenShapes given) {
        given.insert(choices.shapes.begin(), choices.shapes.end());
        return given;
      };
      frontends::GivenShapes other =
          j == i ? choices.shapes : complete(choices.otherShapes[j]);
      if (complete(choices.otherShapes[i]) == other)
        return "--shape gives the same shapes twice; leave one of them out";
    }
  return "";
}

ExitCode Driver::compileOthers() {
  mlir::OwningOpRef<mlir::ModuleOp> imported = std::move(importedOp),
                                    formed = std::move(formedOp),
                                    layered = std::move(layeredOp);
  auto machine = (*op)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create((*op)->getLoc());
  module->push_back(op.release());
  ExitCode code = ExitCode::done;
  for (const frontends::GivenShapes &other : choices.otherShapes) {
    frontends::GivenShapes shapes = other;
    shapes.insert(choices.shapes.begin(), choices.shapes.end());
    code = importShapes(shapes, /*found=*/{}, machine, op);
    if (code == ExitCode::done && !foundSizes.empty()) {
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << "has '" << foundSizes.front().name
          << "', as long as data say, and takes one shape for each input";
      code = ExitCode::unsupported;
    }
    if (code == ExitCode::done)
      code = compileOne();
    if (code != ExitCode::done)
      break;
    module->push_back(op.release());
    others.push_back({std::move(importedOp), std::move(layeredOp)});
  }
  op = std::move(module);
  importedOp = std::move(imported);
  formedOp = std::move(formed);
  layeredOp = std::move(layered);
  if (code != ExitCode::done)
    return code;
  mlir::PassManager manager(&context);
  manager.addPass(createJoinShapes());
  return runPipeline(manager, *op);
}

} // namespace nnc::tools
