//===- Suggest.cpp - What a mistyped word was meant to be -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Suggest.h"

#include <algorithm>

namespace nnc::tools {

std::string didYouMean(llvm::StringRef given,
                       const std::vector<std::string> &words) {
  std::string lower = given.lower(), closest;
  // Of a single letter nothing would be left.
  unsigned least = std::min<unsigned>(
      std::max<unsigned>(1, (lower.size() + 1) / 3) + 1, lower.size());
  for (llvm::StringRef word : words) {
    unsigned distance = llvm::StringRef(lower).edit_distance(word.lower());
    if (distance < least && word != given) {
      least = distance;
      closest = word.str();
    }
  }
  // "--weight" and "x86-64" are cut short.
  if (closest.empty() && lower.size() > 2)
    for (llvm::StringRef word : words)
      if (closest.empty() && word.starts_with_insensitive(lower))
        closest = word.str();
  return closest.empty() ? "" : "; did you mean '" + closest + "'?";
}

} // namespace nnc::tools
