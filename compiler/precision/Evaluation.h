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

/// The difference of a quantized model from the float one.
struct Evaluation : accuracy::Score {
  std::map<std::string, accuracy::Noise> tensors;
  /// The noise that rounding and clipping of the tensor itself adds to it, by
  /// the name of the tensor.
  std::map<std::string, accuracy::Noise> rounding;
  std::vector<accuracy::OutputNoise> outputs; ///< noise of the model's outputs
  int64_t bytes = 0;                          ///< size of the quantized model
};

/// The tensors that an evaluation compares: only the outputs, which takes less
/// time, or all tensors. If there are many samples, tensors that are not
/// outputs are compared on some of them only.
enum class Compared { outputs, tensors };

} // namespace nnc::precision

#endif // NNC_COMPILER_PRECISION_EVALUATION_H
