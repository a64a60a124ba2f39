//===- Metadata.cpp - A model's metadata as a C header --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/manifest/Metadata.h"

#include "dialects/exec/Identifiers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Returns a C string literal with one line of source for each line of `text`.
/// Bytes that are not ASCII, mostly UTF-8, stay unchanged.
static std::string literal(llvm::StringRef text) {
  std::string result = "    \"";
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = text[i];
    if (c == '\n')
      result += i + 1 < text.size() ? "\\n\"\n    \"" : "\\n";
    else if (c == '"' || c == '\\')
      result += {'\\', char(c)};
    else if (c == '?') // no trigraphs
      result += "\\?";
    else if (c < 0x20 || c == 0x7f) // three digits: the next may be one too
      result += fmt::format("\\{:03o}", c);
    else
      result += char(c);
  }
  return result + "\"";
}

static std::string identifier(llvm::StringRef key, llvm::StringSet<> &taken) {
  std::string base = exec::toCWords(key);
  std::string unique = base;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = fmt::format("{}_{}", base, i);
  return unique;
}

std::string metadataHeader(
    const std::string &name,
    const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string guard = llvm::StringRef(name).upper() + "_METADATA_H";
  std::string text = fmt::format("/* The metadata of the model {0}. */\n"
                                 "#ifndef {1}\n#define {1}\n",
                                 name, guard);
  llvm::StringSet<> taken;
  for (const auto &[key, value] : entries)
    text += fmt::format("\nstatic const char {}_metadata_{}[] =\n{};\n", name,
                        identifier(key, taken), literal(value));
  return text + fmt::format("\n#endif /* {} */\n", guard);
}

} // namespace nnc::tools
