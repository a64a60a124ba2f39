//===- Depfile.cpp - Dependencies of emitted code for make ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/manifest/Depfile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nnc::tools {

/// Escapes a path so that make, Ninja and CMake read it back. A backslash
/// stands for itself unless it precedes a character that it escapes.
static std::string escape(llvm::StringRef path) {
  std::string escaped;
  size_t backslashes = 0;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\t')
      escaped.append(backslashes + 1, '\\');
    else if (c == '$')
      escaped += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    escaped += c;
  }
  return escaped;
}

static std::string toAbsolute(llvm::StringRef path) {
  llvm::SmallString<256> whole(path);
  // If there is no current folder, the path stays unchanged.
  (void)llvm::sys::fs::make_absolute(whole);
  llvm::sys::path::remove_dots(whole);
  return whole.str().str();
}

std::string printDepfile(const Manifest &manifest,
                         const std::vector<std::string> &sources) {
  std::string rule =
      escape(toAbsolute(manifest.sourceFolder() + "/" + manifest.getSource())) +
      ":";
  std::string empty;
  for (const std::string &source : sources) {
    std::string file = escape(toAbsolute(source));
    rule += " \\\n  " + file;
    empty += file + ":\n";
  }
  return rule + "\n" + empty;
}

} // namespace nnc::tools
