//===- Embedded.cpp - Text of runtime/ and templates/ inside the compiler -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

using namespace mlir;
using namespace nnc;

namespace {
struct File {
  llvm::StringLiteral path;
  llvm::StringLiteral text;
};
} // namespace

static constexpr File kFiles[] = {
#include "codegen/Embedded.inc"
};

std::optional<StringRef> codegen::getEmbedded(StringRef path) {
  for (const File &file : kFiles)
    if (file.path == path)
      return StringRef(file.text);
  return std::nullopt;
}

std::string codegen::fillTemplate(StringRef name, const Values &values) {
  std::optional<StringRef> text =
      getEmbedded(("codegen/templates/" + name).str());
  assert(text && "no such template");
  std::string result;
  StringRef rest = *text;
  while (!rest.empty()) {
    auto [before, behind] = rest.split('@');
    result += before;
    if (behind.empty())
      break;
    auto [key, after] = behind.split('@');
    auto value = values.find(key);
    assert(value != values.end() && "a key without a value");
    result += value->second;
    rest = after;
  }
  return result;
}
