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

/// Returns a manual page as text for a terminal with `columns` columns. `page`
/// consists of the roff man macros that `nnc manual` prints. Bold parts of the
/// page are bold in the text.
std::string renderManual(llvm::StringRef page, size_t columns);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDS_MANUALTEXT_H
