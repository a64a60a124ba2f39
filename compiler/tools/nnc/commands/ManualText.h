//===- ManualText.h - Manual pages as text --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDS_MANUALTEXT_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDS_MANUALTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::tools {

/// Returns a page that `nnc manual` prints in the man macros of roff as text
/// for a terminal of so many columns, with what is bold in the page in bold.
std::string renderManual(llvm::StringRef page, size_t columns);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDS_MANUALTEXT_H
