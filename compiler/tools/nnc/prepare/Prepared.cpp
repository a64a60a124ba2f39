//===- Prepared.cpp - A model that a command compiles, builds and runs ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/prepare/Prepared.h"

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"

#include "dialects/target/OwnGpu.h"
#include "frontends/Registry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>

namespace nnc::tools {

ExitCode Prepared::open(const ModelOptions &options, DriverOptions wanted) {
  std::string where = options.model;
  if (!llvm::sys::fs::is_directory(where) || frontends::isModelFolder(where)) {
    driver = std::make_unique<Driver>(options, wanted);
    for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
      if (ExitCode code = (driver.get()->*step)(); code != ExitCode::done)
        return code;
    llvm::Expected<std::unique_ptr<Scratch>> temporary = makeTemporaryFolder();
    if (!temporary)
      return fail(temporary.takeError(), ExitCode::ownFault);
    folder = std::move(*temporary);
    where = folder->path() + "/code";
    if (ExitCode code = driver->emit(where); code != ExitCode::done)
      return code;
  }
  llvm::Expected<Manifest> read = readManifest(where);
  if (!read)
    return fail(read.takeError(), ExitCode::usage);
  manifest = std::move(*read);
  return ExitCode::done;
}

void Prepared::chooseFunction(const std::vector<std::string> &arguments) {
  std::vector<Manifest> functions = manifest.split();
  auto fits = [&](const Manifest &function) {
    return llvm::all_of(arguments, [&](const std::string &argument) {
      auto [name, file] = llvm::StringRef(argument).rsplit('=');
      if (file.empty())
        std::swap(name, file);
      auto port = findPort(function.inputs, name, "input");
      auto tensor = readNpy(file.str());
      bool isFit =
          port && tensor && function.inputs[*port].shape == tensor->shape;
      // Mistakes in the arguments are reported once a function is chosen.
      llvm::consumeError(port.takeError());
      llvm::consumeError(tensor.takeError());
      return isFit;
    });
  };
  auto found = llvm::find_if(functions, fits);
  manifest = found == functions.end() ? functions.front() : *found;
}

/// Returns an error that says why this machine cannot run a module for GPUs.
static llvm::Error makeNoGpuError(const std::string &target,
                                  const std::string &obstacle) {
  return makeError(fmt::format(
      "code for {} needs a GPU that runs it: {}. nnc run --emulate and nnc "
      "verify --emulate let the CPU emulate one, and nnc bench --keep=DIR "
      "builds a program for a machine with one",
      target, obstacle));
}

ExitCode Prepared::build(const std::string &compiler, int threads, Gpu gpu) {
  const bool emulate = gpu == Gpu::emulated;
  if (threads > 1 && !manifest.threads)
    return fail(makeError(manifest.folder + " was compiled without threads; "
                                            "compile it with --threads=on"),
                ExitCode::usage);
  llvm::Expected<Toolchain> found = Toolchain::find(manifest.target, compiler);
  if (!found)
    return fail(found.takeError(), ExitCode::usage);
  toolchain = std::move(*found);
  toolchain.callsHooks = callsHooks;
  if (emulate && !manifest.isCuda())
    return fail(makeError("--emulate is for targets that are GPUs, and " +
                          manifest.target + " is none; leave it out"),
                ExitCode::usage);
  if (manifest.isCuda() && gpu == Gpu::own)
    if (std::string obstacle = target::findGpuObstacle(manifest.architectures);
        !obstacle.empty())
      return fail(makeNoGpuError(manifest.target, obstacle), ExitCode::noGpu);
  if (emulate)
    toolchain.emulateGpu(compiler);
  else if (manifest.isCuda())
    toolchain.useGpu();
  toolchain.level = getLevel(manifest.optimize);
  if (std::string obstacle = findObstacle(manifest.isa, toolchain);
      !obstacle.empty())
    return fail(makeError(obstacle), ExitCode::unsupported);
  for (const Words &command :
       {splitCommand(toolchain.compiler), splitCommand(toolchain.hostCompiler),
        toolchain.emulator,
        toolchain.isBare() ? splitCommand(toolchain.linker) : Words()})
    if (!command.empty())
      if (llvm::Error error = findProgram(command.front()).takeError())
        return fail(std::move(error), ExitCode::usage);
  llvm::Expected<BuiltModule> built = BuiltModule::build(manifest, toolchain);
  // The cause is most likely custom functions that do not compile or link.
  if (!built)
    return fail(built.takeError(),
                manifest.hasCustoms() ? ExitCode::usage : ExitCode::ownFault);
  module = std::make_unique<BuiltModule>(std::move(*built));
  return ExitCode::done;
}

/// Reads the tensor for an input from an argument such as NAME=FILE.npy. A
/// tensor with an additional first axis holds the input of several runs of a
/// model with state.
static llvm::Error readInput(const std::string &argument,
                             const Manifest &manifest, std::vector<bool> &given,
                             RunRequest &request) {
  auto [name, file] = llvm::StringRef(argument).rsplit('=');
  if (file.empty())
    std::swap(name, file); // the argument is a file for the only input
  llvm::Expected<size_t> port = findPort(manifest.inputs, name, "input");
  if (!port)
    return port.takeError();
  const Port &wanted = manifest.inputs[*port];
  if (given[*port])
    return makeError(
        fmt::format("two files for input '{}'", displayText(wanted.name)));
  given[*port] = true;
  llvm::Expected<Tensor> tensor = readNpy(file.str());
  if (!tensor)
    return tensor.takeError();
  std::string what =
      fmt::format("{} for input '{}'", file.str(), displayText(wanted.name));
  std::vector<int64_t> shape = wanted.shape;
  int64_t steps = 1;
  if (!manifest.state.empty() && tensor->shape.size() == shape.size() + 1) {
    steps = tensor->shape.front();
    shape.insert(shape.begin(), steps);
  }
  bool isFirst = llvm::count(given, true) == 1;
  if (steps < 1 || (!isFirst && steps != request.steps))
    return makeError(
        fmt::format("{} has data of {} runs; {}", what, steps,
                    isFirst ? std::string("give one at least")
                            : fmt::format("others have {}", request.steps)));
  request.steps = steps;
  request.inputs[*port] = std::move(*tensor);
  return checkTensor(request.inputs[*port], wanted.dtype, shape, what);
}

/// Finds the sizes of a run from the shapes of the inputs' files.
static llvm::Error findSizes(const std::vector<std::string> &arguments,
                             const Manifest &manifest, RunRequest &request) {
  std::vector<Tensor> inputs(manifest.inputs.size());
  for (const std::string &argument : arguments) {
    auto [name, file] = llvm::StringRef(argument).rsplit('=');
    if (file.empty())
      std::swap(name, file);
    llvm::Expected<size_t> port = findPort(manifest.inputs, name, "input");
    if (!port)
      return port.takeError();
    llvm::Expected<Tensor> tensor = readNpy(file.str());
    if (!tensor)
      return tensor.takeError();
    inputs[*port] = std::move(*tensor);
  }
  llvm::Expected<std::vector<int64_t>> sizes = manifest.findSizes(inputs);
  if (!sizes)
    return sizes.takeError();
  request.sizes = std::move(*sizes);
  return llvm::Error::success();
}

ExitCode readInputs(const std::vector<std::string> &arguments,
                    const Manifest &described, RunRequest &request) {
  if (!described.sizes.empty())
    if (llvm::Error error = findSizes(arguments, described, request))
      return fail(std::move(error), ExitCode::usage);
  const Manifest manifest = described.atSizes(request.sizes);
  ExitCode worst = ExitCode::done;
  std::vector<bool> given(manifest.inputs.size());
  request.inputs.resize(manifest.inputs.size());
  for (const std::string &argument : arguments)
    if (llvm::Error error = readInput(argument, manifest, given, request))
      worst = std::max(worst, fail(std::move(error), ExitCode::usage));
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      worst = std::max(
          worst,
          fail(makeError(fmt::format("no data for input '{0}'; give --input "
                                     "{0}=FILE.npy with {1} of {2}",
                                     displayText(manifest.inputs[i].name),
                                     shapeText(manifest.inputs[i].shape),
                                     dtypeName(manifest.inputs[i].dtype))),
               ExitCode::usage));
  return worst;
}

} // namespace nnc::tools
