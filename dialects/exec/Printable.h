//===- Printable.h - A model's text as people may see it --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_PRINTABLE_H
#define NNC_DIALECTS_EXEC_PRINTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::exec {

/// A name that is longer than so many bytes is shortened where people read it.
inline constexpr size_t kMaxShownName = 200;

/// `text` with all characters that have no glyph, or that change how others are
/// shown, spelled out: a right-to-left override becomes "<U+202E>". Control
/// characters of ASCII become `control` each; bytes that are no UTF-8 become
/// replacement characters.
std::string escapeUnprintable(llvm::StringRef text, char control);

/// `text`, or where it is longer than `most` bytes its beginning and end with
/// an ellipsis between them. Characters of UTF-8 stay whole.
std::string shortenMiddle(llvm::StringRef text, size_t most = kMaxShownName);

/// `text` with each of its words, which a space ends, shortened.
std::string shortenWords(llvm::StringRef text, size_t most = kMaxShownName);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_PRINTABLE_H
