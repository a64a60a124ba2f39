//===- CheckRoutines.cpp - Checks that routines fit their layers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/routines/Candidates.h"

namespace nnc {
#define GEN_PASS_DEF_CHECKROUTINES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct CheckRoutinesPass : nnc::impl::CheckRoutinesBase<CheckRoutinesPass> {
  void runOnOperation() override {
    auto machine = target::getTarget(getOperation());
    if (failed(machine) || failed(checkRoutines(getOperation(), *machine)))
      signalPassFailure();
  }
};
} // namespace
