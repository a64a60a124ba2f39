//===- Suggest.h - Suggestions for mistyped words -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_SUGGEST_H
#define NNC_FRONTENDS_COMMON_SUGGEST_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace nnc::frontends {

/// Returns "; did you mean 'x'?" with the word closest to `given`, or an empty
/// string if no word is close. A word is close if it differs by at most one
/// edit (a letter inserted, removed or replaced) for every three letters, or
/// begins with the same letters.
std::string didYouMean(llvm::StringRef given,
                       const std::vector<std::string> &words);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_SUGGEST_H
