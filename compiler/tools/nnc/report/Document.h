//===- Document.h - The report on a model as JSON ------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_REPORT_DOCUMENT_H
#define NNC_TOOLS_NNC_REPORT_DOCUMENT_H

#include "compiler/tools/driver/toolchain/CodeBytes.h"
#include "compiler/tools/nnc/figures/Explanation.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "llvm/Support/JSON.h"

namespace nnc::tools {

/// The format number at the start of a document. It increases when the current
/// page can no longer show older documents.
inline constexpr int64_t kDocumentFormat = 2;

/// Describes a compiled model: its layers and the alternatives that the search
/// compared, the graph, the arena, the weights, the machine, and the size of
/// the code if that is known. The description has no times of runs and no
/// paths, so that it is the same for the same model, options and compiler.
llvm::json::Object describeModel(const Prepared &prepared,
                                 const Explanation &explanation,
                                 const std::optional<CodeBytes> &code);

/// Returns what is wrong with a document that was read from a file, or an empty
/// string if a page can show it.
std::string findDocumentProblem(const llvm::json::Value &document);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_REPORT_DOCUMENT_H
