//===- ParseJson.h - Safe parsing of untrusted JSON -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_PARSEJSON_H
#define NNC_FRONTENDS_COMMON_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace nnc::frontends {

/// Parses untrusted JSON from a file or a model. LLVM's parser recurses for
/// each nested array or object, so that a short text can exhaust the stack.
/// Therefore a text that is nested more than 128 levels deep or longer than 64
/// MiB is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_PARSEJSON_H
