//===- Report.h - What nnc compress prints ----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_COMPRESS_REPORT_H
#define NNC_TOOLS_NNC_COMPRESS_REPORT_H

#include "compiler/tools/nnc/compress/Session.h"

namespace nnc::tools {

/// The results of a run of nnc compress.
struct CompressResult {
  std::vector<onnx::CompressedSizes> sizes; ///< of the weights
  CompressEvaluation evaluation;
  int evaluated = 0; ///< models
  double seconds = 0;
};

llvm::json::Object toJson(CompressSession &session,
                          const CompressResult &result);
void printReport(CompressSession &session, const CompressResult &result);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_COMPRESS_REPORT_H
