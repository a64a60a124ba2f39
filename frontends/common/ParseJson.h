//===- ParseJson.h - JSON that anybody may have written ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_PARSEJSON_H
#define NNC_FRONTENDS_COMMON_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace nnc::frontends {

/// Parses JSON from a file or a model. LLVM's parser calls itself for each
/// array or object within another one, so that a short text can use up the
/// stack: one that is nested more than 128 levels deep, or longer than 64 MiB,
/// is an error that says so.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_PARSEJSON_H
