//===- Comparison.h - Noise of an edited model ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_ACCURACY_COMPARISON_H
#define NNC_COMPILER_TOOLS_DRIVER_ACCURACY_COMPARISON_H

#include "compiler/accuracy/LeastCount.h"
#include "compiler/accuracy/Noise.h"
#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/manifest/Manifest.h"

#include "llvm/Support/JSON.h"

#include <memory>
#include <optional>
#include <string>

namespace nnc::tools {

using accuracy::Noise;
using accuracy::OutputNoise;
using accuracy::Score;

/// Returns the empty record of an output's noise, before any comparison.
/// `isSoftmax` tells whether the output is the result of a softmax.
OutputNoise describeOutput(const Port &output, bool isSoftmax);
/// Adds one sample to `output`: the expected and the actual value.
void compareOutput(const Tensor &expected, const Tensor &actual,
                   OutputNoise &output);
/// Scores a model with the user's command, whose last printed number is the
/// score. The command runs once for `floatFile` in each run of nnc, and for a
/// file that holds `model` and whose name ends in `extension`.
ExitCode scoreByCommand(const std::string &command,
                        const std::string &floatFile, const std::string &model,
                        Score &score, const char *extension = ".onnx");

/// Returns a progress display for a search that chooses layers.
std::unique_ptr<accuracy::SearchProgress> showSearch();

llvm::json::Array toJson(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the noise of the outputs as a table.
void print(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the score, if there is one.
void print(const Score &score);
/// Returns a text such as "23.5", or "exact" if there is no noise.
std::string formatDecibels(std::optional<double> decibels);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_ACCURACY_COMPARISON_H
