//===- ParseJson.cpp - Safe parsing of untrusted JSON ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ParseJson.h"

using namespace nnc::frontends;

static constexpr size_t kMostLevels = 128, kMostBytes = size_t(64) << 20;

/// Returns true if the arrays and objects of a text are nested too deeply. If
/// the text is not valid JSON, the result does not matter because the parser
/// reports that.
static bool isTooDeep(llvm::StringRef text) {
  size_t levels = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      isQuoted = !isQuoted;
    else if (isQuoted)
      i += c == '\\';
    else if ((c == '[' || c == '{') && ++levels > kMostLevels)
      return true;
    else if ((c == ']' || c == '}') && levels != 0)
      --levels;
  }
  return false;
}

llvm::Expected<llvm::json::Value>
nnc::frontends::parseJson(llvm::StringRef text) {
  if (text.size() > kMostBytes)
    return llvm::createStringError("JSON of " + llvm::Twine(text.size()) +
                                   " bytes, more than the " +
                                   llvm::Twine(kMostBytes) + " that nnc reads");
  if (isTooDeep(text))
    return llvm::createStringError("JSON whose arrays and objects are nested "
                                   "more than " +
                                   llvm::Twine(kMostLevels) + " levels deep");
  return llvm::json::parse(text);
}
