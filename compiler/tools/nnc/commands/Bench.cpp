//===- Bench.cpp - nnc bench ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Footprint.h"
#include "compiler/tools/nnc/prepare/GpuRun.h"
#include "compiler/tools/nnc/prepare/Measuring.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "dialects/target/OwnGpu.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// Returns a routine with its parameters, for instance
/// "conv2d_f32_nchw16c_direct_avx512<14, 2>".
std::string routineText(const LayerInfo &layer) {
  if (layer.params.empty())
    return layer.routine;
  return fmt::format("{}<{}>", layer.routine, fmt::join(layer.params, ", "));
}

class Bench : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    addClockOption(app, options);
    allowFolder(app, options);
    addThreadCountOption(app, threads);
    app.add_flag("--pin", pin, "Keep each thread on a core of its own");
    app.add_option("--runs", runs,
                   "Timed runs, as many as fit into --seconds unless given")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--seconds", seconds, "How long to run, without --runs")
        ->type_name("S")
        ->check(numberFrom(0.01, 3600))
        ->capture_default_str();
    app.add_option("--keep", kept,
                   "Also leave the program that was timed here, for another "
                   "machine or for more runs: DIR/run --help")
        ->type_name("DIR");
    addCompilerOption(app, compiler);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    if (!kept.empty())
      if (llvm::Error error = checkOutputFolder(kept, "--keep"))
        return fail(std::move(error), ExitCode::usage);
    Prepared prepared;
    options.runOn(threads);
    DriverOptions wanted;
    wanted.takesBounds = true;
    if (ExitCode code = prepared.open(options, wanted); code != ExitCode::done)
      return code;
    const Manifest &manifest = prepared.manifest;
    // A program that is kept may be for a GPU that is elsewhere.
    const bool isElsewhere =
        manifest.isCuda() && !kept.empty() &&
        !target::findGpuObstacle(manifest.architectures).empty();
    if (ExitCode code = prepared.build(compiler, threads,
                                       isElsewhere ? Prepared::Gpu::elsewhere
                                                   : Prepared::Gpu::own);
        code != ExitCode::done)
      return code;
    const bool isBare = prepared.toolchain.isBare();
    if (isBare && (pin || !kept.empty()))
      return fail(makeError(manifest.target +
                            " has no operating system: leave out --pin and "
                            "--keep"),
                  ExitCode::usage);
    if (!isBare && options.mhz)
      return fail(makeError(fmt::format(
                      "--mhz is for targets without an operating system, whose "
                      "instructions are counted; on {} times are measured",
                      manifest.target)),
                  ExitCode::usage);
    RunRequest request;
    request.threads = threads;
    request.timedRuns = runs;
    request.seconds = seconds;
    request.measurePeak = true;
    request.pin = pin;
    if (isElsewhere)
      return keepOnly(prepared, request);
    RunResult result;
    if (ExitCode code = timeRuns(prepared, request, result);
        code != ExitCode::done)
      return code;
    if (!kept.empty())
      if (llvm::Error error = prepared.module->keep(request, kept))
        return fail(std::move(error), ExitCode::usage);
    if (isBare) {
      if (llvm::Error error = measureStack(prepared, request, result))
        return fail(std::move(error), ExitCode::ownFault);
      return reportInstructions(prepared, result);
    }
    report(prepared, result);
    return ExitCode::done;
  }

private:
  /// Keeps the program that this machine cannot run.
  ExitCode keepOnly(const Prepared &prepared, RunRequest &request) const {
    const Manifest &manifest = prepared.manifest;
    request.inputs = makeRandomInputs(manifest);
    if (llvm::Error error = prepared.module->keep(request, kept))
      return fail(std::move(error), ExitCode::usage);
    if (json)
      printJson(json::Object{{"name", manifest.name},
                             {"target", manifest.target},
                             {"compiler", prepared.toolchain.compiler},
                             {"kept", kept}});
    else
      printOut(
          "{}: a program for {}, not timed here, as {}\n"
          "On a machine with such a GPU and its driver, {}/run --seconds=2 "
          "times it\n",
          displayText(kept), manifest.target,
          target::findGpuObstacle(manifest.architectures), displayText(kept));
    return ExitCode::done;
  }

  /// Returns a rate in GFLOP/s. A multiply-add counts as two operations.
  static double rate(int64_t multiplyAdds, double seconds) {
    return seconds > 0 ? 2e-9 * double(multiplyAdds) / seconds : 0;
  }

  void report(const Prepared &prepared, const RunResult &result) const {
    double middle = median(result.runCosts);
    double least =
        *std::min_element(result.runCosts.begin(), result.runCosts.end());
    bool emulated = !prepared.toolchain.emulator.empty();
    std::string machine = describeMachine(prepared.toolchain, result);
    if (json)
      printJson(toJson(prepared, result, middle, least, machine, emulated));
    else
      print(prepared, result, middle, least, machine, emulated);
  }

  json::Value toJson(const Prepared &prepared, const RunResult &result,
                     double middle, double least, const std::string &machine,
                     bool emulated) const {
    const Manifest &manifest = prepared.manifest;
    json::Array layers;
    for (size_t i = 0; i < manifest.layers.size(); ++i)
      layers.push_back(
          json::Object{{"name", manifest.layers[i].name},
                       {"routine", manifest.layers[i].routine},
                       {"params", manifest.layers[i].params},
                       {"seconds", result.layerCosts[i]},
                       {"multiply_adds", manifest.layers[i].multiplyAdds}});
    json::Object said{
        {"name", manifest.name},
        {"target", manifest.target},
        {"machine", machine},
        {"emulated", emulated},
        {"compiler", prepared.toolchain.compiler},
        {"threads", threads},
        {"pinned", pin},
        {"run_seconds", json::Array(result.runCosts)},
        {"median_seconds", middle},
        {"min_seconds", least},
        {"multiply_adds", manifest.multiplyAdds()},
        {"peak_multiply_adds_per_second", getPeak(manifest, result)},
        {"peak_resident_bytes", result.residentBytes},
        {"layers", std::move(layers)}};
    if (!result.gpu.name.empty())
      said["gpu"] = tools::toJson(result.gpu,
                                  GpuPeaks::find(result.gpu, manifest.target));
    return said;
  }

  void print(const Prepared &prepared, const RunResult &result, double middle,
             double least, const std::string &machine, bool emulated) const {
    const Manifest &manifest = prepared.manifest;
    Table table({"layer", "routine", "time", "share", "GFLOP/s", "of peak"});
    double sum = std::accumulate(result.layerCosts.begin(),
                                 result.layerCosts.end(), 0.0);
    const bool isGpu = !result.gpu.name.empty();
    double peak = 2e-9 * getPeak(manifest, result);
    const GpuPeaks peaks =
        isGpu ? GpuPeaks::find(result.gpu, manifest.target) : GpuPeaks();
    for (size_t i = 0; i < manifest.layers.size(); ++i) {
      const LayerInfo &layer = manifest.layers[i];
      double seconds = result.layerCosts[i];
      double reached = rate(layer.multiplyAdds, seconds);
      bool counts = layer.multiplyAdds > 0;
      double own = isGpu ? 2e-9 * peaks.get(layer.dtype) : peak;
      table.add({layer.name, routineText(layer), formatSeconds(seconds),
                 fmt::format("{:.1f} %", 100 * seconds / sum),
                 counts ? fmt::format("{:.1f}", reached) : "",
                 counts ? fmt::format("{:.0f} %", 100 * reached / own) : ""});
    }
    table.print();
    printOut("\n{} for {} on {}, built with {}, {} {}thread{}, {} runs\n",
             manifest.name, manifest.target, machine,
             prepared.toolchain.compiler, threads, pin ? "pinned " : "",
             threads > 1 ? "s" : "", result.runCosts.size());
    double reached = rate(manifest.multiplyAdds(), middle);
    printOut("median {}, min {}; {:.1f} GFLOP/s, {:.0f} % of the {:.1f} that "
             "{}\n",
             colouredForStdout(Colour::bold, formatSeconds(middle)),
             formatSeconds(least), reached, 100 * reached / peak, peak,
             isGpu ? "the GPU has on paper"
                   : "were measured as the machine's peak");
    if (isGpu)
      printOut("{}\n", describe(result.gpu));
    if (result.residentBytes)
      printOut("{:.1f} MB of memory resident at most\n",
               1e-6 * double(result.residentBytes));
    if (emulated)
      printOut("In an emulator: times and memory say nothing of the real "
               "machine.\n");
  }

  /// Returns the least seconds that instructions take at the clock of --mhz, at
  /// one cycle each.
  double secondsOf(int64_t instructions) const {
    return double(instructions) / (1e6 * *options.mhz);
  }

  /// Measures the stack of the module alone: the calls after each layer, by
  /// which instructions are counted, take some, too.
  static llvm::Error measureStack(const Prepared &prepared, RunRequest request,
                                  RunResult &result) {
    Toolchain toolchain = prepared.toolchain;
    toolchain.callsHooks = false;
    llvm::Expected<BuiltModule> built =
        BuiltModule::build(prepared.manifest, toolchain);
    if (!built)
      return built.takeError();
    request.timedRuns = 0;
    request.seconds = 0;
    request.measurePeak = false;
    llvm::Expected<RunResult> found = built->run(request);
    if (!found)
      return found.takeError();
    result.stackBytes = found->stackBytes;
    return llvm::Error::success();
  }

  /// Reports the instructions that an emulator counted and the memory that the
  /// module takes.
  ExitCode reportInstructions(const Prepared &prepared,
                              const RunResult &result) const {
    const Manifest &manifest = prepared.manifest;
    llvm::Expected<Footprint> footprint =
        Footprint::measure(*prepared.module, result);
    if (!footprint)
      return fail(footprint.takeError(), ExitCode::ownFault);
    auto toCounts = [](const std::vector<double> &costs) {
      return std::vector<int64_t>(costs.begin(), costs.end());
    };
    std::vector<int64_t> ofLayers = toCounts(result.layerCosts);
    int64_t count = int64_t(median(result.runCosts));
    std::string machine = describeMachine(prepared.toolchain, result);
    if (json) {
      json::Array layers;
      for (auto [layer, instructions] : llvm::zip(manifest.layers, ofLayers)) {
        json::Object object{{"name", layer.name},
                            {"routine", layer.routine},
                            {"params", layer.params},
                            {"instructions", instructions},
                            {"multiply_adds", layer.multiplyAdds}};
        if (options.mhz)
          object["least_seconds"] = secondsOf(instructions);
        layers.push_back(std::move(object));
      }
      json::Object said{{"name", manifest.name},
                        {"target", manifest.target},
                        {"machine", machine},
                        {"emulated", true},
                        {"compiler", prepared.toolchain.compiler},
                        {"unit", "instructions"},
                        {"run_instructions", toCounts(result.runCosts)},
                        {"median_instructions", count},
                        {"multiply_adds", manifest.multiplyAdds()},
                        {"memory", footprint->toJson()},
                        {"layers", std::move(layers)}};
      if (options.mhz) {
        said["mhz"] = *options.mhz;
        said["least_seconds"] = secondsOf(count);
      }
      printJson(std::move(said));
      return ExitCode::done;
    }
    auto each = [](int64_t instructions, int64_t multiplyAdds) {
      return multiplyAdds > 0 ? fmt::format("{:.2f}", double(instructions) /
                                                          double(multiplyAdds))
                              : "";
    };
    std::vector<std::string> header = {"layer", "routine", "instructions",
                                       "share", "for each multiply-add"};
    if (options.mhz)
      header.push_back(fmt::format("at {} MHz", *options.mhz));
    Table table(std::move(header));
    int64_t sum = std::accumulate(ofLayers.begin(), ofLayers.end(), int64_t(0));
    for (auto [layer, instructions] : llvm::zip(manifest.layers, ofLayers)) {
      std::vector<std::string> row = {
          layer.name, routineText(layer), std::to_string(instructions),
          fmt::format("{:.1f} %", 100.0 * double(instructions) /
                                      double(std::max<int64_t>(sum, 1))),
          each(instructions, layer.multiplyAdds)};
      if (options.mhz)
        row.push_back(formatSeconds(secondsOf(instructions)));
      table.add(std::move(row));
    }
    table.print();
    printOut("\n{} for {} on {}, built with {}\n{} instructions a run",
             manifest.name, manifest.target, machine,
             prepared.toolchain.compiler,
             colouredForStdout(Colour::bold, std::to_string(count)));
    if (manifest.multiplyAdds() > 0)
      printOut(", {} for each multiply-add",
               each(count, manifest.multiplyAdds()));
    if (options.mhz)
      printOut(
          "; at {} MHz {} or more", *options.mhz,
          colouredForStdout(Colour::bold, formatSeconds(secondsOf(count))));
    printOut("\n");
    footprint->print();
    printOut("An emulator counted: a real core takes one cycle or more for "
             "each instruction{}.\n",
             options.mhz ? "" : "; --mhz=N tells the time at one cycle each");
    return ExitCode::done;
  }

  ModelOptions options;
  int threads = 1, runs = 0;
  double seconds = 2;
  std::string compiler, kept;
  bool json = false, pin = false;
};

} // namespace

std::unique_ptr<Command> makeBench() { return std::make_unique<Bench>(); }

} // namespace nnc::tools
