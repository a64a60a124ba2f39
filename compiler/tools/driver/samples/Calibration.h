//===- Calibration.h - Samples of a model's inputs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SAMPLES_CALIBRATION_H
#define NNC_COMPILER_TOOLS_DRIVER_SAMPLES_CALIBRATION_H

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// One sample for the model: a tensor for each input, in the manifest's order.
struct Sample {
  /// File name, and the index if the file holds several samples.
  std::string name;
  std::vector<Tensor> inputs;
};

/// Reads samples from a folder of .npz files (and of .npy files if the model
/// has one input), or from a single such file. An array holds one sample, or
/// several: along an additional first axis, or along the first axis if its size
/// is a multiple of the model's own. Reports everything that is wrong.
ExitCode readCalibration(const std::string &path, const Manifest &manifest,
                         std::vector<Sample> &samples);

/// Returns the files that readCalibration() reads for this path.
std::vector<std::string> listCalibrationFiles(const std::string &path);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SAMPLES_CALIBRATION_H
