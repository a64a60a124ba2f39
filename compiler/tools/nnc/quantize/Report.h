//===- Report.h - Output of nnc quantize ----------------------------------===//
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

/// The figures of a run that neither the session nor the evaluation holds.
struct QuantizeTotals {
  int64_t floatBytes = 0; ///< size of the model's file
  double seconds = 0;
  /// The noise of the outputs (getNoise) without equalization, and the noise
  /// with it if the result was better without equalization.
  double plainNoise = 0;
  std::optional<double> equalizedNoise;
  SearchResult search;

  /// Stores the noise of both models, and returns true if the equalized one is
  /// at least as good.
  bool isBetterEqualized(const QuantizeSettings &settings,
                         const Evaluation &plain, const Evaluation &equalized);
};

llvm::json::Object toJson(OnnxModel &session, const Evaluation &evaluation,
                          const QuantizeTotals &totals);
void printReport(OnnxModel &session, const Evaluation &evaluation,
                 const QuantizeTotals &totals);

/// Adds the times that a search found to the report of a layer, given by its
/// number, or to the report of the whole model.
void addTimes(int layer, const SearchResult &search,
              llvm::json::Object &object);
void addTimes(const SearchResult &search, llvm::json::Object &object);
/// Prints how many layers were equalized and bias-corrected, if these methods
/// were asked for.
void printMethods(const QuantizeSettings &settings, int equalized,
                  int corrected, const QuantizeTotals &totals);
void printSearch(const QuantizeSettings &settings, const SearchResult &search);
llvm::StringRef getName(quantize::Method method);
llvm::StringRef getName(quantize::Storage storage);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_REPORT_H
