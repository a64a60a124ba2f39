//===- UserCache.cpp - The folder of nnc's cache --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/system/UserCache.h"

#include <cstdlib>
#include <utility>

namespace nnc::tools {

std::optional<std::string> findUserCache() {
  for (auto [variable, rest] :
       {std::pair("XDG_CACHE_HOME", "/nnc"), std::pair("HOME", "/.cache/nnc")})
    if (const char *folder = std::getenv(variable); folder && *folder)
      return std::string(folder) + rest;
  return std::nullopt;
}

} // namespace nnc::tools
