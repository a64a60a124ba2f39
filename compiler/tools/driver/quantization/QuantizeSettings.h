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
  ModelOptions model; ///< target and threads for --mixed
  std::string calibration, output, compiler, metric;
  onnx::QuantizeOptions options;
  quantize::Method method = quantize::Method::minmax;
  double percentile = 99.99;
  bool equalize = false, biasCorrection = false, mixed = false;
  std::optional<double> maxDrop; ///< a fraction: 0.005 for 0.5 %
  int threads = 1;               ///< number of threads for runs on the samples

  /// Returns true if a search keeps layers float to limit the drop of accuracy
  /// or to save time.
  bool hasSearch() const { return maxDrop || mixed; }
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_QUANTIZESETTINGS_H
