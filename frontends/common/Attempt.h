//===- Attempt.h - Something that may fail while importing ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_ATTEMPT_H
#define NNC_FRONTENDS_COMMON_ATTEMPT_H

#include "frontends/common/Problems.h"

#include <memory>

namespace nnc::frontends {

/// Something that may fail without being a problem of the model: what is
/// reported in the meantime is kept back.
class Attempt {
public:
  explicit Attempt(Problems &problems);
  /// Reports the problems that last (Problems::reportLasting): they count
  /// although the attempt does not.
  ~Attempt();
  /// Reports what was kept back, for an attempt that counts.
  void report();
  bool hasFailed() const { return !problems.none(); }
  /// Whether the severest problem that it found is an unsound model.
  bool isBroken() const { return problems.getStatus() == ImportStatus::broken; }
  /// Whether it found a problem of the file itself (Problems::reportLasting).
  bool isLasting() const { return problems.hasLasting(); }
  /// Returns the first problem and where it is, for a message about an attempt
  /// that has failed; "" if none was reported.
  std::string describe() const;

private:
  Problems &problems;
  Problems before;
  std::vector<mlir::Diagnostic> diagnostics;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

/// An attempt that keeps back the operators, too, that it finds to be missing:
/// `missing` is the importer's map of them.
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
  /// Whether it found something unsound, and nothing that nnc lacks.
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
