//===- Suggest.h - What a mistyped word was meant to be ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_SUGGEST_H
#define NNC_TOOLS_DRIVER_SUGGEST_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// "; did you mean 'x'?" of the word closest to `given`, if any is close: it is
/// made by at most one edit (a letter more, less or another) for each three
/// letters, or it begins like `given`. Else empty.
std::string didYouMean(llvm::StringRef given,
                       const std::vector<std::string> &words);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_SUGGEST_H
