//===- AccuracyOptions.h - Options of commands that edit models -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPTIONS_ACCURACYOPTIONS_H
#define NNC_COMPILER_TOOLS_NNC_OPTIONS_ACCURACYOPTIONS_H

#include "compiler/tools/nnc/options/Options.h"

#include <set>

namespace CLI {
class Option;
}

namespace nnc::tools {

/// Adds MODEL and the options for reading it, for commands that edit models.
void addEditedModelOptions(CLI::App &app, ModelOptions &options);
/// Parses "0.5%" or "0.005" as a fraction.
std::optional<double> parseShare(llvm::StringRef text);

/// Adds an option that accepts one of `words`, and suggests the closest one for
/// other values.
CLI::Option *addWords(CLI::App &app, const char *name, std::string &value,
                      std::vector<std::string> words, const char *help);
/// Adds --calibration=DIR|FILE.npz.
CLI::Option *addCalibrationOption(CLI::App &app, std::string &calibration);
/// Adds an option whose value is a fraction.
void addShareOption(CLI::App &app, const char *name, std::string &share,
                    const char *example, const char *help);
void addShareOption(CLI::App &app, const char *name,
                    std::optional<double> &share, const char *example,
                    const char *help);
/// Adds --metric=COMMAND.
void addMetricOption(CLI::App &app, std::string &metric);
/// Adds --exclude=NODE.
void addExcludeOption(CLI::App &app, std::vector<std::string> &nodes,
                      const char *help);

/// Returns true if nnc writes the result for `model` as a module of nn and qnn
/// ops: if `output` has such a name, or the model is not ONNX.
bool isWrittenAsModule(const std::string &model, const std::string &output);
/// Reports an error if the model is not ONNX, for a command that edits only
/// ONNX.
ExitCode checkIsOnnx(const char *command, const std::string &model);
/// Reports what is wrong with the files of a command that edits a model and
/// writes the result. The command calls this first, so that minutes of work are
/// not lost because the result cannot be written. `command` is the command's
/// name.
ExitCode checkFiles(const char *command, const ModelOptions &model,
                    const std::string &calibration, const std::string &output);
/// Reports the names given to --exclude that no node has.
ExitCode checkExcluded(const std::string &model,
                       const std::vector<std::string> &nodes,
                       const std::set<std::string> &excluded);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_ACCURACYOPTIONS_H
