//===- Check.cpp - nnc check ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Process.h"
#include "compiler/tools/driver/Quantized.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"

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
    app.add_flag("--no-build", noBuild,
                 "Give the size of the source instead of building it");
    addCompilerOption(app, compiler);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    Prepared prepared;
    if (llvm::sys::fs::is_directory(options.model))
      return fail(makeError(options.model + " is a folder; give a model"),
                  ExitCode::usage);
    if (ExitCode code = prepared.open(options, {/*keepStages=*/true});
        code != ExitCode::done)
      return code;
    llvm::Expected<CodeSize> size = measure(prepared.manifest);
    if (!size)
      return fail(size.takeError(), ExitCode::ownFault);
    quantized = reportQuantized(prepared.driver->formed());
    report(prepared.manifest, *size);
    return ExitCode::done;
  }

private:
  llvm::Expected<CodeSize> measure(const Manifest &manifest) const {
    CodeSize size;
    std::string source = manifest.folder + "/" + manifest.name + ".cpp";
    if (!noBuild) {
      Progress progress("building, to know the size of the code");
      llvm::Expected<Toolchain> toolchain =
          Toolchain::find(manifest.target, compiler);
      if (!toolchain)
        return toolchain.takeError();
      Words command = splitCommand(toolchain->compiler);
      auto program = findProgram(command.empty() ? "" : command.front());
      if (program) {
        auto objects = buildModule(manifest, *toolchain, manifest.folder,
                                   /*hooks=*/false);
        if (!objects)
          return makeError("the emitted code does not build, which is a fault "
                           "of nnc or of the compiler; please report it: " +
                           firstMessage(llvm::toString(objects.takeError())));
        llvm::Expected<int64_t> bytes = codeBytes(source + ".o");
        if (!bytes)
          return bytes.takeError();
        Words command = toolchain->moduleCommand();
        command.insert(command.end(), toolchain->flags.begin(),
                       toolchain->flags.end());
        return CodeSize{*bytes, fmt::format("{}", fmt::join(command, " "))};
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

  void report(const Manifest &m, const CodeSize &size) const {
    if (json) {
      json::Object said{{"name", m.name},
                        {"target", m.target},
                        {"layers", int64_t(m.layers.size())},
                        {"arena_bytes", m.arenaBytes},
                        {"lower_bound_bytes", m.lowerBound},
                        {"weight_bytes", m.weightBytes},
                        {"multiply_adds", m.multiplyAdds()}};
      said[size.built() ? "code_bytes" : "source_bytes"] = size.bytes;
      if (size.built())
        said["compiler"] = size.command;
      if (quantized.isQuantized)
        said["quantized"] = quantized.toJson();
      printJson(std::move(said));
      return;
    }
    printOut("{}: nothing wrong, for {}\n", options.model, m.target);
    for (const auto *ports : {&m.inputs, &m.outputs})
      for (const Port &port : *ports)
        printOut("  {:<14} {}: {} of {}\n",
                 ports == &m.inputs ? "input" : "output",
                 displayText(port.name), shapeText(port.shape),
                 dtypeName(port.dtype));
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
    line("weights", fmt::format("{} ({} bytes)", formatBytes(m.weightBytes),
                                m.weightBytes));
    std::string bytes =
        fmt::format("{} ({} bytes)", formatBytes(size.bytes), size.bytes);
    if (size.built())
      line("code", fmt::format("{}, of {}", bytes, size.command));
    else
      line("source", bytes);
    if (quantized.isQuantized)
      quantized.print();
  }

  ModelOptions options;
  QuantizedReport quantized;
  std::string compiler;
  bool noBuild = false, json = false;
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace nnc::tools
