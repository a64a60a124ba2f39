//===- JsonDocument.h - The JSON document that a command prints -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_JSONDOCUMENT_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_JSONDOCUMENT_H

#include "compiler/tools/driver/console/ExitCode.h"

#include "llvm/Support/JSON.h"

#include <optional>

namespace nnc::tools {

/// Returns a number for JSON, or null if there is no value or it is not finite,
/// which JSON cannot represent.
llvm::json::Value orNull(std::optional<double> value);

/// Prints the JSON document of a command that ends with `code` to stdout. If
/// `value` is an object, the keys "ok", "exit_code" and "problems" are added.
void printJson(llvm::json::Value value, ExitCode code = ExitCode::done);

/// Returns true if the command has printed its document.
bool isJsonPrinted();

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_JSONDOCUMENT_H
