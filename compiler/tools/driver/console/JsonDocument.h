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

/// Returns a number for JSON, which has none that are not finite: null then, or
/// where there is none.
llvm::json::Value orNull(std::optional<double> value);

/// Prints the JSON document of a command that ends with `code` to stdout. An
/// object also says "ok", "exit_code" and "problems".
void printJson(llvm::json::Value value, ExitCode code = ExitCode::done);

/// Whether the command has printed its document.
bool isJsonPrinted();

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_JSONDOCUMENT_H
