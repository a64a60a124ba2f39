//===- Page.h - The HTML page that shows reports -------------- -*- C++ -*-===//
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

/// Returns an HTML page that contains everything it needs: the style, the
/// script, and one document, or two to compare.
std::string makePage(const llvm::json::Array &documents);

/// Returns the first document of a page, or of the output of `nnc report
/// --json`. Returns nullopt if the file is neither, as it may be a model then.
llvm::Expected<std::optional<llvm::json::Value>>
readDocument(const std::string &file);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_REPORT_PAGE_H
