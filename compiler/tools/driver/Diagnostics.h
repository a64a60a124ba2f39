//===- Diagnostics.h - Collects what MLIR reports -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_DIAGNOSTICS_H
#define NNC_TOOLS_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// An error or a warning: one line on stderr, or with --json one object.
struct Problem {
  enum Severity { error, warning } severity;
  std::string file, node; ///< empty where it is about neither
  std::string op;         ///< the operator of the node, where it is known
  std::string message;
  std::vector<std::string> notes;
};

/// With --json, problems are part of the document on stdout, and not printed.
void keepProblemsForJson();
bool areProblemsForJson();

/// Prints the problem, or keeps it for the document.
void report(Problem problem);

/// Every problem that was reported in this process.
llvm::json::Array problemsToJson();

/// While it lives, reports the diagnostics of a context as they come.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_DIAGNOSTICS_H
