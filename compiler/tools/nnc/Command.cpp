//===- Command.cpp - What the commands of nnc have in common --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/Command.h"

#include "compiler/tools/driver/Process.h"
#include "compiler/tools/driver/Terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {

/// "x=1x3x48x320" into a name and sizes; the model's names may hold a '='.
static std::string parseShape(const std::string &text, ModelOptions &options) {
  auto [name, sizes] = llvm::StringRef(text).rsplit('=');
  std::vector<int64_t> shape;
  bool valid = !name.empty() && name.size() < text.size();
  if (sizes != "scalar")
    for (llvm::StringRef word : llvm::split(sizes, 'x')) {
      int64_t size = 0;
      valid = valid && !word.getAsInteger(10, size) && size >= 0;
      shape.push_back(size);
    }
  if (!valid)
    return fmt::format(
        "'{}' is not of the form INPUT=1x3x48x320 or INPUT=scalar", text);
  if (!options.shapes.emplace(name.str(), shape).second)
    return fmt::format("two shapes for input '{}'", name.str());
  return "";
}

void addModelOptions(CLI::App &app, ModelOptions &options) {
  app.add_option("MODEL", options.model, "The model: an ONNX file")->required();
  app.add_option("--target", options.target,
                 "Machine to make code for, see 'nnc targets'")
      ->type_name("T")
      ->capture_default_str();
  app.add_option(
         "--name", options.name,
         "Name of the C functions and files; from the model's file name "
         "unless given")
      ->type_name("N");
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [&options](const std::vector<std::string> &shapes) {
           for (const std::string &shape : shapes)
             if (std::string problem = parseShape(shape, options);
                 !problem.empty())
               throw CLI::ValidationError("--shape", problem);
         },
         "Shape of an input whose dimensions the model leaves open. Shapes "
         "that the model declares for outputs and values in between are errors "
         "where they contradict the computed ones, but warnings with a --shape "
         "that binds open dimensions: they may be left from other sizes")
      ->allow_extra_args(false)
      ->type_name("INPUT=1x3x48x320");
  app.add_option("--external-data", options.externalData,
                 "Folder that may hold the model's external data, beside the "
                 "model's own; links that lead out of both are refused")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option(
         "--weights", options.weights,
         "Where the weights go: into the object file by the assembler's "
         ".incbin (embed), as a C array, or a file that the caller maps")
      ->check(CLI::IsMember({"embed", "array", "file"}))
      ->type_name("embed|array|file")
      ->capture_default_str();
  app.add_option(
         "--max-error", options.maxError,
         "Most that methods which compute less (Winograd's, Strassen's) "
         "may add to the outputs by rounding, estimated, root mean "
         "square, relative; 0 for none of them")
      ->type_name("E")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--tuning", options.tuning,
                 "Costs measured by 'nnc tune', to choose routines by")
      ->type_name("FILE");
  app.add_option("--probe", options.probe,
                 "Figures of the machine measured by 'nnc target-probe', to "
                 "estimate costs by; the target's own unless given")
      ->type_name("FILE");
}

void addLayoutsOption(CLI::App &app, ModelOptions &options) {
  static const std::map<std::string, LayoutScope> scopes = {
      {"plain", LayoutScope::plain},
      {"local", LayoutScope::local},
      {"fixed", LayoutScope::fixed},
      {"global", LayoutScope::global}};
  app.add_option("--layouts", options.layouts,
                 "Layouts to choose among, to see what they are worth: "
                 "row-major order (plain), others inside each layer but not "
                 "between two (local), one size of blocks (fixed), or all; "
                 "all but the last with the same register tiles everywhere")
      ->transform(CLI::CheckedTransformer(scopes))
      ->type_name("plain|local|fixed|global")
      ->default_str("global");
}

void addPrecisionOption(CLI::App &app, ModelOptions &options) {
  static const std::map<std::string, Precision> precisions = {
      {getName(Precision::f32).str(), Precision::f32},
      {getName(Precision::f16).str(), Precision::f16}};
  app.add_option("--precision", options.precision,
                 "What layers of floats compute with and store: floats, or "
                 "halves where the target has arithmetic on them; inputs and "
                 "outputs stay floats")
      ->transform(CLI::CheckedTransformer(precisions))
      ->type_name("f32|f16")
      ->default_str("f32");
}

void allowFolder(CLI::App &app, const ModelOptions &options) {
  app.get_option("MODEL")->description(
      "The model: an ONNX file, or a folder that nnc compile wrote");
  app.parse_complete_callback([&app, &options] {
    if (!llvm::sys::fs::is_directory(options.model))
      return;
    for (const char *name :
         {"--target", "--name", "--shape", "--external-data", "--weights",
          "--max-error", "--layouts", "--precision", "--tuning", "--probe"})
      if (CLI::Option *option = app.get_option_no_throw(name);
          option && option->count())
        throw CLI::ValidationError(
            name, options.model + " is compiled already; give the model");
  });
}

static std::optional<int> parseThreads(llvm::StringRef text) {
  int count;
  if (!llvm::to_integer(text, count, 10) || count < 1 || count > 256)
    return std::nullopt;
  return count;
}

void addThreadsOption(CLI::App &app, ModelOptions &options) {
  app.add_option_function<std::string>(
         "--threads",
         [&options](const std::string &value) {
           if (value == "on")
             options.threads = ModelOptions::anyThreads;
           else
             options.runOn(parseThreads(value).value_or(1));
         },
         "Whether the code can run on several threads; with a number, on so "
         "many, and its arena has no room for more")
      ->check([](const std::string &value) -> std::string {
        if (value == "on" || value == "off" || parseThreads(value))
          return "";
        return value + " is not on, off or a number from 1 to 256";
      })
      ->type_name("on|off|N")
      ->default_str("off");
}

void addThreadCountOption(CLI::App &app, int &threads) {
  app.add_option("--threads", threads, "Number of threads to run on")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void addCompilerOption(CLI::App &app, std::string &compiler) {
  app.add_option("--compiler", compiler,
                 "C++ compiler to build with; the target's unless given (for "
                 "this machine $CXX, else c++)")
      ->type_name("CXX");
}

void addPlaceOption(CLI::App &app, std::string &on) {
  app.add_option("--on", on,
                 "Another machine to measure on: one that ssh reaches, or a "
                 "command that is given a program and its arguments")
      ->type_name("ssh:HOST|COMMAND");
}

void addJsonOption(CLI::App &app, bool &json) {
  app.add_flag("--json", json, "Print the result as JSON");
}

ExitCode fail(llvm::Error error, ExitCode code) {
  printError(llvm::toString(std::move(error)));
  return code;
}

void printJson(llvm::json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", value);
  fmt::print("{}\n", text);
}

/// Why this machine cannot measure, or nothing.
static std::string findOwnObstacle(target::MachineAttr machine,
                                   const Toolchain &toolchain) {
  std::vector<std::string> needs;
  for (auto one : machine.getFeatures().getAsValueRange<mlir::StringAttr>())
    needs.push_back(one.str());
  if (toolchain.emulator.empty())
    return findObstacle(needs, toolchain);
  return fmt::format("code for {} runs in an emulator here, whose times say "
                     "nothing of a real machine; give --on=ssh:HOST",
                     toolchain.target);
}

ExitCode Workbench::findTools(target::MachineAttr machine,
                              Toolchain &toolchain) const {
  llvm::Expected<Toolchain> found = Toolchain::find(target, compiler);
  if (!found)
    return fail(found.takeError(), ExitCode::usage);
  toolchain = std::move(*found);
  if (on.empty()) {
    if (std::string obstacle = findOwnObstacle(machine, toolchain);
        !obstacle.empty())
      return fail(makeError(obstacle), ExitCode::unsupported);
  } else if (target == "native") {
    return fail(makeError("--on needs the --target that the other machine is"),
                ExitCode::usage);
  } else {
    toolchain.runOn(on);
  }
  if (llvm::Error error =
          findProgram(splitCommand(toolchain.compiler).front()).takeError())
    return fail(std::move(error), ExitCode::usage);
  return ExitCode::done;
}

std::string Workbench::describeChip(target::MachineAttr machine) const {
  if (!on.empty())
    return on;
  return machine.getChip().empty() ? llvm::sys::getHostCPUName().str()
                                   : machine.getChip().str();
}

ExitCode Prepared::open(const ModelOptions &options, DriverOptions wanted) {
  std::string where = options.model;
  if (!llvm::sys::fs::is_directory(where)) {
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

ExitCode Prepared::build(const std::string &compiler, int threads) {
  if (threads > 1 && !manifest.threads)
    return fail(makeError(manifest.folder + " was compiled without threads; "
                                            "compile it with --threads=on"),
                ExitCode::usage);
  llvm::Expected<Toolchain> found = Toolchain::find(manifest.target, compiler);
  if (!found)
    return fail(found.takeError(), ExitCode::usage);
  toolchain = std::move(*found);
  if (std::string obstacle = findObstacle(manifest.isa, toolchain);
      !obstacle.empty())
    return fail(makeError(obstacle), ExitCode::unsupported);
  for (const Words &command :
       {splitCommand(toolchain.compiler), toolchain.emulator})
    if (!command.empty())
      if (llvm::Error error = findProgram(command.front()).takeError())
        return fail(std::move(error), ExitCode::usage);
  llvm::Expected<BuiltModule> built = BuiltModule::build(manifest, toolchain);
  if (!built)
    return fail(built.takeError(), ExitCode::ownFault);
  module = std::make_unique<BuiltModule>(std::move(*built));
  return ExitCode::done;
}

ExitCode readInputs(const std::vector<std::string> &arguments,
                    const Manifest &manifest, std::vector<Tensor> &inputs) {
  std::vector<bool> given(manifest.inputs.size());
  inputs.resize(manifest.inputs.size());
  for (const std::string &argument : arguments) {
    auto [name, file] = llvm::StringRef(argument).rsplit('=');
    if (file.empty())
      std::swap(name, file); // a file for the only input
    llvm::Expected<size_t> port = findPort(manifest.inputs, name, "input");
    if (!port)
      return fail(port.takeError(), ExitCode::usage);
    if (given[*port])
      return fail(
          makeError(fmt::format("two files for input '{}'",
                                displayText(manifest.inputs[*port].name))),
          ExitCode::usage);
    given[*port] = true;
    llvm::Expected<Tensor> tensor = readNpy(file.str());
    if (!tensor)
      return fail(tensor.takeError(), ExitCode::usage);
    const Port &wanted = manifest.inputs[*port];
    if (llvm::Error error =
            checkTensor(*tensor, wanted.dtype, wanted.shape,
                        fmt::format("{} for input '{}'", file.str(),
                                    displayText(wanted.name))))
      return fail(std::move(error), ExitCode::usage);
    inputs[*port] = std::move(*tensor);
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      return fail(makeError(fmt::format("no data for input '{0}'; give --input "
                                        "{0}=FILE.npy with {1} of {2}",
                                        displayText(manifest.inputs[i].name),
                                        shapeText(manifest.inputs[i].shape),
                                        dtypeName(manifest.inputs[i].dtype))),
                  ExitCode::usage);
  return ExitCode::done;
}

} // namespace nnc::tools
