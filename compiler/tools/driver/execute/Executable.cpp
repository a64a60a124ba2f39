//===- Executable.cpp - Runs a serialized model on this machine -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/execute/Executable.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/execute/Reference.h"

#include <fmt/format.h>

namespace nnc::tools {

ExitCode Executable::open(const std::string &model, const std::string &name,
                          const ModelOptions &options,
                          const std::string &compiler, int count,
                          const Executable *earlier) {
  threads = count;
  llvm::Expected<std::unique_ptr<Scratch>> temporary = makeTemporaryFolder();
  if (!temporary)
    return fail(temporary.takeError(), ExitCode::ownFault);
  folder = std::move(*temporary);
  ModelOptions own;
  own.model = folder->path() + "/" + name;
  own.shapes = options.shapes;
  own.name = name;
  own.runOn(threads);
  if (llvm::Error error = writeTextFile(own.model, model))
    return fail(std::move(error), ExitCode::ownFault);

  llvm::Expected<Toolchain> toolchain = Toolchain::find(own.target, compiler);
  if (!toolchain)
    return fail(toolchain.takeError(), ExitCode::usage);
  Words command = splitCommand(toolchain->compiler);
  llvm::Error missing =
      findProgram(command.empty() ? "" : command.front()).takeError();
  bool isEvaluated = bool(missing);
  std::string why = llvm::toString(std::move(missing));
  // A compiler that the user asks for must exist.
  if (isEvaluated && !compiler.empty())
    return fail(makeError(why), ExitCode::usage);

  DriverOptions wanted;
  wanted.keepStages = isEvaluated;
  driver = std::make_unique<Driver>(own, wanted);
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (driver.get()->*step)(); code != ExitCode::done)
      return code;
  std::string code = folder->path() + "/code";
  if (ExitCode result = driver->emit(code); result != ExitCode::done)
    return result;
  llvm::Expected<Manifest> read = readManifest(code);
  if (!read)
    return fail(read.takeError(), ExitCode::ownFault);
  manifest = std::move(*read);
  if (isEvaluated) {
    static bool isWarned = false;
    if (!std::exchange(isWarned, true))
      printWarning("the model is evaluated slowly instead of built: " + why);
    return ExitCode::done;
  }
  driver.reset();
  if (std::string obstacle = findObstacle(manifest.isa, *toolchain);
      !obstacle.empty())
    return fail(makeError(obstacle), ExitCode::unsupported);
  llvm::Expected<BuiltModule> built = BuiltModule::build(
      manifest, *toolchain, earlier ? earlier->module.get() : nullptr);
  if (!built)
    return fail(built.takeError(), ExitCode::ownFault);
  module = std::make_unique<BuiltModule>(std::move(*built));
  return ExitCode::done;
}

llvm::Expected<std::vector<Tensor>>
Executable::run(const std::vector<Tensor> &inputs,
                const std::string &step) const {
  if (!module) {
    Progress progress(step);
    return evaluateReference(driver->imported(), inputs);
  }
  RunRequest request;
  request.threads = threads;
  request.inputs = inputs;
  request.step = step;
  llvm::Expected<RunResult> result = module->run(request);
  if (!result)
    return result.takeError();
  return std::move(result->outputs);
}

int Executable::findOutput(const std::string &name) const {
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    if (manifest.outputs[i].name == name)
      return int(i);
  return -1;
}

ExitCode Executable::runEach(
    const std::vector<Sample> &samples, const std::string &title,
    llvm::function_ref<void(const std::vector<Tensor> &)> visit) const {
  Progress progress(title);
  for (size_t i = 0; i < samples.size(); ++i) {
    progress.setShare(double(i) / double(samples.size()));
    llvm::Expected<std::vector<Tensor>> results =
        run(samples[i].inputs,
            fmt::format("sample {} of {}", i + 1, samples.size()));
    if (!results)
      return fail(results.takeError(), ExitCode::ownFault);
    visit(*results);
  }
  return ExitCode::done;
}

} // namespace nnc::tools
