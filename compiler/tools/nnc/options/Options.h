//===- Command.h - What the commands of nnc have in common ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H
#define NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"

#include "dialects/target/Target.h"

#include <functional>
#include <memory>
#include <optional>

namespace CLI {
class App;
}

namespace nnc::tools {

/// `nnc NAME ...`: its options, then its work.
class Command {
public:
  virtual ~Command() = default;
  virtual void addOptions(CLI::App &app) = 0;
  virtual ExitCode run() = 0;
};

std::unique_ptr<Command> makeBench();
std::unique_ptr<Command> makeCheck();
std::unique_ptr<Command> makeCompile();
std::unique_ptr<Command> makeCompletion();
std::unique_ptr<Command> makeCompress();
std::unique_ptr<Command> makeExplain();
std::unique_ptr<Command> makeManual();
std::unique_ptr<Command> makeOps();
std::unique_ptr<Command> makeQuantize();
std::unique_ptr<Command> makeReport();
std::unique_ptr<Command> makeRoutines();
std::unique_ptr<Command> makeRun();
std::unique_ptr<Command> makeTargetProbe();
std::unique_ptr<Command> makeTargets();
std::unique_ptr<Command> makeTune();
std::unique_ptr<Command> makeVerify();

/// --target=T, which must be one that there is.
void addTargetOption(CLI::App &app, std::string &target, const char *help);
/// MODEL, --shape and --external-data.
void addModelFileOptions(CLI::App &app, ModelOptions &options);
/// The same, --target and what else decides the code.
void addModelOptions(CLI::App &app, ModelOptions &options);

/// Adds an option for the most bytes of a kind of memory.
void addLimit(CLI::App &app, const char *name, std::optional<int64_t> &limit,
              const char *help);

/// Adds an option that may be given again. `clear` forgets what was given, as a
/// command line with problems is read several times; `parse` takes one argument
/// and returns what is wrong with it, or an empty string. All problems are told
/// at once.
void addRepeatedOption(CLI::App &app, const std::string &name,
                       const std::string &type, std::function<void()> clear,
                       std::function<std::string(const std::string &)> parse,
                       const std::string &help);
/// Returns a number for JSON, which has none that are not finite: null then, or
/// where there is none.
llvm::json::Value orNull(std::optional<double> value);
/// Adds --limit.
void addLimitOption(CLI::App &app, ModelOptions &options);
/// Adds --batch and --max-latency.
void addBatchOptions(CLI::App &app, ModelOptions &options);
/// Adds --max-flash.
void addFlashOption(CLI::App &app, std::optional<int64_t> &maxFlash);
/// Adds --max-ram.
void addRamOption(CLI::App &app, ModelOptions &options);
/// MODEL may also be a folder that nnc compile wrote, then without options that
/// decide the code.
void allowFolder(CLI::App &app, const ModelOptions &options);
/// Adds --layouts=plain|local|fixed|global. All but `global` restrict the
/// search, for comparisons.
void addLayoutsOption(CLI::App &app, ModelOptions &options);
/// --optimize=size|balance|speed.
void addOptimizeOption(CLI::App &app, ModelOptions &options);
/// --mhz=N.
void addClockOption(CLI::App &app, ModelOptions &options);

/// The clock for which times are told.
struct Clock {
  double mhz;
  /// The factor from the seconds of an estimate, which holds at the clock of
  /// the target's row, to the seconds at `mhz`.
  double factor;

  /// Returns a phrase such as "at 80 MHz"; it names the option where the clock
  /// is that of the row.
  std::string describe(const ModelOptions &options) const;
};
Clock findClock(target::MachineAttr machine, const ModelOptions &options);

/// --precision=f32|f16|i8 and --calibrate.
void addPrecisionOption(CLI::App &app, ModelOptions &options);
/// --threads=on|off|N, for code that others will run.
void addThreadsOption(CLI::App &app, ModelOptions &options);
/// --package=zephyr|esp-idf|platformio|arduino.
void addPackageOption(CLI::App &app, ModelOptions &options);
/// --threads=N, for code that is run here.
void addThreadCountOption(CLI::App &app, int &threads);
void addCompilerOption(CLI::App &app, std::string &compiler);
/// --on=ssh:HOST|COMMAND, for programs that measure.
void addPlaceOption(CLI::App &app, std::string &on);
void addJsonOption(CLI::App &app, bool &json);
/// --quiet, --verbose and --color, which are given before or behind the name of
/// the command.
void addMannerOptions(CLI::App &app, Manner &manner);

/// Prints the JSON document of a command that ends with `code` to stdout. An
/// object also says "ok", "exit_code" and "problems".
void printJson(llvm::json::Value value, ExitCode code = ExitCode::done);

/// Whether the command has printed its document.
bool isJsonPrinted();

/// Where programs that measure are built and run, as options say.
struct Workbench {
  std::string target, compiler;
  std::string on; ///< of addPlaceOption

  /// What builds programs for `machine`, the target, and runs them there. An
  /// emulator's times say nothing: without --on it is no place to measure.
  ExitCode findTools(target::MachineAttr machine, Toolchain &toolchain) const;
  /// LLVM's name of the chip that measures, or where it is.
  std::string describeChip(target::MachineAttr machine) const;
};

/// A model compiled for its target and built; or a folder that the user gave,
/// then without a driver.
struct Prepared {
  std::unique_ptr<Scratch> folder; ///< of the emitted code, if it is ours
  std::unique_ptr<Driver> driver;
  Manifest manifest;
  Toolchain toolchain;
  std::unique_ptr<BuiltModule> module; ///< null before build()

  /// Compiles the model, unless it is a folder.
  ExitCode open(const ModelOptions &options, DriverOptions wanted = {});
  /// Leaves of a module with several functions the one that takes inputs of the
  /// shapes of these files (INPUT=FILE.npy), else the first.
  void chooseFunction(const std::vector<std::string> &arguments);
  /// Builds the program around it, if this machine can run it.
  ExitCode build(const std::string &compiler, int threads);
};

/// The bytes that a module takes of the memory of a board without an operating
/// system.
struct Footprint {
  int64_t text = 0, constants = 0, weights = 0; ///< of flash memory
  int64_t arena = 0, stack = 0; ///< of RAM, beside inputs and outputs
  int64_t state = 0;            ///< of RAM: what is kept between runs

  /// Measures the module, whose run had `result`.
  static llvm::Expected<Footprint> measure(const BuiltModule &,
                                           const RunResult &result);
  llvm::json::Object toJson() const;
  void print() const;
};

/// Reads NAME=FILE.npy for each of the model's inputs into the request; reports
/// everything that is wrong with the arguments.
ExitCode readInputs(const std::vector<std::string> &arguments,
                    const Manifest &manifest, RunRequest &request);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H
