//===- Options.h - Options that several commands have ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H
#define NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/options/ModelOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nnc::tools {

/// Adds --target=T, which must name an existing target.
void addTargetOption(CLI::App &app, std::string &target, const char *help);
/// Adds MODEL, --shape and --external-data.
void addModelFileOptions(CLI::App &app, ModelOptions &options);
/// Adds --weights, whose value is the model's file of weights or one of the
/// words `places`, which say where the weights go in the code. `help` explains
/// these.
void addWeightsOption(CLI::App &app, ModelOptions &options,
                      const std::vector<std::string> &places = {},
                      const std::string &help = "");
/// Returns true if MODEL is a folder that nnc compile wrote, as opposed to a
/// model that is kept in a folder.
bool isCompiledFolder(const std::string &model);
/// Adds the options of addModelFileOptions(), --target, and all other options
/// that affect the code.
void addModelOptions(CLI::App &app, ModelOptions &options);

/// Adds --limit.
void addLimitOption(CLI::App &app, ModelOptions &options);
/// Adds --batch and --max-latency.
void addBatchOptions(CLI::App &app, ModelOptions &options);
/// Adds --max-flash.
void addFlashOption(CLI::App &app, std::optional<int64_t> &maxFlash);
/// Adds --max-ram.
void addRamOption(CLI::App &app, ModelOptions &options);
/// Adds --value.
void addValueOption(CLI::App &app, ModelOptions &options);
/// Lets MODEL also be a folder that nnc compile wrote. Options that affect the
/// code are then not allowed.
void allowFolder(CLI::App &app, const ModelOptions &options);
/// Adds --layouts=plain|local|fixed|global. All but `global` restrict the
/// search, for comparisons.
void addLayoutsOption(CLI::App &app, ModelOptions &options);
/// Adds --optimize=size|balance|speed.
void addOptimizeOption(CLI::App &app, ModelOptions &options);
/// Adds --mhz=N.
void addClockOption(CLI::App &app, ModelOptions &options);

/// Adds --precision=f32|tf32|bf16|f16|i8 and --calibrate.
void addPrecisionOption(CLI::App &app, ModelOptions &options);
/// Adds --threads=on|off|N, for code that others will run.
void addThreadsOption(CLI::App &app, ModelOptions &options);
/// Adds --package=zephyr|esp-idf|platformio|arduino.
void addPackageOption(CLI::App &app, ModelOptions &options);
/// Adds --threads=N, for code that runs on this machine.
void addThreadCountOption(CLI::App &app, int &threads);
void addCompilerOption(CLI::App &app, std::string &compiler);
/// --emulate: the CPU emulates the GPU of a CUDA module.
void addEmulateOption(CLI::App &app, bool &emulate);
/// Adds --on=ssh:HOST|COMMAND, for programs that measure.
void addPlaceOption(CLI::App &app, std::string &on);
void addJsonOption(CLI::App &app, bool &json);
/// Adds --quiet, --verbose and --color, which may precede or follow the name of
/// the command.
void addMannerOptions(CLI::App &app, Manner &manner);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONS_H
