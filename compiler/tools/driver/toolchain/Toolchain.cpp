//===- Toolchain.cpp - Builds emitted modules and runs them ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/Toolchain.h"

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Firmware.h"
#include "compiler/tools/driver/toolchain/ObjectCache.h"
#include "compiler/tools/runner/Sources.h"

#include "dialects/target/Target.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace path = llvm::sys::path;

namespace nnc::tools {

/// The names of the runner's source that is compiled with the module's header,
/// of the runner's main program, and of the main program of the probe, which
/// has no module.
static constexpr const char *moduleSource = "model.cpp",
                            *mainSource = "main.cpp",
                            *probeSource = "probe.cpp";

/// The runner's sources for the device that runs the module.
static constexpr const char *cpuSource = "cpu.cpp", *gpuSource = "gpu.cpp";

/// Returns the compiler `given`, or if it is empty the compiler `own`, for
/// which the environment variable CXX stands where it is the system's.
static std::string chooseCompiler(const std::string &own,
                                  const std::string &given) {
  if (!given.empty())
    return given;
  const char *system = std::getenv("CXX");
  return own == "c++" && system && *system ? system : own;
}

llvm::Expected<Toolchain> Toolchain::find(const std::string &target,
                                          const std::string &compiler) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // The message on a failure lists the targets.
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { problem = diagnostic.str(); });
  mlir::FailureOr<target::MachineAttr> machine =
      target::getMachine(target, mlir::UnknownLoc::get(&context));
  if (mlir::failed(machine))
    return makeError(problem);
  Toolchain result;
  result.target = target;
  result.compiler =
      chooseCompiler(machine->getHost().getCompiler().str(), compiler);
  result.flags = splitCommand(machine->getHost().getFlags());
  result.emulator = splitCommand(machine->getEmulator());
  result.board = machine->getBoard().str();
  result.linker = machine->getHost().getCompiler().str();
  return result;
}

void Toolchain::emulateGpu(const std::string &other) {
  compiler = chooseCompiler("c++", other);
  // Contraction would round differently from kernels, which have none.
  flags = {"-DNNC_EMULATE_CUDA=1", "-ffp-contract=off", "-fno-math-errno"};
  emulatesGpu = true;
}

void Toolchain::useGpu() { hostCompiler = chooseCompiler("c++", ""); }

std::vector<std::string> Toolchain::moduleCommand() const {
  Words command = splitCommand(compiler);
  if (llvm::none_of(llvm::drop_begin(command), [](llvm::StringRef flag) {
        return flag.starts_with("-O");
      }))
    command.push_back(level);
  return command;
}

void Toolchain::runOn(const std::string &place) {
  llvm::StringRef name = place;
  bool isHost = name.consume_front("ssh:");
  host = isHost ? name.str() : "";
  emulator = isHost ? Words() : splitCommand(place);
  // The other machine may not have the shared libraries of this one. A program
  // for a GPU opens the driver's library, which a static one cannot.
  if (hostCompiler.empty())
    linkFlags.push_back("-static");
}

llvm::Expected<std::string>
Toolchain::run(const std::string &program,
               const std::vector<std::string> &arguments,
               const std::string &log) const {
  if (host.empty()) {
    Words command = emulator;
    command.push_back(program);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return runRunner(command, log);
  }
  // The program itself is sent as the input of the command.
  return runRunner({"ssh", "-o", "BatchMode=yes", host,
                    fmt::format("f=$(mktemp) && cat >$f && chmod +x $f && $f "
                                "{}; s=$?; rm -f $f; exit $s",
                                fmt::join(arguments, " "))},
                   log, program);
}

std::string findObstacle(const std::vector<std::string> &features,
                         const Toolchain &toolchain) {
  std::vector<std::string> missing;
  if (toolchain.emulator.empty())
    llvm::copy_if(features, std::back_inserter(missing),
                  std::not_fn(target::hostHas));
  if (missing.empty())
    return "";
  return fmt::format("code for {} needs {}, which this machine ({}) lacks: run "
                     "it on one that has it, or compile for native",
                     toolchain.target, fmt::join(missing, " and "),
                     llvm::sys::getHostCPUName().str());
}

llvm::Expected<std::string> compilerVersion(const Toolchain &toolchain) {
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return folder.takeError();
  Words command = splitCommand(toolchain.compiler);
  command.push_back("--version");
  llvm::Expected<std::string> text =
      runProgram(command, (*folder)->path() + "/version");
  if (!text)
    return text.takeError();
  return llvm::StringRef(*text).split('\n').first.str();
}

static Words commandFor(const Toolchain &toolchain, const CompileJob &job) {
  llvm::StringRef extension = path::extension(job.source);
  const bool isForHost =
      !toolchain.hostCompiler.empty() && extension != ".cu" && !job.callsCuda;
  Words command = isForHost      ? splitCommand(toolchain.hostCompiler)
                  : job.ofModule ? toolchain.moduleCommand()
                                 : splitCommand(toolchain.compiler);
  if (extension == ".cpp" || extension == ".cu")
    command.push_back("-std=c++17");
  if (!toolchain.emulatesGpu)
    command.insert(command.end(), job.cudaFlags.begin(), job.cudaFlags.end());
  else if (extension == ".cu")
    command.insert(command.end(), {"-x", "c++"});
  // Those of the manifest name the architectures of GPUs, too.
  if ((job.cudaFlags.empty() && toolchain.hostCompiler.empty()) ||
      toolchain.emulatesGpu)
    command.insert(command.end(), toolchain.flags.begin(),
                   toolchain.flags.end());
  command.insert(command.end(), job.flags.begin(), job.flags.end());
  if (extension == ".c")
    command.insert(command.end(), {"-x", "c"});
  command.insert(command.end(), {"-c", job.source, "-o", job.object});
  return command;
}

llvm::Expected<std::vector<std::string>>
compileAll(const Toolchain &toolchain, const std::vector<CompileJob> &jobs,
           const std::string &log) {
  std::vector<Words> commands;
  std::vector<std::string> objects;
  for (const CompileJob &job : jobs) {
    commands.push_back(commandFor(toolchain, job));
    objects.push_back(job.object);
  }
  if (llvm::Error error = runPrograms(commands, log))
    return error;
  return objects;
}

std::vector<CompileJob> moduleJobs(const Manifest &manifest,
                                   const std::string &folder, Hooks hooks,
                                   const std::vector<std::string> &more) {
  std::vector<CompileJob> jobs;
  for (const std::string &file : manifest.files) {
    llvm::StringRef extension = path::extension(file);
    const bool isCuda = extension == ".cu", isCpp = extension == ".cpp";
    if (!isCpp && !isCuda && extension != ".c" && extension != ".S")
      continue;
    CompileJob job{manifest.folder + "/" + file,
                   folder + "/" + path::filename(file).str() + ".o",
                   {},
                   /*ofModule=*/true};
    // The assembler looks for the weights in the folder of the source.
    job.flags = {"-I" + manifest.sourceFolder()};
    if (isCpp || isCuda) {
      auto &own = isCuda ? job.cudaFlags : job.flags;
      own.insert(own.end(), manifest.flags.begin(), manifest.flags.end());
      job.flags.insert(job.flags.end(), more.begin(), more.end());
      if (hooks != Hooks::none)
        job.flags.push_back(fmt::format("-DNNC_HOOKS={}", int(hooks)));
    }
    jobs.push_back(job);
  }
  return jobs;
}

llvm::Expected<std::vector<std::string>> buildModule(const Manifest &manifest,
                                                     const Toolchain &toolchain,
                                                     const std::string &folder,
                                                     Hooks hooks) {
  return compileAll(toolchain, moduleJobs(manifest, folder, hooks),
                    folder + "/module");
}

/// Writes the runner's sources to `folder`, and returns jobs for those that do
/// not depend on the module and are neither built yet nor in `cache`. Of the
/// two main programs, only the one named `main` is included, and of the two
/// devices the one that the toolchain builds for. The paths of all objects are
/// appended to `objects`.
static llvm::Expected<std::vector<CompileJob>>
runnerJobs(const Toolchain &toolchain, const std::string &folder,
           llvm::StringRef main, ObjectCache &cache,
           std::vector<std::string> &objects) {
  const bool usesGpu = !toolchain.hostCompiler.empty();
  std::vector<CompileJob> jobs;
  for (const runner::Source &source : runner::getSources()) {
    if (isFirmware(source.name))
      continue;
    std::string file = folder + "/" + source.name;
    llvm::sys::fs::create_directories(path::parent_path(file));
    if (llvm::Error error = writeTextFile(file, source.text))
      return error;
    std::string name = path::filename(file).str();
    bool isMain = name == mainSource || name == probeSource;
    if (path::extension(file) != ".cpp" || name == moduleSource ||
        (isMain && name != main) || name == (usesGpu ? cpuSource : gpuSource))
      continue;
    CompileJob job{file, file + ".o", {"-O2", "-pthread", "-I" + folder}};
    if (name == gpuSource) {
      job.flags = {"-O2", "-I" + folder};
      job.callsCuda = true;
    }
    if (name == "peak.cpp")
      job.flags.insert(job.flags.end(), {"-O3", "-ffp-contract=fast"});
    objects.push_back(job.object);
    if (!llvm::sys::fs::exists(job.object) && !cache.restore(job, folder))
      jobs.push_back(job);
  }
  return jobs;
}

static Words linkCommand(const Toolchain &toolchain,
                         const std::vector<std::string> &objects,
                         const std::string &program) {
  Words command = splitCommand(toolchain.compiler);
  if (!toolchain.hostCompiler.empty()) {
    // nvcc hands its own libraries and the flags behind -Xcompiler to the
    // linker. The machine with the GPU needs the driver and the C library.
    command.insert(command.end(), objects.begin(), objects.end());
    command.insert(command.end(),
                   {"-Xcompiler=-pthread,-static-libstdc++,-static-libgcc",
                    "-o", program});
    return command;
  }
  for (const auto *words : {&toolchain.flags, &toolchain.linkFlags, &objects})
    command.insert(command.end(), words->begin(), words->end());
  command.insert(command.end(), {"-pthread", "-o", program});
  return command;
}

llvm::Error buildLibrary(const Manifest &manifest, const Toolchain &toolchain) {
  llvm::Expected<std::unique_ptr<Scratch>> scratch = makeTemporaryFolder();
  if (!scratch)
    return scratch.takeError();
  const std::string folder = (*scratch)->path();
  std::vector<CompileJob> jobs = moduleJobs(manifest, folder, Hooks::none);
  for (CompileJob &job : jobs)
    job.flags.push_back("-fPIC");
  llvm::Expected<std::vector<std::string>> objects =
      compileAll(toolchain, jobs, folder + "/module");
  if (!objects)
    return objects.takeError();
  Words command = linkCommand(toolchain, *objects,
                              manifest.folder + "/" + manifest.library);
  command.insert(command.end(), {"-shared", "-Wl,-soname," + manifest.library,
                                 "-Wl,--as-needed"});
  return runPrograms({command}, folder + "/link");
}

/// Returns the number of a GPU's architecture: "80" for "sm_80".
static std::string getNumber(llvm::StringRef architecture) {
  return architecture.drop_front(strlen("sm_")).str();
}

/// Returns the value of NNC_MODEL_LOADS (runner/model.cpp) for a module.
static int howToLoad(const Manifest &module) {
  if (!module.isCuda() || module.weightBytes == 0)
    return 0;
  return module.weights == "file" ? 2 : 1;
}

llvm::Expected<std::vector<std::string>>
buildRunners(llvm::ArrayRef<Manifest> modules, const Toolchain &toolchain,
             const std::string &folder) {
  if (toolchain.isBare())
    return buildFirmware(modules, toolchain, folder);
  // The runner's files have their own folder, because the module's files may
  // have any names.
  const std::string own = folder + "/runner";
  std::vector<std::string> shared, programs;
  ObjectCache cache(toolchain);
  llvm::Expected<std::vector<CompileJob>> jobs =
      runnerJobs(toolchain, own, mainSource, cache, shared);
  if (!jobs)
    return jobs.takeError();
  const std::vector<CompileJob> made = *jobs;
  std::vector<Words> links;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Manifest &module = modules[i];
    std::string part = fmt::format("{}/{}", folder, i);
    llvm::sys::fs::create_directories(part);
    // On a GPU, the runner waits itself where it has to.
    std::vector<CompileJob> parts = moduleJobs(
        module, part,
        toolchain.hostCompiler.empty() ? Hooks::called : Hooks::atOnce);
    parts.push_back(
        {own + "/" + moduleSource,
         part + "/runner.o",
         {"-O2", "-pthread", "-I" + module.sourceFolder(), "-I" + own,
          "-DNNC_MODEL=" + module.name,
          "-DNNC_MODEL_HEADER=" + module.getModule(),
          "-DNNC_MODEL_CONSTANTS=" + llvm::StringRef(module.name).upper(),
          fmt::format("-DNNC_MODEL_ARENAS={}",
                      fmt::join(module.arenaMacros(), ",")),
          fmt::format("-DNNC_MODEL_MEMORIES={}", int(!module.memories.empty())),
          fmt::format("-DNNC_MODEL_PARALLEL={}", int(module.threads)),
          fmt::format("-DNNC_MODEL_CUDA={}", int(module.isCuda())),
          fmt::format("-DNNC_MODEL_LOADS={}", howToLoad(module)),
          fmt::format(
              "-DNNC_MODEL_ARCHITECTURES={}",
              llvm::join(llvm::map_range(module.architectures, getNumber),
                         ",")),
          fmt::format("-DNNC_MODEL_CAPTURED={}",
                      int(module.isCuda() && module.decisions.empty())),
          fmt::format("-DNNC_MODEL_PORTS_ON_CPU={}", int(module.io == "host")),
          fmt::format("-DNNC_MODEL_STATE={}", int(!module.state.empty())),
          fmt::format("-DNNC_MODEL_SIZES={}", module.callersSizes().size()),
          fmt::format("-DNNC_MODEL_PLACED={}",
                      int(module.hasPortsInArena()))}});
    programs.push_back(part + "/program");
    std::vector<std::string> all = shared;
    for (const CompileJob &job : parts)
      all.push_back(job.object);
    links.push_back(linkCommand(toolchain, all, programs.back()));
    // The jobs that take longest come first, so that no long one starts last.
    jobs->insert(jobs->begin(), parts.begin(), parts.end());
  }
  llvm::Expected<std::vector<std::string>> objects =
      compileAll(toolchain, *jobs, folder + "/build");
  if (!objects)
    return objects.takeError();
  cache.store(made, own);
  if (llvm::Error error = runPrograms(links, folder + "/link"))
    return error;
  return programs;
}

llvm::Expected<std::string> buildProbe(const Toolchain &toolchain,
                                       const std::string &folder) {
  std::vector<std::string> objects;
  ObjectCache cache(toolchain);
  llvm::Expected<std::vector<CompileJob>> jobs =
      runnerJobs(toolchain, folder, probeSource, cache, objects);
  if (!jobs)
    return jobs.takeError();
  if (llvm::Error error =
          compileAll(toolchain, *jobs, folder + "/build").takeError())
    return error;
  cache.store(*jobs, folder);
  std::string program = folder + "/program";
  if (llvm::Error error = runPrograms(
          {linkCommand(toolchain, objects, program)}, folder + "/link"))
    return error;
  return program;
}

llvm::Expected<int64_t> codeBytes(const std::string &object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  int64_t bytes = 0;
  for (const llvm::object::SectionRef &section : file->getBinary()->sections())
    if (section.isText() || (section.isData() && !section.isVirtual()))
      bytes += section.getSize();
  return bytes;
}

} // namespace nnc::tools
