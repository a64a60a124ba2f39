//===- Report.h - Output of nnc compress ---------------------- -*- C++ -*-===//
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
  std::vector<compression::CompressedSizes> sizes; ///< sizes of each weight
  compression::Evaluation evaluation;
  int evaluated = 0; ///< number of models that were evaluated
  double seconds = 0;
};

/// The figures of the model and its weights for a report.
struct CompressedModel {
  const CompressSettings &settings;
  std::vector<compression::WeightSummary> weights;
  std::vector<compression::LeftSummary> left;
  /// Number of folded batch norms and other factors of channels.
  int folded = 0;
  int64_t fileBytes = 0; ///< size of the original model's file
  size_t samples = 0;

  static CompressedModel get(CompressSession &session);
};

llvm::json::Object toJson(const CompressedModel &model,
                          const CompressResult &result);
void printReport(const CompressedModel &model, const CompressResult &result);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_COMPRESS_REPORT_H
