//===- Codegen.h - Writes a program as a folder of source -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_CODEGEN_CODEGEN_H
#define NNC_CODEGEN_CODEGEN_H

#include "dialects/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <system_error>

namespace nnc::codegen {

/// What a user chooses about the written folder.
struct EmitOptions {
  /// Where the weights go: "embed" (a binary file that the assembler includes),
  /// "array" (a C array), "file" (a binary file that the caller maps).
  std::string weights = "embed";
  /// That the program has memory for.
  int threads = 1;

  /// Whether to write <name>_run_parallel, which takes a pool of threads.
  bool takesPool() const { return threads > 1; }
};

/// Writes the only program of `module` to `folder`: <name>.h, <name>.cpp,
/// <name>_runtime.h, the weights, CMakeLists.txt and manifest.json. The bytes
/// depend on the program and the options alone. All or nothing: the files
/// appear in a temporary folder beside it, which then takes its place. A folder
/// that holds anything but an earlier output is left alone, with an error.
/// Where the system refuses to write, `systemError` says why.
mlir::LogicalResult emit(mlir::ModuleOp module, llvm::StringRef folder,
                         const EmitOptions &options,
                         std::error_code *systemError = nullptr);

/// The text of `header`, a path below runtime/, and of all that it includes.
std::string getRuntimeText(llvm::StringRef header);

} // namespace nnc::codegen

#endif // NNC_CODEGEN_CODEGEN_H
