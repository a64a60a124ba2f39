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

/// A tensor for each input of the model, in the manifest's order.
struct Sample {
  std::string name; ///< file, and where that holds several, which of them
  std::vector<Tensor> inputs;
};

/// Reads samples from a folder of .npz files (and .npy files where the model
/// has one input), or from such a file. An array holds a sample; or several,
/// along an additional first axis, or along the first axis as a multiple of the
/// model's own. Reports everything that is wrong.
ExitCode readCalibration(const std::string &path, const Manifest &manifest,
                         std::vector<Sample> &samples);

/// Returns the files that are read from such a folder or file.
std::vector<std::string> listCalibrationFiles(const std::string &path);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SAMPLES_CALIBRATION_H
