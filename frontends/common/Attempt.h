//===- Attempt.h - Import steps that may fail -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_ATTEMPT_H
#define NNC_FRONTENDS_COMMON_ATTEMPT_H

#include "frontends/common/Problems.h"

#include <memory>

namespace nnc::frontends {

/// A part of an import that may fail without making the import fail. Errors
/// that are reported during its lifetime are kept back.
class Attempt {
public:
  explicit Attempt(Problems &problems);
  /// Ends the attempt and drops the errors that it held back, except errors of
  /// the file itself (Problems::reportLasting), which are reported.
  ~Attempt();
  /// Reports the errors that were kept back; for an attempt whose failure is an
  /// error of the model.
  void report();
  bool hasFailed() const { return !problems.none(); }
  /// Returns whether the most severe error is that the model is invalid.
  bool isBroken() const { return problems.getStatus() == ImportStatus::broken; }
  /// Returns whether an error of the file itself was found
  /// (Problems::reportLasting).
  bool isLasting() const { return problems.hasLasting(); }
  /// Returns the first error with its location, for a message that explains why
  /// the attempt failed; "" if there is none.
  std::string describe() const;

private:
  Problems &problems;
  Problems before;
  std::vector<mlir::Diagnostic> diagnostics;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

/// An attempt that also holds back the unsupported operators that it finds.
/// Only report() adds them to `missing`, the importer's map of unsupported
/// operators.
template <class Missing> class AttemptWithMissing : public Attempt {
public:
  AttemptWithMissing(Problems &problems, Missing &missing)
      : Attempt(problems), missing(missing), before(std::move(missing)) {
    missing.clear();
  }
  ~AttemptWithMissing() { missing = std::move(before); }
  void report() {
    Attempt::report();
    for (auto &[name, found] : missing)
      before.insert({name, {found.first, 0}}).first->second.count +=
          found.count;
  }
  bool hasFailed() const { return Attempt::hasFailed() || !missing.empty(); }
  /// Returns whether the model is invalid, as opposed to one that only needs
  /// operators that nnc does not support.
  bool isBroken() const { return Attempt::isBroken() && missing.empty(); }
  std::string describe() const {
    std::string problem = Attempt::describe();
    if (!problem.empty() || missing.empty())
      return problem;
    return ("operator '" + missing.front().first.strref() +
            "' is not supported")
        .str();
  }

private:
  Missing &missing;
  Missing before;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_ATTEMPT_H
