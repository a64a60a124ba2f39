//===- Codegen.cpp - Writes a program as a folder of source ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"
#include "dialects/nn/custom/Custom.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

SmallVector<std::string> codegen::getMachineFlags(exec::ProgramOp program) {
  SmallVector<std::string> flags;
  for (auto flag : program.getFlags().getAsRange<StringAttr>())
    flags.push_back(flag.str());
  return flags;
}

ArrayRef<StringRef> codegen::getLanguageFlags(exec::ProgramOp program) {
  // Compilers must not contract a multiply and an add on their own. Routines
  // call fma() where they need it, and a scalar remainder would otherwise be
  // rounded differently from the vectors beside it.
  static const StringRef flags[] = {"-ffp-contract=off", "-fno-math-errno",
                                    "-fno-exceptions", "-fno-rtti"};
  // nvcc passes them to the compiler of the code for the CPU, and has a flag of
  // its own against contraction in kernels.
  static const StringRef cudaFlags[] = {
      "-fmad=false", "-Xcompiler=-ffp-contract=off,-fno-exceptions,-fno-rtti"};
  return isCuda(program) ? ArrayRef(cudaFlags) : ArrayRef(flags);
}

SmallVector<std::string> codegen::getFlags(exec::ProgramOp program) {
  SmallVector<std::string> flags = getMachineFlags(program);
  llvm::append_range(flags, getLanguageFlags(program));
  return flags;
}

static Values getWeightValues(exec::ProgramOp program,
                              const WeightsPiece &piece) {
  Values values;
  values["name"] = program.getSymName().str();
  values["symbol"] = piece.symbol;
  values["align"] = std::to_string(program.getAlign());
  values["bytes"] = std::to_string(piece.bytes);
  values["macro"] = "NNC_WEIGHTS_SECTION";
  values["section"] = ".rodata";
  values["in_memory"] = values["default_section"] = "";
  if (!piece.memory.empty()) {
    values["macro"] += "_" + StringRef(piece.memory).upper();
    values["section"] = "." + piece.memory;
    values["in_memory"] = " in the memory " + piece.memory;
    values["default_section"] = "#ifndef " + values["macro"] + "\n#define " +
                                values["macro"] + " " + values["section"] +
                                "\n#endif\n";
  }
  return values;
}

/// Returns bytes as decimal numbers, twelve per line.
static std::string printBytes(StringRef bytes) {
  std::string text;
  text.reserve(bytes.size() * 5);
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += std::to_string(static_cast<unsigned char>(bytes[i]));
    text += i % 12 == 11 || i + 1 == bytes.size() ? ",\n" : ",";
  }
  return text;
}

/// Writes a piece of the weights into the folder in the form that `options`
/// request, and sets its hash.
static LogicalResult addWeights(exec::ProgramOp program,
                                const EmitOptions &options,
                                OutputFolder &folder, WeightsPiece &piece,
                                std::vector<std::string> &files) {
  std::string stem = getSourceFolder(options.package).str() + piece.symbol;
  Values values = getWeightValues(program, piece);
  if (options.weights == "array") {
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    if (failed(writeWeights(program, piece, stream)))
      return failure();
    values["values"] = printBytes(bytes);
    files.push_back(stem + ".c");
    return folder.add(files.back(), fillTemplate("weights.c.in", values));
  }
  files.push_back(stem + ".bin");
  if (failed(folder.add(files.back(), [&](llvm::raw_pwrite_stream &stream) {
        return writeWeights(program, piece, stream);
      })))
    return failure();
  if (options.weights == "file")
    return success();
  files.push_back(stem + ".S");
  return folder.add(files.back(), fillTemplate("weights.S.in", values));
}

/// Writes the files for the program's custom operators: the file that calls the
/// custom functions, unless kernels do that, and the custom headers that the
/// module holds. The user's own build must find headers that the module does
/// not hold.
static LogicalResult addCustom(exec::ProgramOp program,
                               const EmitOptions &options, OutputFolder &folder,
                               std::vector<std::string> &files) {
  if (exec::getSteps<exec::CustomOp>(program).empty())
    return success();
  auto add = [&](const std::string &name, StringRef text) -> LogicalResult {
    std::string path = getSourceFolder(options.package).str() + name;
    if (llvm::is_contained(files, path))
      return program.emitError()
             << "the header of a custom operator is called '" << name
             << "' like another file of the module; rename it";
    files.push_back(path);
    return folder.add(path, text);
  };
  std::string name = program.getSymName().str() + "_custom.c";
  if ((!isCuda(program) && failed(add(name, printCustomFile(program)))) ||
      failed(add("nnc_custom.h", *getEmbedded("runtime/nnc_custom.h"))))
    return failure();
  // Functions that nnc provides are declared in headers of the runtime, which
  // may include others.
  llvm::SetVector<StringRef> headers;
  for (auto custom : exec::getSteps<exec::CustomOp>(program))
    headers.insert(custom.getHeader());
  for (size_t i = 0; i < headers.size(); ++i) {
    std::string header = headers[i].str();
    std::optional<StringRef> text = getEmbedded("runtime/" + header);
    if (!text)
      continue;
    for (StringRef line : llvm::split(*text, '\n'))
      if (line.consume_front("#include \"") && line != "nnc_custom.h\"")
        headers.insert(line.split('"').first);
    if (failed(add(header, *text)))
      return failure();
  }
  auto texts = program->getParentOp()->getAttrOfType<DictionaryAttr>(
      nn::kCustomFilesAttr);
  if (!texts)
    return success();
  for (NamedAttribute file : texts)
    if (failed(add(file.getName().str(),
                   cast<StringAttr>(file.getValue()).getValue())))
      return failure();
  return success();
}

LogicalResult codegen::emit(ModuleOp module, StringRef target,
                            const EmitOptions &options,
                            std::error_code *systemError) {
  std::error_code ignored;
  auto programs = llvm::to_vector(module.getOps<exec::ProgramOp>());
  if (programs.empty())
    return module.emitError("needs an exec.program to be written");
  exec::ProgramOp program = programs.front();
  for (exec::ProgramOp other : llvm::drop_begin(programs))
    if (exec::getModuleName(other) != program.getSymName())
      return other.emitError("is of no module with the program '")
             << program.getSymName() << "'";
  std::string name = program.getSymName().str();
  FailureOr<std::string> runtime = amalgamateRuntime(programs, options);
  if (failed(runtime))
    return failure();
  FailureOr<OutputFolder> folder = OutputFolder::create(
      program.getLoc(), target, systemError ? *systemError : ignored);
  if (failed(folder))
    return failure();
  std::string sources = getSourceFolder(options.package).str() + name;
  std::vector<std::string> files = {sources + ".h",
                                    sources + getSourceExtension(program).str(),
                                    sources + "_runtime.h"};
  std::vector<std::string> weightFiles;
  SmallVector<WeightsPiece> weights = listWeights(program);
  for (WeightsPiece &piece : weights)
    if (failed(addWeights(program, options, *folder, piece, weightFiles)))
      return failure();
  if (failed(folder->add(files[0], printHeader(programs, options))) ||
      failed(
          folder->add(files[1], printPrograms(programs, options, weights))) ||
      failed(folder->add(files[2], *runtime)))
    return failure();
  if (hasBlocks(programs)) {
    FailureOr<std::string> emulation = amalgamateEmulation(programs);
    files.push_back(getSourceFolder(options.package).str() + "nnc_emulation.h");
    if (failed(emulation) || failed(folder->add(files.back(), *emulation)))
      return failure();
  }
  if (takesPool(program, options)) {
    for (StringRef header : {"nnc_runtime.h", "pool.h"}) {
      std::optional<StringRef> text = getEmbedded(("runtime/" + header).str());
      if (!text)
        continue;
      // In the emitted folder, all headers are in one directory.
      std::string flat = text->str();
      for (size_t at; (at = flat.find("\"runtime/")) != std::string::npos;)
        flat.erase(at + 1, strlen("runtime/"));
      files.push_back(getSourceFolder(options.package).str() + header.str());
      if (failed(folder->add(files.back(), flat)))
        return failure();
    }
  }
  if (!options.metadata.empty()) {
    files.push_back(sources + "_metadata.h");
    if (failed(folder->add(files.back(), options.metadata)))
      return failure();
  }
  llvm::append_range(files, weightFiles);
  if (failed(addCustom(program, options, *folder, files)))
    return failure();
  for (auto &[file, text] : printPackage(program, options, files)) {
    files.push_back(file);
    if (failed(folder->add(file, text)))
      return failure();
  }
  if (failed(folder->add("manifest.json",
                         printManifest(programs, options, files))))
    return failure();
  return folder->commit();
}
