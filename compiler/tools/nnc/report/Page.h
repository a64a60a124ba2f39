//===- Page.h - The file that shows reports ---------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_REPORT_PAGE_H
#define NNC_TOOLS_NNC_REPORT_PAGE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace nnc::tools {

/// Returns a page of HTML with everything that it needs: style, script, and the
/// documents, one or two that it compares.
std::string makePage(const llvm::json::Array &documents);

/// Returns the first document of a page, or of what `nnc report --json` has
/// printed; nullopt if the file is neither, but perhaps a model.
llvm::Expected<std::optional<llvm::json::Value>>
readDocument(const std::string &file);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_REPORT_PAGE_H
