//===- ModuleFile.cpp - Serialization of a module -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/ModuleFile.h"

#include "mlir/Bytecode/BytecodeWriter.h"

using namespace mlir;

std::string nnc::quantize::printModule(ModuleOp module, llvm::StringRef path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!path.ends_with(".mlir")) {
    // Writing fails only if an unsupported bytecode version is requested.
    (void)writeBytecodeToFile(module, stream);
    return text;
  }
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/false);
  module->print(stream, flags);
  stream << '\n';
  return text;
}
