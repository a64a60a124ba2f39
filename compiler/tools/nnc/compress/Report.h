//===- Report.h - What nnc compress prints ----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_COMPRESS_REPORT_H
#define NNC_TOOLS_NNC_COMPRESS_REPORT_H

#include "compiler/tools/nnc/compress/CompressSession.h"

namespace nnc::tools {

/// The results of a run of nnc compress.
struct CompressResult {
  std::vector<compression::CompressedSizes> sizes; ///< of the weights
  compression::Evaluation evaluation;
  int evaluated = 0; ///< models
  double seconds = 0;
};

/// The figures of the model and its weights that a report tells.
struct CompressedModel {
  const CompressSettings &settings;
  std::vector<compression::WeightSummary> weights;
  std::vector<compression::LeftSummary> left;
  int folded = 0;        ///< batch norms and other factors of channels
  int64_t fileBytes = 0; ///< of the model before
  size_t samples = 0;

  static CompressedModel get(CompressSession &session);
};

llvm::json::Object toJson(const CompressedModel &model,
                          const CompressResult &result);
void printReport(const CompressedModel &model, const CompressResult &result);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_COMPRESS_REPORT_H
