//===- Suggest.cpp - Suggestions for mistyped words -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Suggest.h"

#include <algorithm>

namespace nnc::frontends {

/// Returns a word in the form in which words are compared: in lower case, and
/// an option without its dashes.
static std::string normalize(llvm::StringRef word) {
  return word.ltrim('-').lower();
}

std::string didYouMean(llvm::StringRef given,
                       const std::vector<std::string> &words) {
  std::string wanted = normalize(given), closest;
  // Abbreviated words, such as "--weight" or "x86-64", match by their first
  // letters.
  if (wanted.size() > 2)
    for (const std::string &word : words)
      if (closest.empty() && word != given &&
          llvm::StringRef(normalize(word)).starts_with(wanted))
        closest = word;
  // The limit is at most the length of the word: otherwise every word would be
  // close to a single letter.
  unsigned least = std::min<unsigned>(
      std::max<unsigned>(1, (wanted.size() + 1) / 3) + 1, wanted.size());
  if (closest.empty())
    for (const std::string &word : words) {
      unsigned distance =
          llvm::StringRef(wanted).edit_distance(normalize(word));
      if (distance < least && word != given) {
        least = distance;
        closest = word;
      }
    }
  return closest.empty() ? "" : "; did you mean '" + closest + "'?";
}

} // namespace nnc::frontends
