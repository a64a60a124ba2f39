//===- Settings.h - The user's choices for a quantization -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_SETTINGS_H
#define NNC_TOOLS_NNC_QUANTIZE_SETTINGS_H

#include "compiler/tools/driver/compile/Driver.h"
#include "frontends/onnx/quantize/Quantizer.h"

#include <optional>

namespace nnc::tools {

struct QuantizeSettings {
  ModelOptions model; ///< for --mixed with the target and its threads
  std::string calibration, output, compiler, metric;
  onnx::QuantizeOptions options;
  quantize::Method method = quantize::Method::minmax;
  double percentile = 99.99;
  bool equalize = false, biasCorrection = false, mixed = false;
  std::optional<double> maxDrop; ///< a share: 0.005 for 0.5 %
  int threads = 1;               ///< for runs on the samples

  /// Whether layers are kept float for the drop or for the time.
  bool hasSearch() const { return maxDrop || mixed; }
};

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_SETTINGS_H
