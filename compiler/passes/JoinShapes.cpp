//===- JoinShapes.cpp - The programs of several shapes in one module ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/sizes/SizedNetwork.h"

namespace nnc {
#define GEN_PASS_DEF_JOINSHAPES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct JoinShapesPass : nnc::impl::JoinShapesBase<JoinShapesPass> {
  void runOnOperation() override {
    ModuleOp outer = getOperation();
    auto modules = llvm::to_vector(outer.getOps<ModuleOp>());
    std::string name;
    for (auto [i, module] : llvm::enumerate(modules)) {
      auto programs = llvm::to_vector(module.getOps<exec::ProgramOp>());
      if (programs.size() != 1) {
        module.emitError("has no program, or several: each shape has one");
        return signalPassFailure();
      }
      if (i == 0) {
        name = programs[0].getSymName().str();
        outer->setAttrs(module->getAttrDictionary());
      } else {
        programs[0].setSymName((name + "_" + Twine(i + 1)).str());
      }
      moveInto(outer, module);
    }
  }
};
} // namespace
