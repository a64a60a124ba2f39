//===- Frontend.cpp - The frontend for modules of nnc's own dialects ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/mlir/Import.h"

using namespace nnc::frontends;

/// Returns the text without white space and comments at its start.
static llvm::StringRef skipComments(llvm::StringRef text) {
  for (text = text.ltrim(); text.starts_with("//"); text = text.ltrim())
    text = text.split('\n').second;
  return text;
}

/// Returns true if a file is MLIR: bytecode has a magic number, and text begins
/// with a top-level op or an alias.
static bool recognizes(const FileStart &start) {
  llvm::StringRef bytes = start.bytes;
  if (bytes.starts_with("ML\xefR"))
    return true;
  if (!start.isText())
    return false;
  llvm::StringRef text = skipComments(bytes);
  for (llvm::StringRef word : {"module", "builtin.module", "func.func", "#loc"})
    if (text.consume_front(word))
      return text.empty() ||
             llvm::StringRef(" \t\n{@(=0123456789").contains(text.front());
  return false;
}

static std::vector<OpRow> listOps() { return {}; }

namespace nnc::module_file {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {
      "MLIR",
      ".mlir, .mlirbc",
      recognizes,
      /*hasMagic=*/true,
      importModel,
      listOps,
      "operators: a module holds those of nnc's own dialects nn and qnn",
      "",
      nullptr};
  return frontend;
}
} // namespace nnc::module_file
