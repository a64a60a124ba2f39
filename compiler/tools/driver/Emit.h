//===- Emit.h - From an exec program to an emitted folder -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_EMIT_H
#define NNC_TOOLS_DRIVER_EMIT_H

#include "codegen/Codegen.h"

#include <string>
#include <system_error>

namespace nnc::tools {

/// What becomes of the model's weights when a program is emitted: others may
/// need them later, or their memory is freed as soon as they are encoded.
enum class ModelWeights { keep, release };

/// Encodes the weights of the program in `module` and writes its code to a new
/// folder. The encoded weights are freed then: a module is emitted once. Where
/// the system refused to write, `failure` says why.
mlir::LogicalResult emitCode(mlir::ModuleOp module, const std::string &folder,
                             const codegen::EmitOptions &options,
                             ModelWeights weights = ModelWeights::keep,
                             std::error_code *failure = nullptr);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_EMIT_H
