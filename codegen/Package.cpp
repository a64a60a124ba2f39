//===- Package.cpp - Files for build systems ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

StringRef codegen::getSourceFolder(Package package) {
  return package == Package::arduino ? "src/" : "";
}

namespace {
/// A template, and the path of the file that is made from it in packages of one
/// kind.
struct PackageFile {
  Package package;
  llvm::StringLiteral path;
  llvm::StringLiteral name;
};
} // namespace

static constexpr PackageFile kPackageFiles[] = {
    {Package::none, "CMakeLists.txt", "CMakeLists.txt.in"},
    {Package::zephyr, "CMakeLists.txt", "CMakeLists.txt.in"},
    {Package::zephyr, "zephyr/CMakeLists.txt",
     "package/zephyr/CMakeLists.txt.in"},
    {Package::zephyr, "zephyr/Kconfig", "package/zephyr/Kconfig.in"},
    {Package::zephyr, "zephyr/module.yml", "package/zephyr/module.yml.in"},
    {Package::espIdf, "CMakeLists.txt", "package/esp-idf/CMakeLists.txt.in"},
    {Package::espIdf, "Kconfig", "package/esp-idf/Kconfig.in"},
    {Package::espIdf, "idf_component.yml",
     "package/esp-idf/idf_component.yml.in"},
    {Package::platformio, "CMakeLists.txt", "CMakeLists.txt.in"},
    {Package::platformio, "library.json", "package/platformio/library.json.in"},
    {Package::arduino, "library.properties",
     "package/arduino/library.properties.in"},
};

/// Returns the words on separate lines, each indented by two spaces.
template <class Range> static std::string printLines(const Range &words) {
  return "  " + llvm::join(words, "\n  ");
}

/// Returns the files whose extension is one of `extensions`.
static SmallVector<StringRef> select(ArrayRef<std::string> files,
                                     ArrayRef<StringRef> extensions) {
  SmallVector<StringRef> selected;
  for (StringRef file : files)
    if (llvm::is_contained(extensions, llvm::sys::path::extension(file)))
      selected.push_back(file);
  return selected;
}

static Values getValues(exec::ProgramOp program, const EmitOptions &options,
                        ArrayRef<std::string> files) {
  std::string name = program.getSymName().str();
  SmallVector<StringRef> sources = select(files, {".cpp", ".cu", ".c", ".S"});
  SmallVector<std::string> machineFlags = getMachineFlags(program), filters;
  for (StringRef source : sources)
    filters.push_back(("\"+<" + source + ">\"").str());
  Values values;
  values["name"] = name;
  values["NAME"] = StringRef(name).upper();
  values["target"] = program.getTarget().str();
  values["sources"] = printLines(sources);
  // Programs do not include these. Only the module's code uses them.
  SmallVector<StringRef> headers = select(files, {".h"});
  llvm::erase(headers, name + "_runtime.h");
  llvm::erase(headers, "nnc_emulation.h");
  values["headers"] = llvm::join(headers, " ");
  SmallVector<std::string> architectures;
  for (auto each : program.getArchitectures().getAsRange<StringAttr>())
    architectures.push_back(each.getValue().drop_front(strlen("sm_")).str() +
                            "-real");
  values["architectures"] = llvm::join(architectures, ";");
  values["level"] = options.level;
  values["machine"] = machineFlags.empty() ? "" : printLines(machineFlags);
  values["flags"] = printLines(getLanguageFlags(program));
  values["filters"] = llvm::join(filters, ", ");
  // CMake treats the assembler as a language, and not every toolchain has it.
  SmallVector<StringRef> embedded = select(files, {".S"});
  values["asm"] = embedded.empty() ? "" : " ASM";
  values["depends"] = "";
  for (StringRef file : embedded)
    values["depends"] +=
        fillTemplate("CMakeDepends.txt.in",
                     {{"weights", llvm::sys::path::stem(file).str()}});
  return values;
}

std::vector<std::pair<std::string, std::string>>
codegen::printPackage(exec::ProgramOp program, const EmitOptions &options,
                      ArrayRef<std::string> files) {
  Values values = getValues(program, options, files);
  std::vector<std::pair<std::string, std::string>> printed;
  if (isCuda(program)) {
    printed.emplace_back("CMakeLists.txt",
                         fillTemplate("CMakeLists.cuda.txt.in", values));
    return printed;
  }
  for (const PackageFile &file : kPackageFiles)
    if (file.package == options.package)
      printed.emplace_back(file.path.str(), fillTemplate(file.name, values));
  return printed;
}
