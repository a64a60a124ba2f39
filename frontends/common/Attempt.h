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
  ~Attempt() { problems = before; }
  /// Reports what was kept back, for an attempt that counts.
  void report();
  bool hasFailed() const { return !problems.none(); }

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

private:
  Missing &missing;
  Missing before;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_ATTEMPT_H
