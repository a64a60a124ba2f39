//===- Compile.cpp - nnc compile ------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/Depfile.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/figures/Fit.h"
#include "compiler/tools/nnc/figures/FlashLimit.h"
#include "compiler/tools/nnc/figures/WeightsAdvice.h"
#include "compiler/tools/nnc/options/Options.h"

#include "dialects/exec/Identifiers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

class Compile : public Command {
public:
  void addOptions(CLI::App &app) override {
    addModelOptions(app, options);
    addRamOption(app, options);
    addFlashOption(app, maxFlash);
    addBatchOptions(app, options);
    addClockOption(app, options);
    addLayoutsOption(app, options);
    addPrecisionOption(app, options);
    addOptimizeOption(app, options);
    addThreadsOption(app, options);
    addPackageOption(app, options);
    app.add_option("-o,--output", folder, "Folder for the code")
        ->type_name("DIR")
        ->required();
    app.add_flag("--library", options.library,
                 "Also builds a shared library, with the target's compiler");
    app.add_flag("--print-pipeline", printsPipeline,
                 "Also prints the command line of nnc-opt that makes the same "
                 "program of the module that --save-imported writes, for work "
                 "on nnc itself");
    app.add_option("--save-imported", imported,
                   "File for the module that the passes of --print-pipeline "
                   "start from: the model as it is imported, once for each "
                   "shape and for samples of sizes that vary")
        ->type_name("FILE.mlir");
    addCompilerOption(app, compiler);
    app.add_option("--depfile", depfile,
                   "File for a rule of make that lists what the code was made "
                   "from: the model, its external data, and the files that "
                   "options name")
        ->type_name("FILE");
    addJsonOption(app, json);
  }

  ExitCode run() override {
    // The folder is checked first, so that nobody waits a minute for code that
    // cannot be written.
    if (llvm::Error error = checkOutputFolder(folder))
      return fail(std::move(error), ExitCode::usage);
    if (!options.library && !maxFlash && !compiler.empty())
      return fail(makeError("--compiler builds a library, or code for its "
                            "size; add --library or --max-flash"),
                  ExitCode::usage);
    Toolchain toolchain;
    if (options.library)
      if (ExitCode code = findTools(toolchain); code != ExitCode::done)
        return code;
    DriverOptions wanted;
    wanted.takesRanges = wanted.takesBounds = wanted.takesSeveral = true;
    if (maxFlash)
      if (ExitCode code = keepWithinFlash(wanted); code != ExitCode::done)
        return code;
    wanted.keepsImport = !imported.empty();
    Driver driver(options, wanted);
    for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
      if (ExitCode code = (driver.*step)(); code != ExitCode::done)
        return code;
    if (!imported.empty())
      if (llvm::Error error =
              replaceTextFile(imported, driver.passes().spellImport()))
        return fail(std::move(error), ExitCode::usage);
    if (printsPipeline) {
      llvm::Expected<std::string> line =
          driver.passes().spell(driver.options());
      if (!line)
        return fail(line.takeError(), ExitCode::usage);
      pipeline = *line;
    }
    llvm::Expected<std::unique_ptr<Scratch>> staging =
        makeStagingFolder(folder);
    if (!staging)
      return fail(staging.takeError(), ExitCode::usage);
    std::string code = (*staging)->path() + "/code";
    if (ExitCode status = driver.emit(code); status != ExitCode::done)
      return status;
    if (options.library)
      if (ExitCode status = addLibrary(code, toolchain);
          status != ExitCode::done)
        return status;
    if (llvm::Error error = publish(code, folder))
      return fail(std::move(error), ExitCode::usage);
    warnOfName();
    llvm::Expected<Manifest> manifest = readManifest(folder);
    if (!manifest)
      return fail(manifest.takeError(), ExitCode::ownFault);
    // This file is written last, so that make runs nnc again if it could not be
    // written.
    if (!depfile.empty())
      if (llvm::Error error = replaceTextFile(
              depfile, printDepfile(*manifest, driver.findSources())))
        return fail(std::move(error), ExitCode::usage);
    integers = driver.describeQuantization();
    return summarise(*manifest,
                     describeHalfConstants(driver.module(), options));
  }

private:
  /// Finds the number of bytes that the code leaves for weights. Reports an
  /// error if the model takes more than --max-flash.
  ExitCode keepWithinFlash(const DriverOptions &wanted) {
    FlashLimit flash(options, wanted, compiler, *maxFlash);
    if (ExitCode code = flash.find(); code != ExitCode::done)
      return code;
    options = flash.getOptions();
    MeasuredModule &module = flash.getModule();
    code = std::move(module.code);
    if (flash.fits())
      return ExitCode::done;
    Fit::find(module.prepared.manifest, code, maxFlash)
        .flash->reportExcess(
            options.model,
            options.optimize == Optimize::size
                ? "; prune weights or let them share values (nnc compress), or "
                  "quantize the model"
                : "; try --optimize=size, prune weights or let them share "
                  "values (nnc compress), or quantize the model");
    return ExitCode::limit;
  }

  /// Finds the tools that build a shared library for the target.
  ExitCode findTools(Toolchain &toolchain) const {
    llvm::Expected<Toolchain> found = Toolchain::find(options.target, compiler);
    if (!found)
      return fail(found.takeError(), ExitCode::usage);
    toolchain = std::move(*found);
    toolchain.level = options.getLevel();
    if (toolchain.isBare())
      return fail(makeError(fmt::format("--library: {} has no operating system "
                                        "that loads libraries; leave it out",
                                        options.target)),
                  ExitCode::usage);
    if (llvm::Error error =
            findProgram(splitCommand(toolchain.compiler).front()).takeError())
      return fail(std::move(error), ExitCode::usage);
    return ExitCode::done;
  }

  /// Builds the shared library of the code in the folder `code`.
  ExitCode addLibrary(const std::string &code,
                      const Toolchain &toolchain) const {
    llvm::Expected<Manifest> manifest = readManifest(code);
    if (!manifest)
      return fail(manifest.takeError(), ExitCode::ownFault);
    Progress progress("building with " + toolchain.compiler);
    if (llvm::Error error = buildLibrary(*manifest, toolchain))
      return fail(std::move(error), ExitCode::ownFault);
    return ExitCode::done;
  }

  /// Warns if the module's name, which is derived from the file's name, is not
  /// the one that a user expects.
  void warnOfName() const {
    // The name of a folder may end in a slash.
    std::string stem =
        llvm::sys::path::stem(llvm::StringRef(options.model).rtrim('/')).str();
    std::string problem = exec::findModuleNameProblem(stem);
    // File names often have other characters between their words. These need no
    // warning.
    bool isPlain = exec::toCWords(stem) == exec::makeModuleName(stem) &&
                   llvm::isASCII(stem);
    if (options.name.empty() && !problem.empty() && !isPlain)
      printWarning(fmt::format("C cannot have the name of {}: '{}' {}; what is "
                               "written is called '{}', --name=N calls it "
                               "otherwise",
                               options.model, stem, problem,
                               exec::makeModuleName(stem)));
  }

  ExitCode summarise(const Manifest &manifest,
                     const std::string &halves) const {
    if (json) {
      llvm::json::Object said{{"folder", folder},
                              {"name", manifest.name},
                              {"target", manifest.target},
                              {"layers", int64_t(manifest.layers.size())},
                              {"arena_bytes", manifest.arenaBytes},
                              {"weight_bytes", manifest.weightBytes},
                              {"multiply_adds", manifest.multiplyAdds()}};
      llvm::json::Array others;
      for (const Manifest &other : manifest.others)
        others.push_back(
            llvm::json::Object{{"name", other.name},
                               {"layers", int64_t(other.layers.size())},
                               {"arena_bytes", other.arenaBytes},
                               {"multiply_adds", other.multiplyAdds()}});
      if (!others.empty())
        said["others"] = std::move(others);
      if (code)
        said["flash_bytes"] =
            Fit::find(manifest, code, maxFlash).flash->getSum();
      if (printsPipeline)
        said["pipeline"] = pipeline;
      printJson(std::move(said));
      return ExitCode::done;
    }
    printOut("{}: {}_run() of {} layers, {} of weights, {} of arena, for {}\n",
             displayText(folder), manifest.name, manifest.layers.size(),
             formatBytes(manifest.weightBytes),
             formatBytes(manifest.arenaBytes), manifest.target);
    if (!halves.empty())
      printOut("  16-bit floats: {}\n", halves);
    if (code)
      printOut("  flash: {}\n",
               Fit::find(manifest, code, maxFlash).flash->describe());
    if (!integers.empty())
      printOut("  8-bit integers: {}\n", integers);
    if (options.maxRam)
      printOut("  RAM: {}\n",
               Fit::find(manifest, /*code=*/std::nullopt,
                         /*maxFlash=*/std::nullopt, options.maxRam)
                   .ram.describe());
    if (printsPipeline)
      printOut("{}\n", pipeline);
    for (const Manifest &other : manifest.others)
      printOut("  {}_run() of {} layers, with the same weights, {} of arena\n",
               other.name, other.layers.size(), formatBytes(other.arenaBytes));
    return ExitCode::done;
  }

  ModelOptions options;
  std::string folder, compiler, depfile, pipeline, imported;
  std::optional<int64_t> maxFlash;
  std::optional<CodeBytes> code; ///< set with --max-flash
  std::string integers;          ///< result of Driver::describeQuantization()
  bool json = false, printsPipeline = false;
};

} // namespace

std::unique_ptr<Command> makeCompile() { return std::make_unique<Compile>(); }

} // namespace nnc::tools
