//===- JsonDocument.cpp - The JSON document that a command prints ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"

#include "compiler/tools/driver/console/Diagnostics.h"
#include "compiler/tools/driver/console/Terminal.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace nnc::tools {

llvm::json::Value orNull(std::optional<double> value) {
  return value && std::isfinite(*value) ? llvm::json::Value(*value)
                                        : llvm::json::Value(nullptr);
}

static bool jsonPrinted = false;

void printJson(llvm::json::Value value, ExitCode code) {
  if (llvm::json::Object *object = value.getAsObject()) {
    object->try_emplace("ok", code == ExitCode::done);
    object->try_emplace("exit_code", int(code));
    object->try_emplace("problems", problemsToJson());
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", value);
  writeOut(text + "\n");
  jsonPrinted = true;
}

bool isJsonPrinted() { return jsonPrinted; }

} // namespace nnc::tools
