//===- AccuracyOptions.cpp - Options of commands that edit models ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/AccuracyOptions.h"

#include "compiler/tools/driver/console/Diagnostics.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fs = llvm::sys::fs;

namespace nnc::tools {

/// Returns the frontend whose models are edited in their own format.
static const frontends::Frontend &getEdited() {
  return **llvm::find_if(frontends::getFrontends(),
                         [](const auto *each) { return each->name == "ONNX"; });
}

void addEditedModelOptions(CLI::App &app, ModelOptions &options) {
  addModelFileOptions(app, options);
  addWeightsOption(app, options);
}

/// Returns the frontend of a model. Returns null if that is the frontend whose
/// models are edited in their own format, or if there is none.
static const frontends::Frontend *findOther(const std::string &model) {
  auto start = frontends::readFileStart(model);
  if (!start)
    return nullptr; // The import says why.
  const frontends::Frontend *found = frontends::findFrontend(*start);
  return found == &getEdited() ? nullptr : found;
}

/// Returns true if a file name is that of a module.
static bool isModuleFile(llvm::StringRef output) {
  llvm::StringRef extension = llvm::sys::path::extension(output);
  return extension == ".mlir" || extension == ".mlirbc";
}

bool isWrittenAsModule(const std::string &model, const std::string &output) {
  return isModuleFile(output) || findOther(model);
}

std::optional<double> parseShare(llvm::StringRef text) {
  bool isPercentage = text.consume_back("%");
  double value;
  if (!llvm::to_float(text.trim(), value) || !(value >= 0))
    return std::nullopt;
  value = isPercentage ? value / 100 : value;
  return value <= 1 ? std::optional(value) : std::nullopt;
}

CLI::Option *addCalibrationOption(CLI::App &app, std::string &calibration) {
  return app
      .add_option("--calibration", calibration,
                  "Samples of the inputs: a folder of .npz files, or of .npy "
                  "files if the model has one input; or such a file. Arrays "
                  "are called by the inputs, and hold one or several samples "
                  "along the first axis")
      ->type_name("DIR|FILE.npz");
}

CLI::Option *addWords(CLI::App &app, const char *name, std::string &value,
                      std::vector<std::string> words, const char *help) {
  CLI::Option *option =
      app.add_option(name, value, help)
          ->type_name(fmt::format("{}", fmt::join(words, "|")))
          ->capture_default_str();
  setWords(*option, [words] { return words; });
  return option;
}

/// Makes an option reject values that are not fractions.
static void takeShare(CLI::Option *option, const char *example) {
  option->type_name(example)->check(
      [](const std::string &given) -> std::string {
        return parseShare(given) ? "" : given + " is no share from 0% to 100%";
      });
}

void addShareOption(CLI::App &app, const char *name, std::string &share,
                    const char *example, const char *help) {
  takeShare(app.add_option(name, share, help), example);
}

void addShareOption(CLI::App &app, const char *name,
                    std::optional<double> &share, const char *example,
                    const char *help) {
  takeShare(
      app.add_option_function<std::string>(
          name,
          [&share](const std::string &given) { share = parseShare(given); },
          help),
      example);
}

void addMetricOption(CLI::App &app, std::string &metric) {
  app.add_option("--metric", metric,
                 "A command that is given a model's file and prints a number "
                 "last, the larger the better; a drop is relative to the float "
                 "model's number")
      ->type_name("COMMAND");
}

void addExcludeOption(CLI::App &app, std::vector<std::string> &nodes,
                      const char *help) {
  app.add_option("--exclude", nodes, help)
      ->allow_extra_args(false)
      ->type_name("NODE");
}

ExitCode checkIsOnnx(const char *command, const std::string &model) {
  const frontends::Frontend *other = findOther(model);
  if (!other)
    return ExitCode::done;
  Problem problem{Problem::error, model, "", "", "", "", "", {}};
  problem.message = fmt::format(
      "is a {0} model; nnc {1} edits {2} models alone: {1} the model before "
      "it is converted to {0}, or export it as {2}",
      other->name.str(), command, getEdited().name.str());
  report(std::move(problem));
  return ExitCode::unsupported;
}

/// Returns the format that a file's extension suggests, if nnc does not write
/// models in that format.
static std::string findOtherFormat(llvm::StringRef output) {
  llvm::StringRef extension = llvm::sys::path::extension(output);
  for (const frontends::Frontend *frontend : frontends::getFrontends())
    for (llvm::StringRef each : llvm::split(frontend->extensions, ", "))
      if (each == extension && each != ".onnx" && !isModuleFile(output))
        return each == ".onnxtxt" ? "ONNX as text" : frontend->name.str();
  return "";
}

ExitCode checkFiles(const char *command, const ModelOptions &model,
                    const std::string &calibration, const std::string &output) {
  ExitCode code = ExitCode::done;
  auto complain = [&](const std::string &problem) {
    code = fail(makeError(problem), ExitCode::usage);
  };
  if (!model.otherShapes.empty())
    complain("--shape is for one model here; give it once for each input");
  std::string folder = llvm::sys::path::parent_path(output).str();
  if (folder.empty())
    folder = ".";
  if (output == "-")
    complain("-o: a model is not text; give a file");
  else if (fs::is_directory(output))
    complain(fmt::format("-o: {} is a folder; give a file", output));
  else if (!fs::is_directory(folder))
    complain(fmt::format("-o: there is no folder {}", folder));
  else if (std::error_code error = fs::access(folder, fs::AccessMode::Write))
    complain(
        fmt::format("-o: cannot write to {}: {}", folder, error.message()));
  if (ExitCode input = checkNoInput(output, {model.model, calibration});
      input != ExitCode::done)
    code = input;
  if (std::string format = findOtherFormat(output); !format.empty())
    complain(fmt::format("-o: the model is written as binary ONNX, not as {}; "
                         "give a file with the extension .onnx, or .mlir for "
                         "a module",
                         format));
  const frontends::Frontend *other = findOther(model.model);
  if (other && !isModuleFile(output))
    complain(fmt::format("-o: of a {} model nnc {} writes a module of its own, "
                         "no ONNX; give a file with the extension .mlir (text) "
                         "or .mlirbc (bytecode)",
                         other->name.str(), command));
  if (isCompiledFolder(model.model))
    complain(model.model + " is a folder; give a model");
  if (!calibration.empty() && !fs::exists(calibration))
    complain(fmt::format("--calibration: {}: there is no such file or folder",
                         calibration));
  return code;
}

ExitCode checkExcluded(const std::string &model,
                       const std::vector<std::string> &nodes,
                       const std::set<std::string> &excluded) {
  ExitCode code = ExitCode::done;
  for (const std::string &name : excluded)
    if (!llvm::is_contained(nodes, name))
      code =
          fail(makeError(fmt::format("--exclude: {} has no node '{}'{}", model,
                                     name, frontends::didYouMean(name, nodes))),
               ExitCode::usage);
  return code;
}

} // namespace nnc::tools
