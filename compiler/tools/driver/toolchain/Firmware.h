//===- Firmware.h - Programs for boards without an operating system -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_FIRMWARE_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_FIRMWARE_H

#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/StackDepth.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"

namespace nnc::tools {

/// Returns true if a source of the runner (runner/Sources.h) is for boards
/// without an operating system.
bool isFirmware(llvm::StringRef source);

/// Links each module with the test firmware (compiler/tools/runner/firmware)
/// for the toolchain's board. Returns the paths of the programs.
llvm::Expected<std::vector<std::string>>
buildFirmware(llvm::ArrayRef<Manifest> modules, const Toolchain &,
              const std::string &folder);

/// Returns the command that runs firmware in the board's emulator. Each line of
/// the file `argumentsFile` is an argument of the firmware.
Words firmwareCommand(const Toolchain &, const std::string &program,
                      const std::string &argumentsFile);

/// The bytes of flash memory that a module takes, without its weights and
/// without functions of the C library, and the bytes of its stack.
struct ModuleSize {
  int64_t text = 0;      ///< machine code
  int64_t constants = 0; ///< read-only data that is not the weights
  /// The stack that <name>_run needs, if the machine code or the compiler tells
  /// it.
  std::optional<StackDepth> stack;
};

/// Builds the module without hooks, and measures the part of it that is linked
/// into a program that calls only <name>_run.
llvm::Expected<ModuleSize> measureModule(const Manifest &, const Toolchain &,
                                         const std::string &folder);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_FIRMWARE_H
