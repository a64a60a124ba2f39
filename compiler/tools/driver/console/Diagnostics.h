//===- Diagnostics.h - Collects what MLIR reports -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_DIAGNOSTICS_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// An error or a warning. It is printed as one line on stderr or, with --json,
/// as an object of the document (output.schema.json).
struct Problem {
  enum Severity { error, warning } severity;
  std::string file, node; ///< empty if the problem is not about a file or node
  std::string op;         ///< operator of the node, if it is known
  /// A sentence that includes everything. The advice on what to do comes last,
  /// after a semicolon.
  std::string message;
  /// Parts of the message, or empty strings if it has no such parts.
  std::string expected, found;
  std::vector<std::string> notes;

  /// Returns the advice at the end of the message, or an empty string.
  llvm::StringRef getHint() const;
};

/// Makes all problems part of the JSON document on stdout, so that they are not
/// printed to stderr.
void keepProblemsForJson();
bool areProblemsForJson();

/// Prints the problem, or keeps it for the JSON document.
void report(Problem problem);

/// Drops all problems that are reported until the end of its scope. It serves
/// compilations that only find out what an option would change.
class DroppedReports {
public:
  DroppedReports();
  ~DroppedReports();
};

/// Returns every problem that was reported in this process.
llvm::json::Array problemsToJson();

/// Reports the diagnostics of an MLIR context as problems, until the end of its
/// scope.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_DIAGNOSTICS_H
