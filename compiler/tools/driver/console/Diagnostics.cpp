//===- Diagnostics.cpp - Collects what MLIR reports -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Diagnostics.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"

#include "dialects/exec/Printable.h"
#include "frontends/common/Problems.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Sets the file, the name of the node and its operator from a location.
static void describe(mlir::Location location, Problem &problem) {
  location->walk([&](mlir::Location part) {
    if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(part))
      if (auto op =
              llvm::dyn_cast_or_null<mlir::StringAttr>(fused.getMetadata());
          op && problem.op.empty())
        problem.op = op.getValue().str();
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(part);
        name && problem.node.empty())
      problem.node = name.getName().str();
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
        file && problem.file.empty()) {
      problem.file = file.getFilename().str();
      if (file.getLine() > 0) // position in a text of IR
        problem.file += fmt::format(":{}:{}", file.getLine(), file.getColumn());
    }
    return mlir::WalkResult::advance();
  });
}

/// Returns a problem's text as a single line without control characters, which
/// names from a model may contain.
static std::string printable(llvm::StringRef text) {
  return exec::escapeUnprintable(text, /*control=*/' ');
}

/// Shortens long messages: names from a model, and lists of them, may be as
/// long as a file.
static std::string shorten(llvm::StringRef message) {
  return exec::shortenMiddle(exec::shortenWords(message), /*most=*/1200);
}

/// Returns the length of the quoted name at the start of `text`, including the
/// quotes, or 0 if `text` does not start with one. A quote inside a word is an
/// apostrophe.
static size_t measureQuoted(llvm::StringRef text) {
  if (!text.starts_with("'"))
    return 0;
  for (size_t end = text.find('\'', 1); end != llvm::StringRef::npos;
       end = text.find('\'', end + 1))
    if (end + 1 == text.size() || !llvm::isAlnum(text[end + 1]))
      return end + 1;
  return 0;
}

llvm::StringRef Problem::getHint() const {
  llvm::StringRef text = message, hint;
  int depth = 0; // number of open brackets
  for (size_t i = 0; i < text.size(); ++i) {
    bool isInWord = i > 0 && llvm::isAlnum(text[i - 1]);
    if (size_t quoted = isInWord ? 0 : measureQuoted(text.substr(i)))
      i += quoted - 1;
    else if (llvm::StringRef("([{").contains(text[i]))
      ++depth;
    else if (llvm::StringRef(")]}").contains(text[i]))
      depth = std::max(0, depth - 1);
    else if (depth == 0 && text.substr(i).starts_with("; "))
      hint = text.substr(i + 2);
  }
  // A message that was shortened may lack a closing bracket.
  size_t last = depth > 0 ? text.rfind("; ") : llvm::StringRef::npos;
  return last == llvm::StringRef::npos ? hint : text.substr(last + 2);
}

static void print(const Problem &problem) {
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
    line += "; " + note;
  writeMessage(line + "\n");
}

static std::vector<Problem> reported;
static bool forJson = false;

void keepProblemsForJson() { forJson = true; }
bool areProblemsForJson() { return forJson; }

/// The number of open scopes of DroppedReports.
static int droppingScopes = 0;

DroppedReports::DroppedReports() { ++droppingScopes; }
DroppedReports::~DroppedReports() { --droppingScopes; }

void report(Problem problem) {
  if (droppingScopes > 0)
    return;
  // Bytes from a model may not be valid UTF-8, which JSON requires.
  for (std::string *text :
       {&problem.file, &problem.node, &problem.op, &problem.message,
        &problem.expected, &problem.found})
    *text = llvm::json::fixUTF8(*text);
  bool isTold = problem.severity == Problem::error || !isQuiet();
  if (!forJson && isTold)
    print(problem);
  reported.push_back(std::move(problem));
}

llvm::json::Array problemsToJson() {
  llvm::json::Array array;
  for (const Problem &problem : reported)
    array.push_back(llvm::json::Object{
        {"severity", problem.severity == Problem::error ? "error" : "warning"},
        {"file", problem.file},
        {"node", problem.node},
        {"op", problem.op},
        {"message", problem.message},
        {"expected", problem.expected},
        {"found", problem.found},
        {"hint", problem.getHint()},
        {"notes", problem.notes}});
  return array;
}

void printError(const std::string &message) {
  report({Problem::error, "", "", "", message, "", "", {}});
}

void printWarning(const std::string &message) {
  report({Problem::warning, "", "", "", message, "", "", {}});
}

static void add(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error &&
      diagnostic.getSeverity() != mlir::DiagnosticSeverity::Warning)
    return;
  Problem problem;
  problem.severity = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error
                         ? Problem::error
                         : Problem::warning;
  describe(diagnostic.getLocation(), problem);
  problem.message = shorten(llvm::json::fixUTF8(printable(diagnostic.str())));
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    // The text of the op is useful only to people who debug a pass.
    std::string text = note.str();
    if (llvm::StringRef(text).starts_with("see current operation"))
      continue;
    text = shorten(llvm::json::fixUTF8(printable(text)));
    auto place = llvm::dyn_cast<mlir::NameLoc>(note.getLocation());
    llvm::StringRef part = place ? place.getName().strref() : "";
    if (part == frontends::kExpectedNote)
      problem.expected = text;
    else if (part == frontends::kFoundNote)
      problem.found = text;
    else
      problem.notes.push_back(text);
  }
  report(std::move(problem));
}

Diagnostics::Diagnostics(mlir::MLIRContext &context) : handler(&context, add) {}

} // namespace nnc::tools
