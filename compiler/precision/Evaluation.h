//===- Evaluation.h - How far a quantized model is from the float one -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PRECISION_EVALUATION_H
#define NNC_COMPILER_PRECISION_EVALUATION_H

#include "compiler/accuracy/Noise.h"

#include <map>
#include <string>
#include <vector>

namespace nnc::precision {

/// How far a quantized model is from the float one.
struct Evaluation : accuracy::Score {
  std::map<std::string, accuracy::Noise> tensors;
  /// The noise that rounding and clipping alone adds to each tensor.
  std::map<std::string, accuracy::Noise> rounding;
  std::vector<accuracy::OutputNoise> outputs; ///< of the model itself
  int64_t bytes = 0;                          ///< of the quantized model
};

/// The tensors that an evaluation compares: the outputs alone, which takes less
/// time, or all tensors. Tensors that are not outputs are compared on a part of
/// the samples where there are many.
enum class Compared { outputs, tensors };

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_EVALUATION_H
