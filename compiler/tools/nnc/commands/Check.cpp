//===- Check.cpp - nnc check ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/Quantized.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Firmware.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/figures/Arena.h"
#include "compiler/tools/nnc/figures/Explanation.h"
#include "compiler/tools/nnc/figures/Fit.h"
#include "compiler/tools/nnc/figures/FlashLimit.h"
#include "compiler/tools/nnc/figures/WeightsAdvice.h"
#include "compiler/tools/nnc/options/Clock.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Check : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addThreadsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    app.add_flag("--no-build", noBuild,
                 "Give the size of the source instead of building it");
    addCompilerOption(app, compiler);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addClockOption(app, options);
    addFlashOption(app, maxFlash);
    app.add_option("--arena", picture,
                   "Where a picture goes, in SVG, of what lies in the arena "
                   "while each layer runs")
        ->type_name("FILE.svg");
    addJsonOption(app, json);
  }

  ExitCode run() override {
    Prepared prepared;
    if (isCompiledFolder(options.model))
      return fail(makeError(options.model + " is a folder; give a model"),
                  ExitCode::usage);
    DriverOptions wanted = {/*keepStages=*/true, /*exceedsRam=*/true};
    wanted.takesBounds = true;
    if (ExitCode ended = maxFlash ? prepareWithin(wanted, prepared)
                                  : prepare(wanted, prepared);
        ended != ExitCode::done)
      return ended;
    const Manifest &manifest = prepared.manifest;
    quantized = reportQuantized(prepared.driver->layered(),
                                EmittedNames(prepared.driver->layered()));
    advice = WeightsAdvice::find(*prepared.driver, manifest.weightBytes);
    base = {manifest.arenaBytes, manifest.weightBytes};
    fit = Fit::find(manifest, code, maxFlash, options.maxRam);
    if (ExitCode ended = estimate(*prepared.driver, seconds);
        ended != ExitCode::done)
      return ended;
    weighAdvice();
    if (!picture.empty())
      if (llvm::Error error = replaceTextFile(picture, drawArena(manifest)))
        return fail(std::move(error), ExitCode::usage);
    ExitCode ended = checkLimits(manifest, prepared.driver->leastRam());
    report(manifest, ended);
    return ended;
  }

private:
  /// Compiles the model. If there is a compiler, builds the code to measure its
  /// size.
  ExitCode prepare(const DriverOptions &wanted, Prepared &prepared) {
    if (ExitCode ended = prepared.open(options, wanted);
        ended != ExitCode::done)
      return ended;
    const Manifest &manifest = prepared.manifest;
    auto built = measure(manifest);
    if (!built)
      return fail(built.takeError(),
                  manifest.hasCustoms() ? ExitCode::usage : ExitCode::ownFault);
    code = std::move(*built);
    return code ? ExitCode::done : measureSource(manifest);
  }

  /// Prepares the model as prepare() does, with its weights stored in so few
  /// bytes that code, constants and weights fit into --max-flash. If that
  /// module exceeds --max-flash or --max-ram, takes the one with unchanged
  /// weights instead, whose sizes the caller then reports as too large.
  ExitCode prepareWithin(const DriverOptions &wanted, Prepared &prepared) {
    if (noBuild)
      return fail(makeError("--max-flash needs the size of the code: leave out "
                            "--no-build"),
                  ExitCode::usage);
    FlashLimit flash(options, wanted, compiler, *maxFlash);
    if (ExitCode ended = flash.find(); ended != ExitCode::done)
      return ended;
    MeasuredModule &least = flash.getModule();
    const bool fits =
        Fit::find(least.prepared.manifest, least.code, maxFlash, options.maxRam)
            .fits();
    if (fits)
      options = flash.getOptions();
    MeasuredModule &taken = fits ? least : flash.getWhole();
    prepared = std::move(taken.prepared);
    code = std::move(taken.code);
    return ExitCode::done;
  }

  /// Estimates the time of a run if the target has no operating system or --mhz
  /// is given.
  ExitCode estimate(Driver &driver, std::optional<double> &seconds) {
    auto machine = target::getTarget(driver.formed());
    if (mlir::failed(machine) || !(machine->isBare() || options.mhz))
      return ExitCode::done;
    Explanation explanation;
    if (ExitCode code = explanation.find(driver); code != ExitCode::done)
      return code;
    clock = explanation.clock;
    seconds = driver.batch() ? driver.batch()->plan.seconds * clock.factor
                             : explanation.getSeconds();
    return ExitCode::done;
  }

  /// Compiles the model with the encoding that `advice` suggests, to find its
  /// cost in RAM and time. Drops the suggestion if that fails or exceeds
  /// --max-ram.
  void weighAdvice() {
    if (!advice.getEncoding())
      return;
    ModelOptions other = options;
    other.weightsEncoding = *advice.getEncoding();
    Prepared encoded;
    std::optional<double> encodedSeconds;
    DroppedReports dropped;
    if (encoded.open(other, {/*keepStages=*/true, /*exceedsRam=*/true}) !=
            ExitCode::done ||
        estimate(*encoded.driver, encodedSeconds) != ExitCode::done)
      return advice.dropEncoding();
    int64_t more = encoded.manifest.arenaBytes - base.arenaBytes;
    bool fits = !options.maxRam || more <= 0 || more <= fit.ram.getLeft();
    if (!fits || encoded.manifest.weightBytes >= base.weightBytes)
      return advice.dropEncoding();
    std::optional<double> slower;
    if (seconds && encodedSeconds)
      slower = *encodedSeconds - *seconds;
    advice.setCosts(encoded.manifest.weightBytes,
                    base.weightBytes - encoded.manifest.weightBytes, more,
                    slower);
  }

  /// Returns the size of the code at -Os, for a message about a limit that the
  /// code exceeds at another level. Returns an empty string if the user has
  /// chosen the level.
  std::string describeAtSize(const Manifest &m) const {
    llvm::Expected<Toolchain> toolchain = Toolchain::find(m.target, compiler);
    if (!toolchain) {
      llvm::consumeError(toolchain.takeError());
      return "";
    }
    toolchain->level = getLevel(Optimize::size);
    bool isChosen = options.optimize == Optimize::size ||
                    toolchain->moduleCommand().back() != toolchain->level;
    if (isChosen || !toolchain->isBare())
      return "";
    llvm::Expected<ModuleSize> small = measureModule(m, *toolchain, m.folder);
    if (!small) {
      llvm::consumeError(small.takeError());
      return "";
    }
    int64_t bytes = small->text + small->constants + m.weightBytes;
    return fmt::format("; {} bytes at -Os{}, which --optimize=size and "
                       "--compiler='{} -Os' ask for",
                       bytes, bytes <= *maxFlash ? ", which fit" : "",
                       toolchain->compiler);
  }

  /// Returns the RAM that the module takes under another limit, including its
  /// own stack if that is known, or nullopt if it cannot be built.
  std::optional<int64_t> countRamWithin(int64_t limit) const {
    ModelOptions other = options;
    other.maxRam = limit;
    Prepared planned;
    DroppedReports dropped;
    if (planned.open(other, {/*keepStages=*/true, /*exceedsRam=*/true}) !=
        ExitCode::done)
      return std::nullopt;
    auto built = measure(planned.manifest);
    if (!built) {
      llvm::consumeError(built.takeError());
      return std::nullopt;
    }
    return Fit::find(planned.manifest, *built).ram.getSum();
  }

  /// Returns advice if the limit has room for a plan but not for its stack.
  /// Plans are made before the stack is known, and a plan with less memory, for
  /// instance in strips, may have a deeper stack.
  std::string describeRoomForStack(int64_t stack) const {
    const std::string what = "; it is the stack that does not fit";
    constexpr int mostTries = 3;
    int64_t rest = *options.maxRam - stack;
    for (int i = 0; i < mostTries && rest > 0; ++i) {
      std::optional<int64_t> bytes = countRamWithin(rest);
      if (!bytes)
        break;
      if (*bytes <= *options.maxRam)
        return fmt::format("{}: --max-ram={} asks for a plan that leaves room "
                           "for it",
                           what, rest);
      rest -= *bytes - *options.maxRam;
    }
    return what + ", and nnc finds no plan that leaves room for it";
  }

  /// Returns advice on how the module could fit into --max-ram.
  std::string describeLessRam(const Manifest &m) const {
    // The advice names the layer to make smaller, for readers of the message
    // alone.
    std::string hint;
    if (ArenaPeak peak = findPeak(m); !peak.places.empty())
      hint = fmt::format("; the arena is fullest at layer '{}'",
                         m.layers[peak.layer].name);
    const StackDepth *stack = code ? code->findStack() : nullptr;
    if (stack && fit.ram.getLeft() + stack->bytes >= 0)
      hint += describeRoomForStack(stack->bytes);
    return hint + adviseOnPorts(options);
  }

  /// Reports each limit that is exceeded.
  ExitCode checkLimits(const Manifest &m,
                       std::optional<int64_t> stripsRam) const {
    ExitCode ended = ExitCode::done;
    auto check = [&](const MemoryNeed &need, const std::string &hint,
                     const std::string &otherwise = "") {
      need.reportExcess(options.model, hint, otherwise);
      ended = ExitCode::limit;
    };
    if (!fit.ram.fits()) {
      std::optional<int64_t> strips = stripsRam;
      if (strips && code && code->findStack())
        strips = countRamWithin(*stripsRam);
      check(fit.ram, describeLessRam(m),
            strips ? fmt::format("; {} with layers computed in strips", *strips)
                   : "");
    }
    for (const auto *memories : {&m.memories, &m.weightMemories})
      for (const Memory &memory : *memories)
        if (memory.bytes > memory.size)
          check({{{memory.bytes,
                   fmt::format("{} in the memory '{}', beside what the others "
                               "hold",
                               memories == &m.memories ? "of arena"
                                                       : "of weights",
                               memory.name)}},
                 memory.size,
                 "--pool",
                 ""},
                "");
    if (fit.flash && !fit.flash->fits())
      check(*fit.flash, describeAtSize(m));
    return ended;
  }

  /// Builds the code to measure its size. Returns nullopt if there is no
  /// compiler for it or --no-build is given.
  llvm::Expected<std::optional<CodeBytes>>
  measure(const Manifest &manifest) const {
    if (noBuild)
      return std::nullopt;
    return CodeBytes::measure(manifest, compiler, options.getLevel(),
                              /*wantsLayers=*/false);
  }

  ExitCode measureSource(const Manifest &manifest) {
    std::string source = manifest.folder + "/" + manifest.getSource();
    uint64_t bytes = 0;
    if (std::error_code error = llvm::sys::fs::file_size(source, bytes))
      return fail(makeError(source + ": " + error.message()),
                  ExitCode::ownFault);
    sourceBytes = int64_t(bytes);
    return ExitCode::done;
  }

  static json::Array toJson(const std::vector<Memory> &memories) {
    json::Array list;
    for (const Memory &memory : memories)
      list.push_back(json::Object{{"name", memory.name},
                                  {"bytes", memory.bytes},
                                  {"size", memory.size},
                                  {"slow", memory.slow}});
    return list;
  }

  /// Returns the multiply-adds of a run, and those of one trip of loops whose
  /// trip count depends on data.
  static std::string describeMultiplyAdds(const Manifest &m) {
    int64_t trip = m.multiplyAddsOfTrip(), others = m.multiplyAdds() - trip;
    if (!trip)
      return formatCount(double(others));
    return fmt::format("{}{} a trip of loops whose trips the data decide",
                       others ? formatCount(double(others)) + ", and " : "",
                       formatCount(double(trip)));
  }

  static void printMemories(const std::vector<Memory> &memories) {
    for (const Memory &memory : memories)
      printOut("  {:<14} {} of {} bytes in {}{}\n", "", memory.bytes,
               memory.size, memory.name, memory.slow ? ", which is slow" : "");
  }

  void report(const Manifest &m, ExitCode ended) const {
    if (json) {
      json::Object said{{"name", m.name},
                        {"target", m.target},
                        {"layers", int64_t(m.layers.size())},
                        {"arena_bytes", m.arenaBytes},
                        {"lower_bound_bytes", m.lowerBound},
                        {"weight_bytes", m.weightBytes},
                        {"input_bytes", sumBytes(m.inputs)},
                        {"output_bytes", sumBytes(m.outputs)},
                        {"state_bytes", sumBytes(m.state)},
                        {"multiply_adds", m.multiplyAdds()},
                        {"multiply_adds_of_trip", m.multiplyAddsOfTrip()},
                        {"inputs", portsToJson(m.inputs)},
                        {"outputs", portsToJson(m.outputs)}};
      if (ArenaPeak peak = findPeak(m); !peak.places.empty()) {
        json::Array places;
        for (const ArenaPlace *place : peak.places)
          places.push_back(
              json::Object{{"name", place->name}, {"bytes", place->bytes}});
        said["peak"] = json::Object{{"layer", m.layers[peak.layer].name},
                                    {"bytes", peak.bytes},
                                    {"places", std::move(places)}};
      }
      if (!m.memories.empty())
        said["memories"] = toJson(m.memories);
      if (!m.weightMemories.empty())
        said["weight_memories"] = toJson(m.weightMemories);
      said[code ? "code_bytes" : "source_bytes"] =
          code ? code->total : sourceBytes;
      if (code)
        said["compiler"] = code->command;
      if (code && code->parts) {
        said["text_bytes"] = code->parts->text;
        said["constant_bytes"] = code->parts->constants;
        if (const StackDepth *stack = code->findStack()) {
          said["stack_bytes"] = stack->bytes;
          if (!stack->beyond.empty())
            said["stack_without"] = json::Array(stack->beyond);
        }
      }
      for (auto &[key, value] : fit.toJson())
        said[key] = std::move(value);
      if (seconds) {
        said["mhz"] = clock.mhz;
        said["estimate_seconds"] = *seconds;
      }
      if (quantized.isQuantized)
        said["quantized"] = quantized.toJson();
      advice.addTo(said);
      printJson(std::move(said), ended);
      return;
    }
    printOut("{}: {}, for {}\n", displayText(options.model),
             ended == ExitCode::done ? "nothing wrong" : "too large", m.target);
    for (const auto *ports : {&m.inputs, &m.outputs, &m.state})
      for (const Port &port : *ports)
        printOut("  {:<14} {}: {} of {}{}{}{}\n",
                 ports == &m.inputs    ? "input"
                 : ports == &m.outputs ? "output"
                                       : "state",
                 displayText(port.name), shapeText(port.shape), port.typeName(),
                 port.scales.empty() ? "" : ", ", port.describeQuantization(),
                 port.field == port.name ? "" : ", field " + port.field);
    double over = m.lowerBound > 0
                      ? 100.0 * (m.arenaBytes - m.lowerBound) / m.lowerBound
                      : 0;
    auto line = [](const char *what, std::string value) {
      printOut("  {:<14} {}\n", what, value);
    };
    line("layers", fmt::format("{}", m.layers.size()));
    line("multiply-adds", describeMultiplyAdds(m));
    line("arena", fmt::format("{} ({} bytes, {:.1f} % over the lower bound)",
                              formatBytes(m.arenaBytes), m.arenaBytes, over));
    printMemories(m.memories);
    ArenaPeak peak = findPeak(m);
    if (!peak.places.empty()) {
      // The three largest places show what to change.
      std::vector<std::string> parts;
      for (const ArenaPlace *place : peak.places)
        if (parts.size() < 3)
          parts.push_back(fmt::format("{} of {}", place->bytes, place->name));
      if (peak.places.size() > parts.size())
        parts.push_back(
            fmt::format("{} more", peak.places.size() - parts.size()));
      line("peak",
           fmt::format("{} bytes at layer {}, {}: {}", peak.bytes, peak.layer,
                       m.layers[peak.layer].name, fmt::join(parts, ", ")));
    }
    line("weights", fmt::format("{} ({} bytes)", formatBytes(m.weightBytes),
                                m.weightBytes));
    printMemories(m.weightMemories);
    advice.print();
    auto both = [](int64_t bytes) {
      return fmt::format("{} ({} bytes)", formatBytes(bytes), bytes);
    };
    if (code)
      line("code", fmt::format("{}, of {}", both(code->total), code->command));
    else
      line("source", both(sourceBytes));
    if (const StackDepth *stack = code ? code->findStack() : nullptr)
      line("stack",
           fmt::format("{} bytes{}", stack->bytes,
                       stack->beyond.empty()
                           ? ""
                           : fmt::format(", without those of {}",
                                         fmt::join(stack->beyond, ", "))));
    if (fit.flash)
      line("flash", fit.flash->describe());
    line("RAM", fit.ram.describe());
    if (seconds)
      line("time", fmt::format("{}, estimated {}", formatSeconds(*seconds),
                               clock.describe(options)));
    if (quantized.isQuantized)
      quantized.print();
  }

  ModelOptions options;
  QuantizedReport quantized;
  WeightsAdvice advice;
  std::optional<CodeBytes> code; ///< null if the code was not built
  int64_t sourceBytes = 0; ///< bytes of the source text, if it was not built
  struct {
    int64_t arenaBytes = 0, weightBytes = 0;
  } base; ///< sizes of the module without changes
  Fit fit;
  std::optional<double> seconds; ///< estimated time of a run
  Clock clock = {0, 1};
  std::string compiler;
  std::optional<int64_t> maxFlash;
  std::string picture; ///< path of the picture of the arena, or empty
  bool noBuild = false, json = false;
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace nnc::tools
