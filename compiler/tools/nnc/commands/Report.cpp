//===- Report.cpp - nnc report --------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/execute/Reference.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/driver/toolchain/CodeBytes.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/figures/Explanation.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/GpuRun.h"
#include "compiler/tools/nnc/prepare/Measuring.h"
#include "compiler/tools/nnc/prepare/Prepared.h"
#include "compiler/tools/nnc/report/Document.h"
#include "compiler/tools/nnc/report/Page.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Report : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    std::string type =
        getTypeName(*app.get_option("MODEL")) + "|FILE.html|FILE.json";
    app.get_option("MODEL")->type_name(type);
    app.add_option("OTHER", other,
                   "A second model that is compared with the first. Instead of "
                   "a model, both may be pages or documents that nnc report "
                   "wrote before, with other options or by another nnc")
        ->type_name(type);
    addRamOption(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    addThreadCountOption(app, threads);
    app.add_option("-o,--output", file, "Where the page goes; - is stdout")
        ->type_name("FILE.html")
        ->capture_default_str();
    app.add_flag("--measure", measures,
                 "Also build and run the model: times of the layers, and "
                 "errors of the outputs on random inputs");
    app.add_option("--seconds", seconds, "How long to run, with --measure")
        ->type_name("S")
        ->check(numberFrom(0.01, 3600))
        ->capture_default_str();
    addCompilerOption(app, compiler);
    app.add_flag("--no-build", noBuild,
                 "Leave out the size of the code, for which it is built")
        ->excludes("--measure");
    addJsonOption(app, json);
  }

  ExitCode run() override {
    if (json && file == "-")
      return fail(makeError("--json and -o - would both write to stdout; give "
                            "-o a file"),
                  ExitCode::usage);
    if (ExitCode code = checkNoInput(file, {options.model, other});
        code != ExitCode::done)
      return code;
    options.runOn(threads);
    json::Array documents;
    for (const std::string &model : {options.model, other})
      if (!model.empty())
        if (ExitCode code = add(model, documents); code != ExitCode::done)
          return code;
    std::string page = makePage(documents);
    if (llvm::Error error = replaceTextFile(file, page))
      return fail(std::move(error), ExitCode::usage);
    if (json)
      printJson(json::Object{{"file", file},
                             {"bytes", int64_t(page.size())},
                             {"reports", std::move(documents)}});
    else if (file != "-")
      printOut("{}: {} bytes\n", displayText(file), page.size());
    return ExitCode::done;
  }

private:
  /// Adds the document of a model, or the document in a file that an earlier
  /// run wrote.
  ExitCode add(const std::string &model, json::Array &documents) {
    auto saved = readDocument(model);
    if (!saved)
      return fail(saved.takeError(), ExitCode::usage);
    if (*saved) {
      documents.push_back(std::move(**saved));
      return ExitCode::done;
    }
    options.model = model;
    Prepared prepared;
    DriverOptions wanted = {/*keepStages=*/true};
    wanted.takesBounds = true;
    if (ExitCode code = prepared.open(options, wanted); code != ExitCode::done)
      return code;
    Explanation explanation;
    if (ExitCode code = explanation.find(*prepared.driver);
        code != ExitCode::done)
      return code;
    llvm::Expected<std::optional<CodeBytes>> code = measureCode(prepared);
    if (!code)
      return fail(makeError(llvm::toString(code.takeError()) +
                            "; --no-build leaves out the size of the code"),
                  ExitCode::ownFault);
    json::Object document = describeModel(prepared, explanation, *code);
    if (measures)
      if (ExitCode code = measure(prepared, document); code != ExitCode::done)
        return code;
    documents.push_back(std::move(document));
    return ExitCode::done;
  }

  /// Builds the code to measure its size, if there is a compiler for it.
  llvm::Expected<std::optional<CodeBytes>>
  measureCode(const Prepared &prepared) const {
    if (noBuild)
      return std::nullopt;
    auto code = CodeBytes::measure(prepared.manifest, compiler,
                                   options.getLevel(), /*wantsLayers=*/true);
    if (code || !prepared.manifest.hasCustoms())
      return code;
    // Custom headers may need files that only the user's build has.
    printWarning("the size of the code is not known, as it does not build: " +
                 llvm::toString(code.takeError()));
    return std::nullopt;
  }

  ExitCode measure(Prepared &prepared, json::Object &document) const {
    if (ExitCode code = prepared.build(compiler, threads);
        code != ExitCode::done)
      return code;
    RunRequest request;
    RunResult result;
    request.threads = threads;
    request.seconds = seconds;
    request.measurePeak = true;
    if (ExitCode code = timeRuns(prepared, request, result);
        code != ExitCode::done)
      return code;
    const bool isBare = prepared.toolchain.isBare();
    document["measured"] = json::Object{
        {"unit", isBare ? "instructions" : "seconds"},
        {"machine", describeMachine(prepared.toolchain, result)},
        {"emulated", !prepared.toolchain.emulator.empty()},
        {"threads", threads},
        {"runs", int64_t(result.runCosts.size())},
        {"median", median(result.runCosts)},
        {"min",
         *std::min_element(result.runCosts.begin(), result.runCosts.end())},
        {"peak_multiply_adds_per_second", getPeak(prepared.manifest, result)},
        {"layers", json::Array(result.layerCosts)}};
    return compareOutputs(prepared, std::move(request.inputs), document);
  }

  /// Compares the outputs for random inputs with those of the reference, as nnc
  /// verify does. The reference cannot call custom functions.
  ExitCode compareOutputs(Prepared &prepared, std::vector<Tensor> inputs,
                          json::Object &document) const {
    if (hasCustomOps(prepared.driver->imported()))
      return ExitCode::done;
    RunRequest request;
    request.threads = threads;
    request.inputs = std::move(inputs);
    llvm::Expected<RunResult> result = prepared.module->run(request);
    if (!result)
      return fail(result.takeError(), ExitCode::ownFault);
    Progress progress("evaluating the reference");
    llvm::Expected<std::vector<Tensor>> expected =
        evaluateReference(prepared.driver->imported(), request.inputs);
    if (!expected)
      return fail(expected.takeError(), ExitCode::ownFault);
    Tolerance tolerance = chooseTolerance(
        prepared.manifest, prepared.driver->imported(), options.precision);
    json::Array outputs;
    for (auto [port, actual, wanted] :
         llvm::zip(prepared.manifest.outputs, result->outputs, *expected))
      outputs.push_back(toJson(port, compare(actual, wanted, tolerance)));
    document["accuracy"] = json::Object{{"tolerance", tolerance.largest},
                                        {"outputs", std::move(outputs)}};
    return ExitCode::done;
  }

  ModelOptions options;
  std::string other, file = "report.html", compiler;
  int threads = 1;
  double seconds = 2;
  bool measures = false, json = false, noBuild = false;
};

} // namespace

std::unique_ptr<Command> makeReport() { return std::make_unique<Report>(); }

} // namespace nnc::tools
