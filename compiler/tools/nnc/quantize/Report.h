//===- Report.h - What nnc quantize prints --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_REPORT_H
#define NNC_TOOLS_NNC_QUANTIZE_REPORT_H

#include "compiler/tools/driver/quantization/Evaluation.h"
#include "compiler/tools/nnc/quantize/OnnxModel.h"

#include "llvm/Support/JSON.h"

namespace nnc::tools {

/// The numbers of a run that neither the session nor the evaluation has.
struct QuantizeTotals {
  int64_t floatBytes = 0; ///< of the model's file
  double seconds = 0;
  /// The noise of the outputs (getNoise) without equalization and, if that left
  /// it out, with it.
  double plainNoise = 0;
  std::optional<double> equalizedNoise;
  SearchResult search;

  /// Remembers the noise of both models, and returns whether the equalized one
  /// is at least as good.
  bool isBetterEqualized(const QuantizeSettings &settings,
                         const Evaluation &plain, const Evaluation &equalized);
};

llvm::json::Object toJson(OnnxModel &session, const Evaluation &evaluation,
                          const QuantizeTotals &totals);
void printReport(OnnxModel &session, const Evaluation &evaluation,
                 const QuantizeTotals &totals);

/// Adds what a search found to a report: the times of a layer, by its number,
/// or of the whole model.
void addTimes(int layer, const SearchResult &search,
              llvm::json::Object &object);
void addTimes(const SearchResult &search, llvm::json::Object &object);
/// Prints how many layers were equalized and corrected, if that was asked for.
void printMethods(const QuantizeSettings &settings, int equalized,
                  int corrected, const QuantizeTotals &totals);
void printSearch(const QuantizeSettings &settings, const SearchResult &search);
llvm::StringRef getName(quantize::Method method);
llvm::StringRef getName(quantize::Storage storage);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_REPORT_H
