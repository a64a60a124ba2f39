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

/// MODEL and what is read with it, of commands that edit models.
void addEditedModelOptions(CLI::App &app, ModelOptions &options);
/// Reads "0.5%" or "0.005" as a share.
std::optional<double> parseShare(llvm::StringRef text);

/// Accepts one of `words`, and suggests one for others.
CLI::Option *addWords(CLI::App &app, const char *name, std::string &value,
                      std::vector<std::string> words, const char *help);
/// --calibration=DIR|FILE.npz.
CLI::Option *addCalibrationOption(CLI::App &app, std::string &calibration);
/// An option whose value is a share.
void addShareOption(CLI::App &app, const char *name, std::string &share,
                    const char *example, const char *help);
void addShareOption(CLI::App &app, const char *name,
                    std::optional<double> &share, const char *example,
                    const char *help);
/// --metric=COMMAND.
void addMetricOption(CLI::App &app, std::string &metric);
/// --exclude=NODE.
void addExcludeOption(CLI::App &app, std::vector<std::string> &nodes,
                      const char *help);

/// Whether nnc writes what it makes of `model` as a module of nn and qnn ops:
/// if `output` says so, or the model is no ONNX.
bool isWrittenAsModule(const std::string &model, const std::string &output);
/// Reports a model that is no ONNX, for a command that edits ONNX alone.
ExitCode checkIsOnnx(const char *command, const std::string &model);
/// Reports what is wrong with the files of a command that writes the model that
/// it edits: before the work of minutes, after which nothing could be written.
/// `command` is its name.
ExitCode checkFiles(const char *command, const ModelOptions &model,
                    const std::string &calibration, const std::string &output);
/// Reports the names of --exclude that no node has.
ExitCode checkExcluded(const std::string &model,
                       const std::vector<std::string> &nodes,
                       const std::set<std::string> &excluded);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_ACCURACYOPTIONS_H
