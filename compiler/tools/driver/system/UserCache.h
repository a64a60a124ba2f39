//===- UserCache.h - The folder of nnc's cache ---------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SYSTEM_USERCACHE_H
#define NNC_COMPILER_TOOLS_DRIVER_SYSTEM_USERCACHE_H

#include <optional>
#include <string>

namespace nnc::tools {

/// Returns the path of nnc's folder below $XDG_CACHE_HOME or $HOME/.cache, or
/// nullopt if neither variable is set. The folder need not exist.
std::optional<std::string> findUserCache();

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SYSTEM_USERCACHE_H
