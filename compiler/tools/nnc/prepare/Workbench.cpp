//===- Workbench.cpp - The place where measurements run -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/prepare/Workbench.h"

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"

#include "dialects/target/OwnGpu.h"

#include "llvm/TargetParser/Host.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Returns why measurements cannot run on this machine, or an empty string if
/// they can.
static std::string findOwnObstacle(target::MachineAttr machine,
                                   const Toolchain &toolchain) {
  std::vector<std::string> needs;
  for (auto one :
       machine.getHost().getFeatures().getAsValueRange<mlir::StringAttr>())
    needs.push_back(one.str());
  if (toolchain.emulator.empty())
    return findObstacle(needs, toolchain);
  return fmt::format("code for {} runs in an emulator here, whose times say "
                     "nothing of a real machine; give --on=ssh:HOST",
                     toolchain.target);
}

/// Returns why this machine cannot run code for the GPUs of `machine`, or an
/// empty string if it can.
static std::string findGpuObstacle(target::MachineAttr machine) {
  std::vector<std::string> architectures;
  for (mlir::Attribute each : machine.getHost().getArchitectures())
    architectures.push_back(llvm::cast<mlir::StringAttr>(each).str());
  return target::findGpuObstacle(architectures);
}

ExitCode Workbench::findTools(target::MachineAttr machine,
                              Toolchain &toolchain) const {
  llvm::Expected<Toolchain> found = Toolchain::find(target, compiler);
  if (!found)
    return fail(found.takeError(), ExitCode::usage);
  toolchain = std::move(*found);
  const bool isGpu = machine.getHost().getKind() == target::DeviceKind::gpu;
  if (isGpu)
    toolchain.useGpu();
  if (isGpu && on.empty())
    if (std::string obstacle = findGpuObstacle(machine); !obstacle.empty())
      return fail(
          makeError(fmt::format("measuring for {} needs a GPU that runs "
                                "its code: {}; --on=ssh:HOST measures "
                                "on another machine",
                                target, obstacle)),
          ExitCode::noGpu);
  if (toolchain.isBare()) {
    return fail(makeError(target + " has no operating system, under which "
                                   "programs that measure run"),
                ExitCode::unsupported);
  } else if (on.empty()) {
    if (std::string obstacle = findOwnObstacle(machine, toolchain);
        !obstacle.empty())
      return fail(makeError(obstacle), ExitCode::unsupported);
  } else if (target == "native") {
    return fail(makeError("--on needs the --target that the other machine is"),
                ExitCode::usage);
  } else {
    toolchain.runOn(on);
  }
  for (const std::string &compiler :
       {toolchain.compiler, toolchain.hostCompiler})
    if (Words command = splitCommand(compiler); !command.empty())
      if (llvm::Error error = findProgram(command.front()).takeError())
        return fail(std::move(error), ExitCode::usage);
  return ExitCode::done;
}

std::string Workbench::describeChip(target::MachineAttr machine) const {
  if (!on.empty())
    return on;
  if (machine.getHost().getKind() == target::DeviceKind::gpu)
    return target::findOwnGpuName();
  return machine.getChip().empty() ? llvm::sys::getHostCPUName().str()
                                   : machine.getChip().str();
}

} // namespace nnc::tools
