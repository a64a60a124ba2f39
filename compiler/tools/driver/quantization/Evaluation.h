//===- Evaluation.h - Noise of a quantized model --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_EVALUATION_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_EVALUATION_H

#include "compiler/precision/Evaluation.h"
#include "compiler/precision/FloatSearch.h"
#include "compiler/tools/driver/accuracy/Comparison.h"
#include "compiler/tools/driver/quantization/RunnableModel.h"

namespace nnc::tools {

using precision::Compared;
using precision::Evaluation;
using precision::SearchResult;

/// Returns the mean over all outputs of the noise relative to the signal.
double getNoise(const Evaluation &evaluation);

/// Runs the quantized model on all samples and compares it with the float one.
ExitCode evaluate(RunnableModel &model, Compared compared,
                  Evaluation &evaluation);

/// Chooses which layers of a quantized model stay float, by the settings of the
/// model (precision::limitDrop).
ExitCode limitDrop(RunnableModel &model, Evaluation &evaluation,
                   SearchResult &result);

/// Warns if a search kept all layers float.
void warnOfFloats(const RunnableModel &model, const SearchResult &search);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_EVALUATION_H
