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

struct Problem {
  enum Severity { error, warning } severity;
  std::string file, node, message;
  std::vector<std::string> notes;
};

/// While it lives, takes the diagnostics of a context: prints each as it comes,
/// one line, and keeps it.
class Diagnostics {
public:
  /// `quiet` keeps without printing, for output that a program reads.
  Diagnostics(mlir::MLIRContext &context, bool quiet);

  const std::vector<Problem> &all() const { return problems; }
  bool hasErrors() const;
  llvm::json::Array toJson() const;

private:
  void add(mlir::Diagnostic &diagnostic);

  std::vector<Problem> problems;
  bool quiet;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_DIAGNOSTICS_H
