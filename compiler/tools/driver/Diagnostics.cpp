//===- Diagnostics.cpp - Collects what MLIR reports -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Diagnostics.h"

#include "compiler/tools/driver/Terminal.h"

#include "dialects/exec/Printable.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <algorithm>
#include <fmt/format.h>

namespace nnc::tools {

/// The file and the name of the node that a location speaks of.
static void describe(mlir::Location location, Problem &problem) {
  location->walk([&](mlir::Location part) {
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(part);
        name && problem.node.empty())
      problem.node = name.getName().str();
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
        file && problem.file.empty()) {
      problem.file = file.getFilename().str();
      if (file.getLine() > 0) // of a text of IR
        problem.file += fmt::format(":{}:{}", file.getLine(), file.getColumn());
    }
    return mlir::WalkResult::advance();
  });
}

/// A problem is one line, and names from a model cannot steer the terminal.
static std::string printable(llvm::StringRef text) {
  return exec::escapeUnprintable(text, /*control=*/' ');
}

/// Names from a model may be as long as a file, and lists of them, too.
static std::string shorten(llvm::StringRef message) {
  return exec::shortenMiddle(exec::shortenWords(message), /*most=*/1200);
}

static void print(const Problem &problem) {
  clearProgress();
  std::string line = problem.file.empty() ? "nnc" : printable(problem.file);
  line = colouredForStderr(Colour::bold, line + ":");
  line += problem.severity == Problem::error
              ? colouredForStderr(Colour::red, " error:")
              : colouredForStderr(Colour::yellow, " warning:");
  if (!problem.node.empty())
    line += fmt::format(" node '{}':",
                        printable(exec::shortenMiddle(problem.node)));
  line += " " + printable(problem.message);
  for (const std::string &note : problem.notes)
    line += "; " + printable(note);
  fmt::print(stderr, "{}\n", line);
}

Diagnostics::Diagnostics(mlir::MLIRContext &context, bool quiet)
    : quiet(quiet), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        add(diagnostic);
      }) {}

void Diagnostics::add(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error &&
      diagnostic.getSeverity() != mlir::DiagnosticSeverity::Warning)
    return;
  Problem problem;
  problem.severity = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error
                         ? Problem::error
                         : Problem::warning;
  describe(diagnostic.getLocation(), problem);
  // What a model holds as bytes may be no text, which JSON does not hold.
  problem.message = shorten(llvm::json::fixUTF8(diagnostic.str()));
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    // The text of the op is for whoever debugs a pass.
    std::string text = note.str();
    if (!llvm::StringRef(text).starts_with("see current operation"))
      problem.notes.push_back(shorten(text));
  }
  if (!quiet)
    print(problem);
  problems.push_back(std::move(problem));
}

bool Diagnostics::hasErrors() const {
  return std::any_of(problems.begin(), problems.end(), [](const Problem &p) {
    return p.severity == Problem::error;
  });
}

llvm::json::Array Diagnostics::toJson() const {
  llvm::json::Array array;
  for (const Problem &problem : problems)
    array.push_back(llvm::json::Object{
        {"severity", problem.severity == Problem::error ? "error" : "warning"},
        {"file", problem.file},
        {"node", problem.node},
        {"message", problem.message},
        {"notes", problem.notes}});
  return array;
}

} // namespace nnc::tools
