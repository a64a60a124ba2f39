//===- ObjectCache.h - Object files of the runner -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_OBJECTCACHE_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_OBJECTCACHE_H

#include "compiler/tools/driver/toolchain/Toolchain.h"

#include <cstdint>

namespace nnc::tools {

/// The cache of those object files of the runner that do not depend on a
/// module, in the user's cache folder. Compiling them takes longer than
/// compiling a small module, and without the cache each run of nnc would do it
/// again.
///
/// The name of a file is a hash of everything that the object depends on: the
/// text of the runner, the compiler's command, flags, version, path and time of
/// modification, the processor of this machine, and the environment variables
/// that change where a compiler looks for headers. The cache holds a limited
/// number of files and removes those that were used least recently. A cache
/// that cannot be read or written is ignored without a message.
class ObjectCache {
public:
  /// Creates the cache for `toolchain`. The compiler is asked for its version
  /// only when an object is needed.
  explicit ObjectCache(const Toolchain &toolchain);

  /// Copies the object of `job` from the cache to the job's path. Returns false
  /// if the cache does not have it. Paths below `folder`, which holds the
  /// runner's sources, count as relative to it.
  bool restore(const CompileJob &job, const std::string &folder);

  /// Stores the objects of `jobs`, which must be compiled, in the cache.
  void store(llvm::ArrayRef<CompileJob> jobs, const std::string &folder);

private:
  void open();
  std::string getPath(const CompileJob &job, const std::string &folder) const;
  void removeOldest() const;

  /// A toolchain whose compiler is that of the cached objects. Sources that
  /// call CUDA are compiled by another one, and are not cached.
  Toolchain toolchain;
  bool isOpen = false;
  std::string place; ///< path of the cache folder; empty if there is none
  std::string base;  ///< text of what all objects of the toolchain depend on
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_OBJECTCACHE_H
