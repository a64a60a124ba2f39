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

std::string Attempt::describe() const {
  for (const Diagnostic &diagnostic : diagnostics) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      continue;
    std::string place;
    diagnostic.getLocation()->walk([&](Location part) {
      if (auto name = dyn_cast<NameLoc>(part); name && place.empty())
        place = ("node '" + name.getName().strref() + "': ").str();
      return WalkResult::advance();
    });
    return place + diagnostic.str();
  }
  return "";
}

Attempt::~Attempt() {
  MLIRContext *context = before.getLoc().getContext();
  handler.reset();
  for (Diagnostic &diagnostic : diagnostics)
    if (problems.isLasting(diagnostic.getLocation()))
      context->getDiagEngine().emit(std::move(diagnostic));
  before.addLasting(problems);
  problems = before;
}
