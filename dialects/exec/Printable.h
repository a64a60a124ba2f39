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

/// The largest length in bytes of a name that is shown in full.
inline constexpr size_t kMaxShownName = 200;

/// Returns `text` with every character that has no glyph, or that changes how
/// others are displayed, replaced by its code point: a right-to-left override
/// becomes "<U+202E>". ASCII control characters become `control`; bytes that
/// are not UTF-8 become replacement characters.
std::string escapeUnprintable(llvm::StringRef text, char control);

/// Returns `text`, or if it is longer than `most` bytes, its beginning and end
/// with an ellipsis between them. UTF-8 characters are not split.
std::string shortenMiddle(llvm::StringRef text, size_t most = kMaxShownName);

/// Returns `text` with each of its words, which spaces separate, shortened.
std::string shortenWords(llvm::StringRef text, size_t most = kMaxShownName);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_PRINTABLE_H
