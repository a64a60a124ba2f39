//===- CodeBytes.cpp - Size of a module's code ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/CodeBytes.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using llvm::object::ELFSymbolRef;

namespace nnc::tools {

/// Returns flags with which compilers inline only functions that are declared
/// inline. The parts of routines are, but the functions of layers are not.
static Words keepLayersApart(const Toolchain &toolchain) {
  llvm::Expected<std::string> version = compilerVersion(toolchain);
  if (!version) {
    llvm::consumeError(version.takeError());
    return {};
  }
  if (llvm::StringRef(*version).contains("clang"))
    return {"-finline-hint-functions"};
  return {"-fno-inline-functions", "-fno-inline-functions-called-once",
          "-fno-inline-small-functions"};
}

/// Returns true if the mangled name of a symbol contains an identifier.
static bool names(llvm::StringRef symbol, const std::string &identifier) {
  std::string mangled = std::to_string(identifier.size()) + identifier;
  for (size_t at = symbol.find(mangled); at != llvm::StringRef::npos;
       at = symbol.find(mangled, at + 1))
    if (at == 0 || !llvm::isDigit(symbol[at - 1]))
      return true;
  return false;
}

/// Returns the index of the layer to which a symbol belongs: as the layer's
/// function, or as an instance of its routine for its shape or expression.
/// Returns nullopt for code that layers share.
static std::optional<size_t> findLayer(llvm::StringRef symbol,
                                       const Manifest &manifest) {
  for (auto [i, layer] : llvm::enumerate(manifest.layers))
    for (llvm::StringRef end : {"", "_shape", "_expression"})
      if (names(symbol, layer.name + end.str()))
        return i;
  return std::nullopt;
}

/// Adds the bytes of each symbol of an object file to the bytes of its layer.
static llvm::Error addSymbols(const std::string &object,
                              const Manifest &manifest,
                              std::vector<int64_t> &layers) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : file->getBinary()->symbols()) {
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    if (std::optional<size_t> layer = findLayer(*name, manifest))
      layers[*layer] += int64_t(ELFSymbolRef(symbol).getSize());
  }
  return llvm::Error::success();
}

/// Removes the jobs whose objects hold weights rather than code. The file that
/// calls the custom functions is code.
static void dropWeights(std::vector<CompileJob> &jobs,
                        const Manifest &manifest) {
  llvm::erase_if(jobs, [&](const CompileJob &job) {
    llvm::StringRef file = llvm::sys::path::filename(job.source);
    return llvm::sys::path::extension(file) != ".cpp" &&
           file != manifest.getSource() && file != manifest.customFile();
  });
}

/// Compiles the module. With `wantsLayers` it also compiles it a second time
/// with layers kept apart.
static llvm::Expected<CodeBytes> buildAndMeasure(const Manifest &manifest,
                                                 const Toolchain &toolchain,
                                                 const std::string &folder,
                                                 bool wantsLayers) {
  CodeBytes code;
  std::string whole = folder + "/whole", apart = folder + "/apart";
  for (const std::string &one : {whole, apart})
    llvm::sys::fs::create_directories(one);
  // Both builds run at once.
  std::vector<CompileJob> jobs;
  if (wantsLayers)
    jobs = moduleJobs(manifest, apart, Hooks::none, keepLayersApart(toolchain));
  dropWeights(jobs, manifest);
  size_t firstWhole = jobs.size();
  if (!toolchain.isBare()) {
    std::vector<CompileJob> more = moduleJobs(manifest, whole, Hooks::none);
    dropWeights(more, manifest);
    jobs.insert(jobs.end(), more.begin(), more.end());
  }
  auto objects = compileAll(toolchain, jobs, folder + "/code");
  if (!objects)
    return objects.takeError();
  if (wantsLayers)
    code.layers.resize(manifest.layers.size());
  for (const std::string &object :
       llvm::ArrayRef(*objects).take_front(firstWhole))
    if (llvm::Error error = addSymbols(object, manifest, code.layers))
      return error;
  for (const std::string &object :
       llvm::ArrayRef(*objects).drop_front(firstWhole)) {
    llvm::Expected<int64_t> bytes = codeBytes(object);
    if (!bytes)
      return bytes.takeError();
    code.total += *bytes;
  }
  if (!toolchain.isBare())
    return code;
  llvm::Expected<ModuleSize> parts = measureModule(manifest, toolchain, folder);
  if (!parts)
    return parts.takeError();
  code.total = parts->text + parts->constants;
  code.parts = *parts;
  return code;
}

/// Returns the first error in the output of a compiler, or the whole output if
/// it has no error.
static std::string findFirstMessage(llvm::StringRef said) {
  for (llvm::StringRef line : llvm::split(said, '\n'))
    if (line.contains("error:"))
      return line.trim().str();
  return said.trim().str();
}

/// Returns false if a command names a compiler of C++ that is not nvcc. A
/// script may have any other name.
static bool takesNvccFlags(llvm::ArrayRef<std::string> command) {
  return llvm::none_of(command, [](llvm::StringRef word) {
    llvm::StringRef name = llvm::sys::path::filename(word);
    return name.contains("clang") || name.contains("g++") || name == "c++";
  });
}

llvm::Expected<std::optional<CodeBytes>>
CodeBytes::measure(const Manifest &manifest, const std::string &compiler,
                   const std::string &level, bool wantsLayers) {
  Progress progress("building, to know the size of the code");
  llvm::Expected<Toolchain> toolchain =
      Toolchain::find(manifest.target, compiler);
  if (!toolchain)
    return toolchain.takeError();
  toolchain->level = level;
  // The size of each layer of a CUDA module is not known: a kernel's machine
  // code is in another part of the object file, and several layers may share
  // it.
  wantsLayers = wantsLayers && !manifest.isCuda();
  Words command = toolchain->moduleCommand();
  if (auto program = findProgram(command.empty() ? "" : command.front());
      !program) {
    printWarning("the size of the code is not known: " +
                 llvm::toString(program.takeError()));
    return std::nullopt;
  }
  if (manifest.isCuda() && !takesNvccFlags(command)) {
    printWarning(fmt::format("the size of the code is not known: {} does not "
                             "take the options of nvcc; leave out --compiler, "
                             "or name an nvcc",
                             command.front()));
    return std::nullopt;
  }
  llvm::Expected<CodeBytes> code =
      buildAndMeasure(manifest, *toolchain, manifest.folder, wantsLayers);
  if (!code)
    return makeError(
        (manifest.hasCustoms()
             ? std::string("the code does not build; is it the custom "
                           "functions? ")
             : "the emitted code does not build, which is a fault of nnc or "
               "of the compiler; please report it: ") +
        findFirstMessage(llvm::toString(code.takeError())));
  command.insert(command.end(), toolchain->flags.begin(),
                 toolchain->flags.end());
  code->command = fmt::format("{}", fmt::join(command, " "));
  return std::move(*code);
}

} // namespace nnc::tools
