//===- Problems.cpp - Reports of errors in a model ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Problems.h"

using namespace mlir;
using namespace nnc::frontends;

Problems::Problems(MLIRContext &context, StringRef path, StringRef trial,
                   const Limits &limits)
    : file(FileLineColLoc::get(&context, path, 0, 0)), trial(trial),
      limits(limits) {}

Location Problems::getLoc(StringRef name) const {
  if (name.empty())
    return file;
  return NameLoc::get(StringAttr::get(file.getContext(), name), file);
}

void nnc::frontends::addExpectation(InFlightDiagnostic &problem,
                                    const Twine &expected, const Twine &found) {
  Diagnostic *diagnostic = problem.getUnderlyingDiagnostic();
  if (!diagnostic)
    return;
  MLIRContext *context = diagnostic->getLocation().getContext();
  auto place = [&](StringRef name) {
    return NameLoc::get(StringAttr::get(context, name));
  };
  diagnostic->attachNote(place(kExpectedNote)) << expected;
  diagnostic->attachNote(place(kFoundNote)) << found;
}

/// Returns the severity of a status. The most severe problem determines the
/// status of the import.
static int getSeverity(ImportStatus status) {
  switch (status) {
  case ImportStatus::ok:
    return 0;
  case ImportStatus::unbound:
    return 1;
  case ImportStatus::limit:
    return 2;
  case ImportStatus::unsupported:
    return 3;
  case ImportStatus::broken:
    return 4;
  case ImportStatus::fault:
    return 5;
  }
  llvm_unreachable("unknown status");
}

Problems Problems::take() {
  Problems taken = *this;
  worst = ImportStatus::ok;
  places.clear();
  lasting.clear();
  return taken;
}

void Problems::add(const Problems &other) {
  if (getSeverity(other.worst) > getSeverity(worst))
    worst = other.worst;
  places.insert(other.places.begin(), other.places.end());
  lasting.insert(other.lasting.begin(), other.lasting.end());
}

void Problems::addLasting(const Problems &other) {
  for (auto [loc, status] : other.lasting) {
    if (getSeverity(status) > getSeverity(worst))
      worst = status;
    places.insert(loc);
    lasting.insert({loc, status});
  }
}

InFlightDiagnostic Problems::reportLasting(ImportStatus status, Location loc) {
  lasting.insert({loc, status});
  return report(status, loc);
}

InFlightDiagnostic Problems::report(ImportStatus status, Location loc,
                                    StringRef op) {
  if (getSeverity(status) > getSeverity(worst))
    worst = status;
  places.insert(loc);
  const bool isOfFile = lasting.contains(loc);
  // The metadata is for the code that prints the problem.
  if (!op.empty())
    loc = FusedLoc::get({loc}, StringAttr::get(file.getContext(), op),
                        file.getContext());
  bool isOfSizes =
      status != ImportStatus::unsupported && status != ImportStatus::fault;
  if (trial.empty() || !isOfSizes || isOfFile)
    return emitError(loc);
  InFlightDiagnostic warning = emitWarning(loc);
  warning << trial << ": ";
  return warning;
}
