//===- nnc-opt.cpp - Runs passes by their flags ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/pipelines/Pipeline.h"
#include "compiler/tools/nnc-opt/Tests.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  nnc::registerDialects(registry);
  nnc::registerNncPasses();
  nnc::registerPipeline();
  nnc::registerTestPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "nnc's passes\n", registry));
}
