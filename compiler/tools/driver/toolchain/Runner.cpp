//===- Runner.cpp - Runs a built module on tensors ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/Runner.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <fmt/format.h>

namespace fs = llvm::sys::fs;

namespace nnc::tools {

BuiltModule::BuiltModule(Manifest manifest, Toolchain toolchain,
                         std::unique_ptr<Scratch> folder, std::string program)
    : description(std::move(manifest)), toolchain(std::move(toolchain)),
      folder(std::move(folder)), program(std::move(program)) {}

/// Copies the object files of the runner. Those that cannot be copied are built
/// again later.
static void copyRunner(const std::string &from, const std::string &to) {
  fs::create_directory(to + "/runner");
  for (const std::string &file : listFolder(from + "/runner"))
    if (llvm::StringRef name = llvm::sys::path::filename(file);
        name.ends_with(".o"))
      if (fs::copy_file(file, to + "/runner/" + name.str()))
        fs::remove(to + "/runner/" + name.str());
}

llvm::Expected<BuiltModule> BuiltModule::build(const Manifest &manifest,
                                               const Toolchain &toolchain,
                                               const BuiltModule *earlier) {
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return folder.takeError();
  if (earlier)
    copyRunner(earlier->folder->path(), (*folder)->path());
  Progress progress("building with " + toolchain.compiler);
  llvm::Expected<std::vector<std::string>> programs =
      buildRunners(manifest, toolchain, (*folder)->path());
  if (!programs)
    return programs.takeError();
  return BuiltModule(manifest, toolchain, std::move(*folder),
                     std::move(programs->front()));
}

/// Parses the output of the runner into `result`. Each line consists of a word
/// and its values.
static void parse(llvm::StringRef text, RunResult &result) {
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    llvm::SmallVector<llvm::StringRef, 5> words;
    line.split(words, ' ');
    double value;
    GpuFigures &gpu = result.gpu;
    if (words[0] == "gpu_name")
      gpu.name = line.drop_front(words[0].size()).trim().str();
    if (words.size() < 2 || words.back().getAsDouble(value))
      continue;
    if (words[0] == "run")
      result.runCosts.push_back(value);
    else if (words[0] == "layer") // printed in order
      result.layerCosts.push_back(value);
    else if (words[0] == "peak")
      result.peak = value;
    else if (words[0] == "resident")
      result.residentBytes = int64_t(value);
    else if (words[0] == "stack")
      result.stackBytes = int64_t(value);
    else if (words[0] == "gpu_architecture")
      gpu.architecture = int64_t(value);
    else if (words[0] == "gpu_multiprocessors")
      gpu.multiprocessors = int64_t(value);
    else if (words[0] == "gpu_hz")
      gpu.clock = value;
    else if (words[0] == "gpu_driver")
      gpu.driver = int64_t(value);
    else if (words[0] == "gpu_bytes")
      gpu.bytes = int64_t(value);
    else if (words[0] == "launches")
      gpu.launches = int64_t(value);
    else if (words[0] == "copies")
      gpu.copies = int64_t(value);
  }
}

llvm::Expected<Words>
BuiltModule::writeInputs(const RunRequest &request,
                         const std::string &folder) const {
  Words names;
  auto write = [&](std::string name, llvm::StringRef data) {
    names.push_back(name);
    return writeTextFile(folder + "/" + name, data);
  };
  for (auto [i, input] : llvm::enumerate(request.inputs))
    if (llvm::Error error = write(fmt::format("input{}.bin", i),
                                  {input.data.data(), input.data.size()}))
      return error;
  return names;
}

llvm::Error BuiltModule::keep(const RunRequest &request,
                              const std::string &to) const {
  llvm::Expected<std::unique_ptr<Scratch>> scratch = makeStagingFolder(to);
  if (!scratch)
    return scratch.takeError();
  std::string staging = (*scratch)->path() + "/kept";
  if (std::error_code code = fs::create_directory(staging))
    return makeError(
        fmt::format("cannot make {}: {}", staging, code.message()));
  llvm::Expected<Words> files = writeInputs(request, staging);
  if (!files)
    return files.takeError();
  auto copy = [&](const std::string &from, std::string name) {
    files->push_back(name);
    std::error_code code = fs::copy_file(from, staging + "/" + name);
    return code ? makeError(fmt::format("cannot copy {} to {}: {}", from, to,
                                        code.message()))
                : llvm::Error::success();
  };
  if (description.weights == "file")
    if (llvm::Error error = copy(weightsFile(), "weights.bin"))
      return error;
  std::string arguments;
  for (const std::string &file : *files)
    arguments += " --input=" + file;
  for (const Port &port : description.outputs)
    arguments += fmt::format(" --output=:{}", port.bytes());
  if (llvm::Error error = copy(program, "program"))
    return error;
  files->push_back("run");
  files->push_back("manifest.json");
  std::string script = fmt::format(
      "#!/bin/sh\n# Times {}: see run --help.\ncd \"$(dirname \"$0\")\" && "
      "exec ./program{} \"$@\"\n",
      description.name, arguments);
  std::string manifest =
      fmt::format("{{\"files\": [\"{}\"]}}\n", llvm::join(*files, "\", \""));
  for (auto [name, text] :
       {std::pair("run", script), std::pair("manifest.json", manifest)})
    if (llvm::Error error = writeTextFile(staging + "/" + name, text))
      return error;
  for (const char *name : {"run", "program"})
    if (std::error_code code = fs::setPermissions(
            staging + "/" + name,
            fs::perms::all_read | fs::perms::owner_write | fs::perms::all_exe))
      return makeError(fmt::format("cannot make {}/{} executable: {}", to, name,
                                   code.message()));
  return publish(staging, to);
}

llvm::Expected<RunResult> BuiltModule::run(const RunRequest &request) const {
  Words command;
  std::string base = folder->path() + "/";
  llvm::Expected<Words> inputs = writeInputs(request, folder->path());
  if (!inputs)
    return inputs.takeError();
  if (request.steps > 1)
    command.push_back(fmt::format("--steps={}", request.steps));
  for (const std::string &name : *inputs)
    command.push_back("--input=" + base + name);
  if (description.weights == "file")
    command.push_back("--fixed=" + weightsFile());
  else if (inputs->empty() &&
           !(description.isCuda() && description.weightBytes > 0))
    command.push_back("--zeros=0"); // the struct has a field in any case
  for (int64_t size : request.sizes)
    command.push_back(fmt::format("--size={}", size));
  std::vector<Port> outputs = description.atSizes(request.sizes).outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    command.push_back(
        fmt::format("--output={}output{}.bin:{}", base, i, outputs[i].bytes()));
  RunResult result;
  if (request.keepLayers) {
    result.layersFile = base + "layers.bin";
    command.push_back("--layers=" + result.layersFile);
  }
  if (toolchain.isBare()) {
    // One run is enough, as each run executes the same instructions.
    if (request.timedRuns > 0 || request.seconds > 0)
      command.push_back(
          fmt::format("--runs={}", std::max(request.timedRuns, 1)));
    std::string file = base + "arguments";
    if (llvm::Error error =
            writeTextFile(file, llvm::join(command, "\n") + "\n"))
      return error;
    return finish(firmwareCommand(toolchain, program, file), request, result);
  }
  command.push_back(fmt::format("--threads={}", request.threads));
  if (request.timedRuns > 0 || request.seconds > 0) {
    bool limited = request.timedRuns > 0;
    command.push_back(
        fmt::format("--runs={}", limited ? request.timedRuns : 1000));
    command.push_back(
        fmt::format("--seconds={}", limited ? 1e9 : request.seconds));
  }
  if (request.measurePeak)
    command.push_back("--peak");
  if (request.pin)
    command.push_back("--pin");
  Words whole = toolchain.emulator;
  whole.push_back(program);
  whole.insert(whole.end(), command.begin(), command.end());
  return finish(whole, request, result);
}

void BuiltModule::cutToFoundSizes(const RunRequest &request,
                                  RunResult &result) const {
  std::vector<int64_t> point = request.sizes;
  for (const SizeInfo &size :
       llvm::ArrayRef(description.sizes).drop_front(point.size())) {
    point.push_back(size.high);
    for (auto [port, output] : llvm::zip(description.outputs, result.outputs)) {
      int32_t value;
      if (port.size != size.name || output.data.size() != sizeof value)
        continue;
      std::memcpy(&value, output.data.data(), sizeof value);
      point.back() = std::clamp<int64_t>(value, size.low, size.high);
    }
  }
  const Manifest known = description.atSizes(point);
  for (auto [port, output] : llvm::zip(known.outputs, result.outputs)) {
    output.shape = port.shape;
    output.data.resize(port.bytes());
  }
}

llvm::Expected<RunResult> BuiltModule::finish(const Words &command,
                                              const RunRequest &request,
                                              RunResult result) const {
  std::string base = folder->path() + "/";
  Progress progress(request.step.empty() ? "running " + description.name
                                         : request.step);
  llvm::Expected<std::string> printed = runRunner(command, base + "run");
  if (!printed)
    return printed.takeError();
  parse(*printed, result);
  std::vector<Port> outputs = description.atSizes(request.sizes).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port &port = outputs[i];
    Tensor output{port.dtype, port.shape, {}};
    if (request.steps > 1)
      output.shape.insert(output.shape.begin(), request.steps);
    llvm::Expected<std::string> bytes =
        readTextFile(fmt::format("{}output{}.bin", base, i));
    if (!bytes)
      return bytes.takeError();
    output.data.assign(bytes->begin(), bytes->end());
    if (int64_t(bytes->size()) != port.bytes() * request.steps)
      return makeError(fmt::format("the program wrote {} bytes of output '{}'",
                                   bytes->size(), port.name));
    result.outputs.push_back(std::move(output));
  }
  if (description.callersSizes().size() < description.sizes.size())
    cutToFoundSizes(request, result);
  return result;
}

llvm::Error
readLayers(const std::string &file,
           llvm::function_ref<bool(const LayerOutput &)> untilFalse) {
  llvm::Expected<std::string> bytes = readTextFile(file);
  if (!bytes)
    return bytes.takeError();
  llvm::StringRef rest = *bytes;
  int64_t header[2];
  while (rest.size() >= sizeof header) {
    std::memcpy(header, rest.data(), sizeof header);
    rest = rest.drop_front(sizeof header);
    if (header[1] < 0 || uint64_t(header[1]) > rest.size())
      return makeError(file + " ends within a layer");
    llvm::StringRef data = rest.take_front(header[1]);
    rest = rest.drop_front(header[1]);
    if (!untilFalse({header[0], {data.begin(), data.end()}}))
      break;
  }
  return llvm::Error::success();
}

} // namespace nnc::tools
