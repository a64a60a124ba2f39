//===- TargetProbe.cpp - nnc target-probe ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"
#include "compiler/tools/nnc/prepare/Workbench.h"
#include "compiler/tuning/ProbeFile.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

/// Bandwidths in bytes per second when reading, when writing, and when doing
/// both at once.
struct Rates {
  double read = 0, write = 0, both = 0;
};

/// The figures that the program of runner/probe.cpp prints.
struct Figures {
  double threads = 0, clock = 0, barrier = 0;
  /// Pairs of a vector size in bytes and multiply-adds per second.
  std::vector<std::pair<double, double>> peaks;
  /// Pairs of a size in bytes and bandwidths, from the first cache level on.
  std::vector<std::pair<double, Rates>> caches;
  Rates memory, sharedMemory;
};

std::optional<Figures> parse(llvm::StringRef text) {
  Figures found;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    llvm::SmallVector<llvm::StringRef, 4> words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    std::vector<double> values;
    for (llvm::StringRef word :
         llvm::ArrayRef(words).drop_front(!words.empty()))
      if (double value; !word.getAsDouble(value) && value > 0 && value < 1e15)
        values.push_back(value);
    size_t count = values.size();
    if (words.empty() || count + 1 != words.size())
      continue;
    llvm::StringRef what = words.front();
    if (what == "threads" && count == 1)
      found.threads = values[0];
    else if (what == "clock" && count == 1)
      found.clock = values[0];
    else if (what == "barrier" && count == 1)
      found.barrier = values[0];
    else if (what == "peak" && count == 2)
      found.peaks.push_back({values[0], values[1]});
    else if (what == "cache" && count == 1)
      found.caches.push_back({values[0], Rates()});
    else if (what == "rates" && count == 3 && !found.caches.empty())
      found.caches.back().second = {values[0], values[1], values[2]};
    else if (what == "memory" && count == 3)
      found.memory = {values[0], values[1], values[2]};
    else if (what == "shared_memory" && count == 3)
      found.sharedMemory = {values[0], values[1], values[2]};
  }
  if (found.clock > 0 && !found.peaks.empty() && found.memory.both > 0)
    return found;
  return std::nullopt;
}

/// Rounds to the nearest integer, but to at least 1, the smallest value in a
/// target's row.
int64_t roundUp(double value) {
  return std::max<int64_t>(1, std::llround(value));
}

class TargetProbe : public Command {
public:
  void addOptions(CLI::App &app) override {
    addTargetOption(app, bench.target,
                    "What the machine is, see 'nnc targets'");
    app.add_option("-o,--output", output,
                   "File to write; the target's name and .probe unless given")
        ->type_name("FILE");
    app.add_option("--threads", threads,
                   "Threads that share the memory's rate; as many as there are "
                   "cores unless given")
        ->type_name("N")
        ->check(CLI::Range(1, 256));
    addCompilerOption(app, bench.compiler);
    addPlaceOption(app, bench.on);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    if (output.empty())
      output = bench.target + ".probe";
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Diagnostics diagnostics(context);
    auto machine =
        target::getMachine(bench.target, mlir::UnknownLoc::get(&context));
    if (mlir::failed(machine))
      return ExitCode::usage;
    if (machine->getHost().getKind() == target::DeviceKind::gpu)
      return fail(
          makeError("nnc target-probe measures the cores of CPUs, and " +
                    bench.target + " is a GPU"),
          ExitCode::usage);
    Toolchain toolchain;
    if (ExitCode code = bench.findTools(*machine, toolchain);
        code != ExitCode::done)
      return code;
    llvm::Expected<std::string> printed = measure(toolchain);
    if (!printed)
      return fail(printed.takeError(),
                  bench.on.empty() ? ExitCode::ownFault : ExitCode::usage);
    std::optional<Figures> figures = parse(*printed);
    if (!figures)
      return fail(makeError("the program that measures printed no figures"),
                  bench.on.empty() ? ExitCode::ownFault : ExitCode::usage);
    ProbeFile file = makeFile(*figures, *machine);
    if (llvm::Error error = replaceTextFile(output, file.print()))
      return fail(std::move(error), ExitCode::usage);
    if (json) {
      printJson(llvm::json::Object{{"file", output},
                                   {"chip", file.chip},
                                   {"multiply_adds_a_cycle", file.multiplyAdds},
                                   {"mhz", file.mhz},
                                   {"memory_mb_s", file.memoryMbS}});
      return ExitCode::done;
    }
    printOut("{}: {} multiply-adds a cycle at {} MHz, {} MB/s of memory, on "
             "{}\n",
             displayText(output), file.multiplyAdds, file.mhz, file.memoryMbS,
             file.chip);
    return ExitCode::done;
  }

private:
  llvm::Expected<std::string> measure(const Toolchain &toolchain) const {
    llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
    if (!folder)
      return folder.takeError();
    Progress building("building with " + toolchain.compiler);
    llvm::Expected<std::string> program =
        buildProbe(toolchain, (*folder)->path());
    if (!program)
      return program.takeError();
    Progress running("measuring");
    std::vector<std::string> arguments;
    if (threads)
      arguments.push_back(std::to_string(threads));
    return toolchain.run(*program, arguments, (*folder)->path() + "/run");
  }

  ProbeFile makeFile(const Figures &figures,
                     target::MachineAttr machine) const {
    ProbeFile file;
    file.version = NNC_VERSION;
    file.chip = bench.describeChip(machine);
    for (auto isa :
         machine.getHost().getIsas().getAsValueRange<mlir::StringAttr>())
      file.isas.push_back(isa.str());
    file.mhz = roundUp(figures.clock * 1e-6);
    double most = 0;
    for (auto [bytes, peak] : figures.peaks)
      most = std::max(most, peak);
    file.multiplyAdds = roundUp(most / figures.clock);
    // Properties of the caches that Linux does not report are taken from the
    // target's row.
    for (auto [bytes, rates] : figures.caches)
      file.caches.push_back(
          {roundUp(bytes), roundUp(rates.both / figures.clock)});
    if (file.caches.empty())
      for (auto [bytes, rate] :
           llvm::zip(machine.getHost().getCore().getCaches().asArrayRef(),
                     machine.getHost().getCore().getBandwidth().asArrayRef()))
        file.caches.push_back({bytes, rate});
    file.memoryMbS = roundUp(figures.memory.both * 1e-6);
    file.comments = describe(figures);
    return file;
  }

  /// Returns the figures that the cost model does not use, as lines of text.
  static std::vector<std::string> describe(const Figures &figures) {
    std::vector<std::string> lines;
    for (auto [bytes, peak] : figures.peaks)
      lines.push_back(fmt::format("multiply-adds a cycle in vectors of {:.0f} "
                                  "bytes: {:.1f}",
                                  bytes, peak / figures.clock));
    for (size_t i = 0; i < figures.caches.size(); ++i) {
      const Rates &rates = figures.caches[i].second;
      lines.push_back(fmt::format(
          "bytes a cycle at level {}: {:.1f} read, {:.1f} written", i + 1,
          rates.read / figures.clock, rates.write / figures.clock));
    }
    lines.push_back(fmt::format("MB/s of memory: {:.0f} read, {:.0f} written",
                                figures.memory.read * 1e-6,
                                figures.memory.write * 1e-6));
    lines.push_back(fmt::format(
        "MB/s of memory on {:.0f} threads: {:.0f} read, {:.0f} written, "
        "{:.0f} both",
        figures.threads, figures.sharedMemory.read * 1e-6,
        figures.sharedMemory.write * 1e-6, figures.sharedMemory.both * 1e-6));
    lines.push_back(fmt::format("ns to hand work to {:.0f} threads: {:.0f}",
                                figures.threads, figures.barrier * 1e9));
    return lines;
  }

  Workbench bench{"native", "", ""};
  std::string output;
  int threads = 0;
  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeTargetProbe() {
  return std::make_unique<TargetProbe>();
}

} // namespace nnc::tools
