//===- StatusCodes.cpp - Return values of a run ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

namespace {
/// A line of status_codes.inc.
struct StatusCode {
  StringRef name;
  int number;
  bool (*isUsed)(exec::ProgramOp);
  StringRef comment;
};
} // namespace

static bool always(exec::ProgramOp) { return true; }
static bool usesBlocks(exec::ProgramOp program) { return hasBlocks(program); }
static bool usesTiles(exec::ProgramOp program) { return program.getTiles(); }
static bool hasSizes(exec::ProgramOp program) {
  return !program.getSizes().empty();
}

static const StatusCode kStatusCodes[] = {
#define NNC_STATUS_CODE(name, number, isUsed, comment)                         \
  {#name, number, isUsed, comment},
#include "codegen/status_codes.inc"
#undef NNC_STATUS_CODE
};

std::string codegen::printStatusCodes(exec::ProgramOp program) {
  const std::string name = program.getSymName().str();
  SmallVector<std::string> lines;
  for (const StatusCode &code : kStatusCodes) {
    if (!code.isUsed(program))
      continue;
    auto [head, tail] = code.comment.split("@name@");
    std::string comment =
        head == code.comment ? code.comment.str() : (head + name + tail).str();
    if (!comment.empty())
      comment = " /* " + comment + " */";
    bool isLast = &code == std::end(kStatusCodes) - 1;
    lines.push_back(("  " + program.getSymName().upper() + "_" + code.name +
                     " = " + llvm::Twine(code.number) + (isLast ? "" : ",") +
                     comment + "\n")
                        .str());
  }
  return llvm::join(lines, "");
}
