//===- Check.cpp - nnc check ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

/// How much code a module is: that of its object file if a compiler for the
/// target is there, else that of its source.
struct CodeSize {
  int64_t bytes = 0;
  bool built = false;
};

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
    ExitCode code = prepared.open(options, {/*quiet=*/json, false});
    if (code != ExitCode::done) {
      if (json)
        printJson(json::Object{
            {"ok", false},
            {"exit_code", int(code)},
            {"problems", prepared.driver->diagnostics().toJson()}});
      return code;
    }
    llvm::Expected<CodeSize> size = measure(prepared.manifest);
    if (!size)
      return fail(size.takeError(), ExitCode::ownFault);
    report(prepared, *size);
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
      auto objects = buildModule(manifest, *toolchain, manifest.folder,
                                 /*hooks=*/false);
      if (!objects) {
        printWarning("the code does not build here, its source's size is given "
                     "instead: " +
                     llvm::toString(objects.takeError()));
      } else {
        llvm::Expected<int64_t> bytes = codeBytes(source + ".o");
        if (!bytes)
          return bytes.takeError();
        return CodeSize{*bytes, true};
      }
    }
    uint64_t bytes = 0;
    if (std::error_code code = llvm::sys::fs::file_size(source, bytes))
      return makeError(source + ": " + code.message());
    size.bytes = int64_t(bytes);
    return size;
  }

  void report(const Prepared &prepared, const CodeSize &size) const {
    const Manifest &m = prepared.manifest;
    if (json) {
      printJson(
          json::Object{{"ok", true},
                       {"exit_code", 0},
                       {"problems", prepared.driver->diagnostics().toJson()},
                       {"name", m.name},
                       {"target", m.target},
                       {"layers", int64_t(m.layers.size())},
                       {"arena_bytes", m.arenaBytes},
                       {"lower_bound_bytes", m.lowerBound},
                       {"weight_bytes", m.weightBytes},
                       {size.built ? "code_bytes" : "source_bytes", size.bytes},
                       {"multiply_adds", m.multiplyAdds()}});
      return;
    }
    fmt::print("{}: nothing wrong, for {}\n", options.model, m.target);
    for (const auto *ports : {&m.inputs, &m.outputs})
      for (const Port &port : *ports)
        fmt::print("  {:<14} {}: {} of {}\n",
                   ports == &m.inputs ? "input" : "output",
                   displayText(port.name), shapeText(port.shape),
                   dtypeName(port.dtype));
    double over = m.lowerBound > 0
                      ? 100.0 * (m.arenaBytes - m.lowerBound) / m.lowerBound
                      : 0;
    auto line = [](const char *what, std::string value) {
      fmt::print("  {:<14} {}\n", what, value);
    };
    line("layers", fmt::format("{}", m.layers.size()));
    line("multiply-adds", formatCount(double(m.multiplyAdds())));
    line("arena", fmt::format("{} ({} bytes, {:.1f} % over the lower bound)",
                              formatBytes(m.arenaBytes), m.arenaBytes, over));
    line("weights", fmt::format("{} ({} bytes)", formatBytes(m.weightBytes),
                                m.weightBytes));
    line(size.built ? "code" : "source",
         fmt::format("{} ({} bytes)", formatBytes(size.bytes), size.bytes));
  }

  ModelOptions options;
  std::string compiler;
  bool noBuild = false, json = false;
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace nnc::tools
