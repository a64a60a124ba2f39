//===- Comparison.h - How far an edited model is from the float one -------===//
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

/// Describes an output before it is compared; `isSoftmax` tells whether it is
/// the result of a softmax.
OutputNoise describeOutput(const Port &output, bool isSoftmax);
/// Adds what an output is in a sample, and what it should be.
void compareOutput(const Tensor &expected, const Tensor &actual,
                   OutputNoise &output);
/// Scores by the number that a command prints last for a model's file: for
/// `floatFile`, once in a run of nnc, and for a file that holds `model` and
/// whose name ends in `extension`.
ExitCode scoreByCommand(const std::string &command,
                        const std::string &floatFile, const std::string &model,
                        Score &score, const char *extension = ".onnx");

/// Shows on the terminal that a search chooses layers.
std::unique_ptr<accuracy::SearchProgress> showSearch();

llvm::json::Array toJson(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the outputs as a table.
void print(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the score, if there is one.
void print(const Score &score);
/// Returns "23.5", or "exact" without noise.
std::string formatDecibels(std::optional<double> decibels);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_ACCURACY_COMPARISON_H
