//===- Check.cpp - nnc check ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Firmware.h"
#include "compiler/tools/driver/Process.h"
#include "compiler/tools/driver/Progress.h"
#include "compiler/tools/driver/Quantized.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Arena.h"
#include "compiler/tools/nnc/Command.h"
#include "compiler/tools/nnc/Explanation.h"
#include "compiler/tools/nnc/Fit.h"
#include "compiler/tools/nnc/WeightsAdvice.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// Size of a module's code in bytes: that of its object file if there is a
/// compiler for the target, else the size of its source.
struct CodeSize {
  int64_t bytes = 0;
  /// The size of each section of a program that runs the model, for a target
  /// without an operating system.
  std::optional<ModuleSize> parts;
  /// Command that compiled it, empty if the size is that of the source.
  std::string command;
  bool built() const { return !command.empty(); }
};

/// Returns the first error in the output of a compiler, or all of the output if
/// there is none.
std::string firstMessage(llvm::StringRef said) {
  for (llvm::StringRef line : llvm::split(said, '\n'))
    if (line.contains("error:"))
      return line.trim().str();
  return said.trim().str();
}

class Check : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addThreadsOption(app, options);
    addOptimizeOption(app, options);
    app.add_flag("--no-build", noBuild,
                 "Give the size of the source instead of building it");
    addCompilerOption(app, compiler);
    addRamOption(app, options);
    addBatchOptions(app, options);
    addClockOption(app, options);
    addLimit(app, "--max-flash", maxFlash,
             "Most bytes of flash memory: of code, constants and weights");
    app.add_option("--arena", picture,
                   "Where a picture goes, in SVG, of what lies in the arena "
                   "while each layer runs")
        ->type_name("FILE.svg");
    addJsonOption(app, json);
  }

  ExitCode run() override {
    Prepared prepared;
    if (llvm::sys::fs::is_directory(options.model))
      return fail(makeError(options.model + " is a folder; give a model"),
                  ExitCode::usage);
    if (ExitCode code = prepared.open(options, {/*keepStages=*/true,
                                                /*exceedsRam=*/true});
        code != ExitCode::done)
      return code;
    llvm::Expected<CodeSize> size = measure(prepared.manifest);
    if (!size)
      return fail(size.takeError(), prepared.manifest.hasCustoms()
                                        ? ExitCode::usage
                                        : ExitCode::ownFault);
    if (maxFlash && !size->built())
      return fail(makeError("--max-flash needs the size of the code: leave out "
                            "--no-build, and install the target's compiler"),
                  ExitCode::usage);
    quantized = reportQuantized(prepared.driver->formed());
    advice =
        WeightsAdvice::find(*prepared.driver, prepared.manifest.weightBytes);
    base = {prepared.manifest.arenaBytes, prepared.manifest.weightBytes};
    fit = findFit(prepared.manifest,
                  size->built() ? std::optional(size->bytes) : std::nullopt,
                  size->parts, maxFlash, options.maxRam);
    if (ExitCode code = estimate(*prepared.driver, seconds);
        code != ExitCode::done)
      return code;
    weighAdvice();
    if (!picture.empty())
      if (llvm::Error error =
              replaceTextFile(picture, drawArena(prepared.manifest)))
        return fail(std::move(error), ExitCode::usage);
    ExitCode code =
        checkLimits(prepared.manifest, *size, prepared.driver->leastRam());
    report(prepared.manifest, *size, code);
    return code;
  }

private:
  /// Estimates the time of a run, for a target without an operating system or
  /// with --mhz.
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

  /// Compiles with the encoding that `advice` suggests, for what it costs in
  /// RAM and time; drops the suggestion where that passes --max-ram or fails.
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

  /// Returns what the code takes at -Os, for a message about a limit that it
  /// passes at another level; nothing where the user has said which.
  std::string describeAtSize(const Manifest &m, const CodeSize &size) const {
    llvm::Expected<Toolchain> toolchain = Toolchain::find(m.target, compiler);
    if (!toolchain) {
      llvm::consumeError(toolchain.takeError());
      return "";
    }
    toolchain->level = getLevel(Optimize::size);
    bool isChosen = options.optimize == Optimize::size ||
                    toolchain->moduleCommand().back() != toolchain->level;
    if (isChosen || !size.parts)
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

  /// Reports each limit that is passed.
  ExitCode checkLimits(const Manifest &m, const CodeSize &size,
                       std::optional<int64_t> stripsRam) const {
    ExitCode code = ExitCode::done;
    auto check = [&](std::optional<int64_t> limit, int64_t bytes,
                     llvm::StringRef option, const std::string &parts,
                     const std::string &hint = "") {
      if (!limit || bytes <= *limit)
        return;
      tools::report({Problem::error,
                     options.model,
                     "",
                     "",
                     fmt::format("needs {} bytes ({}), {} more than the {} of "
                                 "{}{}",
                                 bytes, parts, bytes - *limit, *limit,
                                 option.str(), hint),
                     fmt::format("at most {} bytes", *limit),
                     fmt::format("{} bytes", bytes),
                     {}});
      code = ExitCode::limit;
    };
    // The layer to make smaller, for who reads no more than the message.
    ArenaPeak peak = findPeak(m);
    std::string fullest =
        peak.places.empty()
            ? ""
            : fmt::format(", fullest at layer '{}'", m.layers[peak.layer].name);
    check(options.maxRam, fit.ram.getSum() - fit.ram.beyond, "--max-ram",
          fmt::format(
              "{} of arena{}, {} of inputs, {} of outputs{}{}", m.arenaBytes,
              fullest, sumBytes(m.inputs), sumBytes(m.outputs),
              m.state.empty() ? ""
                              : fmt::format(", {} of state", sumBytes(m.state)),
              stripsRam ? fmt::format("; {} with layers computed in strips",
                                      *stripsRam)
                        : ""));
    for (const auto *memories : {&m.memories, &m.weightMemories})
      for (const Memory &memory : *memories)
        check(memory.size, memory.bytes, "--pool",
              fmt::format("{} in the memory '{}', beside what the others hold",
                          memories == &m.memories ? "of arena" : "of weights",
                          memory.name));
    if (fit.flash && fit.flash->getLeft() < 0)
      check(maxFlash, fit.flash->getSum(), "--max-flash",
            fmt::format("{} of code and constants, {} of weights", size.bytes,
                        m.weightBytes),
            describeAtSize(m, size));
    return code;
  }

  llvm::Expected<CodeSize> measure(const Manifest &manifest) const {
    CodeSize size;
    std::string source = manifest.folder + "/" + manifest.name + ".cpp";
    if (!noBuild) {
      Progress progress("building, to know the size of the code");
      llvm::Expected<Toolchain> toolchain =
          Toolchain::find(manifest.target, compiler);
      if (!toolchain)
        return toolchain.takeError();
      toolchain->level = options.getLevel();
      Words command = splitCommand(toolchain->compiler);
      auto program = findProgram(command.empty() ? "" : command.front());
      if (program) {
        Words all = toolchain->moduleCommand();
        all.insert(all.end(), toolchain->flags.begin(), toolchain->flags.end());
        size.command = fmt::format("{}", fmt::join(all, " "));
        if (toolchain->isBare()) {
          llvm::Expected<ModuleSize> parts =
              measureModule(manifest, *toolchain, manifest.folder);
          if (!parts)
            return parts.takeError();
          size.bytes = parts->text + parts->constants;
          size.parts = *parts;
          return size;
        }
        auto objects = buildModule(manifest, *toolchain, manifest.folder,
                                   /*hooks=*/false);
        if (!objects)
          return makeError(
              (manifest.hasCustoms()
                   ? std::string("the code does not build; is it the custom "
                                 "functions? ")
                   : "the emitted code does not build, which is a fault of nnc "
                     "or of the compiler; please report it: ") +
              firstMessage(llvm::toString(objects.takeError())));
        llvm::Expected<int64_t> bytes = codeBytes(source + ".o");
        if (!bytes)
          return bytes.takeError();
        size.bytes = *bytes;
        if (!manifest.hasCustoms())
          return size;
        llvm::Expected<int64_t> customs =
            codeBytes(manifest.folder + "/" + manifest.customFile() + ".o");
        if (!customs)
          return customs.takeError();
        size.bytes += *customs;
        return size;
      }
      printWarning("the size of the source is given instead of the code's: " +
                   llvm::toString(program.takeError()));
    }
    uint64_t bytes = 0;
    if (std::error_code code = llvm::sys::fs::file_size(source, bytes))
      return makeError(source + ": " + code.message());
    size.bytes = int64_t(bytes);
    return size;
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

  static void printMemories(const std::vector<Memory> &memories) {
    for (const Memory &memory : memories)
      printOut("  {:<14} {} of {} bytes in {}{}\n", "", memory.bytes,
               memory.size, memory.name, memory.slow ? ", which is slow" : "");
  }

  void report(const Manifest &m, const CodeSize &size, ExitCode code) const {
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
      said[size.built() ? "code_bytes" : "source_bytes"] = size.bytes;
      if (size.built())
        said["compiler"] = size.command;
      if (size.parts) {
        said["text_bytes"] = size.parts->text;
        said["constant_bytes"] = size.parts->constants;
        if (size.parts->stack)
          said["stack_bytes"] = size.parts->stack->bytes;
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
      printJson(std::move(said), code);
      return;
    }
    printOut("{}: {}, for {}\n", displayText(options.model),
             code == ExitCode::done ? "nothing wrong" : "too large", m.target);
    for (const auto *ports : {&m.inputs, &m.outputs, &m.state})
      for (const Port &port : *ports)
        printOut("  {:<14} {}: {} of {}{}{}{}\n",
                 ports == &m.inputs    ? "input"
                 : ports == &m.outputs ? "output"
                                       : "state",
                 displayText(port.name), shapeText(port.shape),
                 dtypeName(port.dtype), port.scales.empty() ? "" : ", ",
                 port.describeQuantization(),
                 port.field == port.name ? "" : ", field " + port.field);
    double over = m.lowerBound > 0
                      ? 100.0 * (m.arenaBytes - m.lowerBound) / m.lowerBound
                      : 0;
    auto line = [](const char *what, std::string value) {
      printOut("  {:<14} {}\n", what, value);
    };
    line("layers", fmt::format("{}", m.layers.size()));
    line("multiply-adds", formatCount(double(m.multiplyAdds())));
    line("arena", fmt::format("{} ({} bytes, {:.1f} % over the lower bound)",
                              formatBytes(m.arenaBytes), m.arenaBytes, over));
    printMemories(m.memories);
    ArenaPeak peak = findPeak(m);
    if (!peak.places.empty()) {
      // The largest three say what to change.
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
    std::string bytes =
        fmt::format("{} ({} bytes)", formatBytes(size.bytes), size.bytes);
    if (size.built())
      line("code", fmt::format("{}, of {}", bytes, size.command));
    else
      line("source", bytes);
    if (size.parts && size.parts->stack) {
      const StackDepth &stack = *size.parts->stack;
      line("stack",
           fmt::format("{} bytes{}", stack.bytes,
                       stack.beyond.empty()
                           ? ""
                           : fmt::format(", without those of {}",
                                         fmt::join(stack.beyond, ", "))));
    }
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
  struct {
    int64_t arenaBytes = 0, weightBytes = 0;
  } base; ///< of the module as it is
  Fit fit;
  std::optional<double> seconds; ///< of a run, estimated
  Clock clock = {0, 1};
  std::string compiler;
  std::optional<int64_t> maxFlash;
  std::string picture; ///< path of the arena's, or empty
  bool noBuild = false, json = false;
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace nnc::tools
