//===- Run.cpp - nnc run --------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Footprint.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {
namespace {

/// Prints a summary of a tensor: its shape, its range of values and its first
/// elements.
void describe(const Port &port, const Tensor &tensor) {
  std::vector<double> values = tensor.values();
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  bool shown = !values.empty();
  std::string range =
      shown ? fmt::format(", {:.6g} to {:.6g}", *low, *high) : "";
  if (std::any_of(values.begin(), values.end(),
                  [](double value) { return std::isnan(value); }))
    range = ", holds NaN";
  printOut("{}: {} of {}{}\n", displayText(port.name), shapeText(tensor.shape),
           port.typeName(), range);
  size_t count = std::min<size_t>(values.size(), 8);
  if (shown)
    printOut("  [{:.6g}{}]\n",
             fmt::join(values.begin(), values.begin() + count, ", "),
             count < values.size() ? ", ..." : "");
}

class Run : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    allowFolder(app, options);
    app.add_option("--input", files,
                   "Data of an input, as numpy.save writes it")
        ->allow_extra_args(false)
        ->type_name("INPUT=FILE.npy");
    app.add_option("--output-dir", outputFolder,
                   "Folder for the outputs, a .npy file each")
        ->type_name("DIR");
    addThreadCountOption(app, threads);
    addCompilerOption(app, compiler);
    addEmulateOption(app, emulate);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    Prepared prepared;
    prepared.callsHooks = false;
    RunRequest request;
    request.threads = threads;
    options.runOn(threads);
    DriverOptions wanted;
    wanted.takesRanges = wanted.takesBounds = wanted.takesSeveral = true;
    if (ExitCode code = prepared.open(options, wanted); code != ExitCode::done)
      return code;
    prepared.chooseFunction(files);
    // The inputs are read before the compiler starts, so that wrong files are
    // found at once.
    if (ExitCode code = readInputs(files, prepared.manifest, request);
        code != ExitCode::done)
      return code;
    if (ExitCode code = prepared.build(compiler, threads,
                                       emulate ? Prepared::Gpu::emulated
                                               : Prepared::Gpu::own);
        code != ExitCode::done)
      return code;
    llvm::Expected<RunResult> result = prepared.module->run(request);
    if (!result)
      return fail(result.takeError(), ExitCode::ownFault);
    std::optional<Footprint> footprint;
    if (prepared.toolchain.isBare()) {
      llvm::Expected<Footprint> found =
          Footprint::measure(*prepared.module, *result);
      if (!found)
        return fail(found.takeError(), ExitCode::ownFault);
      footprint = *found;
    }
    if (!outputFolder.empty())
      if (std::error_code code =
              llvm::sys::fs::create_directories(outputFolder))
        return fail(makeError(outputFolder + ": " + code.message()),
                    ExitCode::usage);
    std::vector<std::string> stems =
        fileStems(prepared.manifest.outputs, "output");
    llvm::json::Array outputs;
    for (size_t i = 0; i < result->outputs.size(); ++i) {
      const Port &port = prepared.manifest.outputs[i];
      std::string file = outputFolder.empty()
                             ? ""
                             : fmt::format("{}/{}.npy", outputFolder, stems[i]);
      if (!file.empty())
        if (llvm::Error error = writeNpy(file, result->outputs[i]))
          return fail(std::move(error), ExitCode::usage);
      llvm::json::Object output{{"name", port.name},
                                {"field", port.field},
                                {"dtype", port.typeName()},
                                {"shape", result->outputs[i].shape},
                                {"file", file}};
      if (!port.modelType.empty())
        output["storage"] = dtypeName(port.dtype);
      outputs.push_back(std::move(output));
      if (json)
        continue;
      describe(port, result->outputs[i]);
      if (!file.empty())
        printOut("  in {}\n", displayText(file));
    }
    if (json) {
      llvm::json::Object said{{"target", prepared.manifest.target},
                              {"outputs", std::move(outputs)}};
      if (footprint)
        said["memory"] = footprint->toJson();
      printJson(std::move(said));
    } else if (footprint) {
      footprint->print();
    }
    return ExitCode::done;
  }

private:
  ModelOptions options;
  std::vector<std::string> files;
  std::string outputFolder, compiler;
  int threads = 1;
  bool json = false, emulate = false;
};

} // namespace

std::unique_ptr<Command> makeRun() { return std::make_unique<Run>(); }

} // namespace nnc::tools
