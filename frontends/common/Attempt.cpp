//===- Attempt.cpp - Something that may fail while importing --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Attempt.h"

using namespace mlir;
using namespace nnc::frontends;

Attempt::Attempt(Problems &problems)
    : problems(problems), before(problems.take()),
      handler(std::make_unique<ScopedDiagnosticHandler>(
          before.getLoc().getContext(), [this](Diagnostic &diagnostic) {
            diagnostics.push_back(std::move(diagnostic));
            return success();
          })) {}

void Attempt::report() {
  MLIRContext *context = before.getLoc().getContext();
  handler.reset();
  for (Diagnostic &diagnostic : diagnostics)
    context->getDiagEngine().emit(std::move(diagnostic));
  diagnostics.clear();
  before.add(problems);
}
