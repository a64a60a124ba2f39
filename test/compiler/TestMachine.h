//===- TestMachine.h - A context with a machine, for tests ----------------===//

#ifndef NNC_TEST_COMPILER_TESTMACHINE_H
#define NNC_TEST_COMPILER_TESTMACHINE_H

#include "compiler/pipelines/Pipeline.h"
#include "dialects/target/Target.h"

#include <catch2/catch.hpp>

/// A context with all dialects, and the machine of a row of targets.inc.
struct TestMachine {
  mlir::MLIRContext context;
  nnc::target::MachineAttr machine;

  explicit TestMachine(llvm::StringRef target) {
    mlir::DialectRegistry registry;
    nnc::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    auto found =
        nnc::target::getMachine(target, mlir::UnknownLoc::get(&context));
    REQUIRE(mlir::succeeded(found));
    machine = *found;
  }
};

#endif // NNC_TEST_COMPILER_TESTMACHINE_H
