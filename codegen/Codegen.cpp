//===- Codegen.cpp - Writes a program as a folder of source ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

SmallVector<std::string> codegen::getFlags(exec::ProgramOp program) {
  SmallVector<std::string> flags;
  for (auto flag : program.getFlags().getAsRange<StringAttr>())
    flags.push_back(flag.str());
  // Routines say fma() where they want one; a compiler that fuses on its own
  // would round a scalar tail differently from the vectors beside it.
  for (const char *flag :
       {"-ffp-contract=off", "-fno-math-errno", "-fno-exceptions", "-fno-rtti"})
    flags.push_back(flag);
  return flags;
}

static Values getWeightValues(exec::ProgramOp program) {
  Values values;
  values["name"] = program.getSymName().str();
  values["align"] = std::to_string(program.getAlign());
  values["bytes"] = std::to_string(program.getWeights());
  values["size"] = values["bytes"];
  return values;
}

/// Bytes as numbers, twelve a line.
static std::string printBytes(StringRef bytes) {
  std::string text;
  text.reserve(bytes.size() * 5);
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += std::to_string(static_cast<unsigned char>(bytes[i]));
    text += i % 12 == 11 || i + 1 == bytes.size() ? ",\n" : ",";
  }
  return text;
}

static LogicalResult addWeights(exec::ProgramOp program,
                                const EmitOptions &options,
                                OutputFolder &folder,
                                std::vector<std::string> &files) {
  std::string name = program.getSymName().str();
  if (program.getWeights() == 0)
    return success();
  if (options.weights == "array") {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    if (failed(writeWeights(program, stream)))
      return failure();
    Values values = getWeightValues(program);
    values["values"] = printBytes(stream.str());
    files.push_back(name + "_weights.c");
    return folder.add(files.back(), fillTemplate("weights.c.in", values));
  }
  files.push_back(name + "_weights.bin");
  if (failed(folder.add(files.back(), [&](llvm::raw_ostream &stream) {
        return writeWeights(program, stream);
      })))
    return failure();
  if (options.weights == "file")
    return success();
  files.push_back(name + "_weights.S");
  return folder.add(files.back(),
                    fillTemplate("weights.S.in", getWeightValues(program)));
}

static void addLine(std::string &lines, const std::string &line) {
  lines += (lines.empty() ? "  " : "\n  ") + line;
}

static std::string printBuildFile(exec::ProgramOp program,
                                  const std::vector<std::string> &files) {
  Values values;
  values["name"] = program.getSymName().str();
  for (const std::string &file : files)
    if (StringRef(file).ends_with(".cpp") || StringRef(file).ends_with(".c") ||
        StringRef(file).ends_with(".S"))
      addLine(values["sources"], file);
  for (const std::string &flag : getFlags(program))
    addLine(values["flags"], flag);
  return fillTemplate("CMakeLists.txt.in", values);
}

LogicalResult codegen::emit(ModuleOp module, StringRef target,
                            const EmitOptions &options,
                            std::error_code *systemError) {
  std::error_code ignored;
  auto programs = module.getOps<exec::ProgramOp>();
  if (!llvm::hasSingleElement(programs))
    return module.emitError("needs one exec.program to be written");
  exec::ProgramOp program = *programs.begin();
  std::string name = program.getSymName().str();
  FailureOr<std::string> runtime = amalgamateRuntime(program, options);
  if (failed(runtime))
    return failure();
  FailureOr<OutputFolder> folder = OutputFolder::create(
      program.getLoc(), target, systemError ? *systemError : ignored);
  if (failed(folder))
    return failure();
  std::vector<std::string> files = {name + ".h", name + ".cpp",
                                    name + "_runtime.h"};
  if (failed(folder->add(files[0], printHeader(program, options))) ||
      failed(folder->add(files[1], printProgram(program, options))) ||
      failed(folder->add(files[2], *runtime)))
    return failure();
  if (options.takesPool()) {
    for (StringRef header : {"nnc_runtime.h", "pool.h"}) {
      std::optional<StringRef> text = getEmbedded(("runtime/" + header).str());
      if (!text)
        continue;
      // Here they lie side by side.
      std::string flat = text->str();
      for (size_t at; (at = flat.find("\"runtime/")) != std::string::npos;)
        flat.erase(at + 1, strlen("runtime/"));
      files.push_back(header.str());
      if (failed(folder->add(header, flat)))
        return failure();
    }
  }
  if (failed(addWeights(program, options, *folder, files)))
    return failure();
  files.push_back("CMakeLists.txt");
  if (failed(folder->add(files.back(), printBuildFile(program, files))) ||
      failed(
          folder->add("manifest.json", printManifest(program, options, files))))
    return failure();
  return folder->commit();
}
