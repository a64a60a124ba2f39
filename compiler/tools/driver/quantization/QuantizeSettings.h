//===- QuantizeSettings.h - Choices for a quantization ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZESETTINGS_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZESETTINGS_H

#include "compiler/tools/driver/options/ModelOptions.h"
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

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZESETTINGS_H
