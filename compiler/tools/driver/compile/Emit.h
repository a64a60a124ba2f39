//===- Emit.h - From an exec program to an emitted folder -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_COMPILE_EMIT_H
#define NNC_COMPILER_TOOLS_DRIVER_COMPILE_EMIT_H

#include "codegen/Codegen.h"

#include <string>
#include <system_error>

namespace nnc::tools {

/// Whether the model's weights are kept when a program is emitted, or freed as
/// soon as they are encoded.
enum class ModelWeights { keep, release };

/// Encodes the weights of the program in `module` and writes its code to a new
/// folder. The encoded weights are freed afterwards, so a module can be emitted
/// only once. If the system fails to write, `failure` is set to its error.
mlir::LogicalResult emitCode(mlir::ModuleOp module, const std::string &folder,
                             const codegen::EmitOptions &options,
                             ModelWeights weights = ModelWeights::keep,
                             std::error_code *failure = nullptr);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_EMIT_H
