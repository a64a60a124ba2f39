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
#include <utility>
#include <vector>

namespace nnc::codegen {

/// The build system for which the emitted folder is a package. The package
/// contains the files that this build system looks for; with `none` it only
/// contains a CMakeLists.txt.
enum class Package { none, zephyr, espIdf, platformio, arduino };

/// A user's choices about the emitted folder.
struct EmitOptions {
  /// Form of the weights: "embed" (a binary file that the assembler includes),
  /// "array" (a C array), or "file" (a binary file that the caller maps into
  /// memory).
  std::string weights = "embed";
  /// Number of threads for which the arena has scratch memory.
  int threads = 1;
  Package package = Package::none;
  /// The optimization level in the build files where the user has set none.
  std::string level = "-O3";
  /// The value of --optimize that the manifest records: "size", "balance" or
  /// "speed". It matters for code without an operating system.
  std::string optimize = "balance";
  /// The text of <name>_metadata.h, or empty if the model has no metadata.
  std::string metadata;
  /// The keys and values of the model's metadata, for the manifest.
  std::vector<std::pair<std::string, std::string>> properties;
  /// The name of a shared library of the module that will be added to the
  /// folder, for the manifest; empty if there is none.
  std::string library;
};

/// Returns the subfolder of the emitted folder that holds headers and sources,
/// as a prefix of their paths: "src/" in an Arduino library, otherwise "".
llvm::StringRef getSourceFolder(Package package);

/// Writes the programs of `module` to `folder`: <name>.h, <name>.cpp,
/// <name>_runtime.h, the weights, files of the build system and manifest.json.
/// The contents of headers and sources do not depend on the package. All bytes
/// depend only on the programs and the options. Writing is atomic: the files
/// are written to a temporary folder beside `folder`, which then replaces
/// `folder`. If `folder` holds anything but an earlier output, it is not
/// changed, and an error is emitted. If the system fails to write,
/// `systemError` is set.
mlir::LogicalResult emit(mlir::ModuleOp module, llvm::StringRef folder,
                         const EmitOptions &options,
                         std::error_code *systemError = nullptr);

/// Returns the text of the manifest.json that emit() writes for a module with
/// default options, but without the names of files.
std::string describe(mlir::ModuleOp module);

/// Returns true if a run of a CUDA program sets the counters of blocks to zero
/// by a memset, a launch of its own, as its first layer cannot do it.
bool clearsByMemset(exec::ProgramOp program);

/// Returns the bytes of the weights of a program, including the headers of its
/// pieces.
uint64_t getWeightsBytes(exec::ProgramOp program);

/// Returns the text of `header`, a path below runtime/, in which all headers
/// that it includes are inlined.
std::string getRuntimeText(llvm::StringRef header);

} // namespace nnc::codegen

#endif // NNC_CODEGEN_CODEGEN_H
