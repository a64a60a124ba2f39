//===- Firmware.cpp - Programs for boards without an operating system -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/Firmware.h"

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/MachineCode.h"
#include "compiler/tools/runner/Sources.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

namespace path = llvm::sys::path;

namespace nnc::tools {

/// The flags of C++ sources that use no standard library.
static const Words freestanding = {"-ffreestanding", "-fno-exceptions",
                                   "-fno-rtti", "-fno-threadsafe-statics",
                                   "-ffunction-sections"};

bool isFirmware(llvm::StringRef source) {
  return source.starts_with("firmware/");
}

/// Writes the firmware's sources and linker scripts to `folder`, and returns
/// the jobs for the sources.
static llvm::Expected<std::vector<CompileJob>>
writeFirmware(const std::string &folder) {
  std::vector<CompileJob> jobs;
  for (const runner::Source &source : runner::getSources()) {
    if (!isFirmware(source.name))
      continue;
    std::string file = folder + "/" + path::filename(source.name).str();
    if (llvm::Error error = writeTextFile(file, source.text))
      return error;
    if (path::extension(file) != ".cpp")
      continue;
    CompileJob &job = jobs.emplace_back();
    job = {file, file + ".o", {"-O2", "-I" + folder}};
    job.flags.insert(job.flags.end(), freestanding.begin(), freestanding.end());
  }
  return jobs;
}

llvm::Expected<std::vector<std::string>>
buildFirmware(llvm::ArrayRef<Manifest> modules, const Toolchain &toolchain,
              const std::string &folder) {
  std::string own = folder + "/firmware";
  if (std::error_code code = llvm::sys::fs::create_directories(own))
    return makeError(fmt::format("cannot make {}: {}", own, code.message()));
  llvm::Expected<std::vector<CompileJob>> sources = writeFirmware(own);
  if (!sources)
    return sources.takeError();
  std::vector<CompileJob> jobs;
  std::vector<Words> links;
  std::vector<std::string> programs;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Manifest &module = modules[i];
    std::string part = fmt::format("{}/{}", folder, i);
    llvm::sys::fs::create_directories(part);
    std::vector<CompileJob> parts = moduleJobs(
        module, part, toolchain.callsHooks ? Hooks::called : Hooks::none,
        {"-ffunction-sections"});
    // The firmware is small, so all of it is compiled for each module.
    for (CompileJob job : *sources) {
      job.object = part + "/" + path::filename(job.source).str() + ".runner.o";
      for (const std::string &flag :
           {"-I" + module.sourceFolder(), std::string("-DNNC_HOOKS=1"),
            "-DNNC_MODEL=" + module.name,
            "-DNNC_MODEL_HEADER=" + module.getModule(),
            "-DNNC_MODEL_CONSTANTS=" + llvm::StringRef(module.name).upper(),
            fmt::format("-DNNC_MODEL_ARENAS={}",
                        fmt::join(module.arenaMacros(), ",")),
            fmt::format("-DNNC_MODEL_LAYERS={}", module.layers.size()),
            fmt::format("-DNNC_MODEL_MEMORIES={}",
                        int(!module.memories.empty())),
            fmt::format("-DNNC_MODEL_STATE={}", int(!module.state.empty())),
            fmt::format("-DNNC_MODEL_SIZES={}", module.callersSizes().size()),
            fmt::format("-DNNC_MODEL_PLACED={}",
                        int(module.hasPortsInArena()))})
        job.flags.push_back(flag);
      parts.push_back(job);
    }
    programs.push_back(part + "/program.elf");
    Words link = splitCommand(toolchain.linker);
    link.insert(link.end(), toolchain.flags.begin(), toolchain.flags.end());
    for (const CompileJob &job : parts)
      link.push_back(job.object);
    for (const std::string &word :
         {std::string("-nostdlib"), std::string("-Wl,--gc-sections"),
          std::string("-Wl,--no-warn-rwx-segments"), "-L" + own,
          "-T" + own + "/" + toolchain.board + ".ld",
          std::string("-Wl,--start-group"), std::string("-lm"),
          std::string("-lc"), std::string("-lgcc"),
          std::string("-Wl,--end-group"), std::string("-o"), programs.back()})
      link.push_back(word);
    links.push_back(link);
    jobs.insert(jobs.end(), parts.begin(), parts.end());
  }
  if (llvm::Error error =
          compileAll(toolchain, jobs, folder + "/build").takeError())
    return error;
  if (llvm::Error error = runPrograms(links, folder + "/link"))
    return error;
  return programs;
}

Words firmwareCommand(const Toolchain &toolchain, const std::string &program,
                      const std::string &argumentsFile) {
  // In qemu's options, a comma is written as two.
  std::string escaped;
  for (char c : argumentsFile)
    escaped += c == ',' ? ",," : std::string(1, c);
  Words command = toolchain.emulator;
  for (const std::string &word :
       {std::string("-display"), std::string("none"), std::string("-monitor"),
        std::string("none"), std::string("-serial"), std::string("none"),
        std::string("-semihosting-config"),
        "enable=on,target=native,arg=nnc,arg=" + escaped,
        std::string("-kernel"), program})
    command.push_back(word);
  return command;
}

/// Returns true if the compiler has -fcallgraph-info, as GCC has since version
/// 10.
static bool writesCallGraphs(const Toolchain &toolchain) {
  llvm::Expected<std::string> version = compilerVersion(toolchain);
  if (!version) {
    llvm::consumeError(version.takeError());
    return false;
  }
  llvm::StringRef line = *version;
  if (line.contains("clang"))
    return false;
  // The version follows the name of the package, which contains digits, too.
  llvm::StringRef number = line.rsplit(") ").second;
  int major = 0;
  return !number.take_while(llvm::isDigit).getAsInteger(10, major) &&
         major >= 10;
}

/// Reads the call graphs that GCC wrote beside the objects. Files that cannot
/// be read are skipped.
static std::vector<std::string>
readCallGraphs(llvm::ArrayRef<std::string> objects) {
  std::vector<std::string> graphs;
  for (llvm::StringRef object : objects) {
    llvm::SmallString<128> file(object);
    path::replace_extension(file, ".ci");
    if (llvm::Expected<std::string> text = readTextFile(file.str().str()))
      graphs.push_back(std::move(*text));
    else
      llvm::consumeError(text.takeError());
  }
  return graphs;
}

/// Links the objects of a module with the target's libraries, so that all that
/// `root` calls is there, and returns the machine code of the program.
static llvm::Expected<MachineCode>
disassemble(const Toolchain &toolchain, llvm::ArrayRef<std::string> objects,
            const std::string &root, const std::string &folder) {
  std::string program = folder + "/linked.elf", script = folder + "/linked.ld";
  // No function lies at address 0, to which calls of functions that the caller
  // defines go.
  if (llvm::Error error = writeTextFile(
          script, "SECTIONS { .text 0x10000 : { *(.text .text.*) } }\n"))
    return error;
  Words link = splitCommand(toolchain.linker);
  Words find = {link.front(), "-print-prog-name=objdump"};
  link.insert(link.end(), toolchain.flags.begin(), toolchain.flags.end());
  link.insert(link.end(), objects.begin(), objects.end());
  for (const std::string &word :
       {std::string("-nostdlib"), std::string("-Wl,--gc-sections"),
        "-Wl,-e," + root, std::string("-Wl,--unresolved-symbols=ignore-all"),
        std::string("-Wl,--no-warn-rwx-segments"), "-T" + script,
        std::string("-Wl,--start-group"), std::string("-lm"),
        std::string("-lc"), std::string("-lgcc"),
        std::string("-Wl,--end-group"), std::string("-o"), program})
    link.push_back(word);
  if (llvm::Error error = runPrograms({link}, folder + "/linked"))
    return error;
  llvm::Expected<std::string> tool = runProgram(find, folder + "/objdump");
  if (!tool)
    return tool.takeError();
  llvm::Expected<std::string> listing =
      runProgram({llvm::StringRef(*tool).trim().str(), "-d", "-t", program},
                 folder + "/listing");
  if (!listing)
    return listing.takeError();
  return MachineCode(*listing);
}

llvm::Expected<ModuleSize> measureModule(const Manifest &manifest,
                                         const Toolchain &toolchain,
                                         const std::string &folder) {
  std::string part = folder + "/size";
  llvm::sys::fs::create_directories(part);
  std::vector<CompileJob> jobs = moduleJobs(
      manifest, part, Hooks::none, {"-ffunction-sections", "-fdata-sections"});
  // Weights are not code. The file that calls the custom functions is code, as
  // are the C++ sources.
  std::string customs = manifest.sourceFolder() + "/" + manifest.customFile();
  llvm::erase_if(jobs, [&](const CompileJob &job) {
    return path::extension(job.source) != ".cpp" && job.source != customs;
  });
  bool tellsStack = writesCallGraphs(toolchain);
  if (tellsStack)
    for (CompileJob &job : jobs)
      job.flags.push_back("-fcallgraph-info=su");
  llvm::Expected<std::vector<std::string>> objects =
      compileAll(toolchain, jobs, part + "/build");
  if (!objects)
    return objects.takeError();
  // The objects are linked to one object in which only the used sections
  // remain.
  std::string whole = part + "/whole.o";
  // This script replaces picolibc's own one, which names sections that an
  // object lacks.
  std::string script = part + "/whole.ld";
  if (llvm::Error error = writeTextFile(script, "SECTIONS {}\n"))
    return error;
  Words link = splitCommand(toolchain.linker);
  link.insert(link.end(), toolchain.flags.begin(), toolchain.flags.end());
  link.insert(link.end(), objects->begin(), objects->end());
  for (const std::string &word :
       {std::string("-r"), std::string("-nostdlib"),
        std::string("-Wl,--gc-sections"), "-Wl,-e," + manifest.name + "_run",
        "-T" + script, std::string("-o"), whole})
    link.push_back(word);
  if (llvm::Error error = runPrograms({link}, part + "/link"))
    return error;
  auto file = llvm::object::ObjectFile::createObjectFile(whole);
  if (!file)
    return file.takeError();
  ModuleSize size;
  for (const llvm::object::ELFSectionRef section :
       llvm::cast<llvm::object::ELFObjectFileBase>(file->getBinary())
           ->sections())
    if (section.getFlags() & llvm::ELF::SHF_ALLOC)
      (section.isText() ? size.text : size.constants) +=
          int64_t(section.getSize());
  // The machine code tells the stack, and where it does not, because it jumps
  // through a table for instance, the compiler's call graphs do. These lack the
  // functions of the libraries.
  const std::string run = manifest.name + "_run";
  llvm::Expected<MachineCode> code =
      disassemble(toolchain, *objects, run, part);
  if (!code && !tellsStack) {
    llvm::consumeError(code.takeError());
    return size;
  }
  const auto findDepth = [&](llvm::StringRef function) {
    return code ? code->findDepth(function) : std::nullopt;
  };
  if (std::optional<int64_t> bytes = findDepth(run))
    size.stack = StackDepth{*bytes, {}};
  else if (tellsStack)
    size.stack = findStackDepth(readCallGraphs(*objects), run, findDepth);
  if (!code)
    llvm::consumeError(code.takeError());
  return size;
}

} // namespace nnc::tools
