//===- Evaluation.h - How far a quantized model is from the float one -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H
#define NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H

#include "compiler/tools/nnc/accuracy/Comparison.h"
#include "compiler/tools/nnc/quantize/SearchedModel.h"

namespace nnc::tools {

/// How far a quantized model is from the float one.
struct Evaluation : Score {
  std::map<std::string, Noise> tensors;
  /// The noise that rounding and clipping alone adds to each tensor.
  std::map<std::string, Noise> rounding;
  std::vector<OutputNoise> outputs; ///< of the model itself
  int64_t bytes = 0;                ///< of the quantized model
};

/// The tensors that an evaluation compares: the outputs alone, which takes less
/// time, or all tensors. Tensors that are not outputs are compared on a part of
/// the samples where there are many.
enum class Compared { outputs, tensors };

/// Returns the mean over the outputs of noise as a share of the signal.
double getNoise(const Evaluation &evaluation);

/// Runs the quantized model on all samples and compares it with the float one.
ExitCode evaluate(SearchedModel &model, Compared compared,
                  Evaluation &evaluation);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H
