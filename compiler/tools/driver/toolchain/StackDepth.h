//===- StackDepth.h - Stack of a module, as its compiler tells it ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// The part of the stack that a function and all that it calls need.
struct StackDepth {
  int64_t bytes = 0;
  /// Functions whose stack is not known, and not counted: those of libraries.
  std::vector<std::string> beyond;
};

/// Returns the depth of the function `root` by the call graphs that GCC writes
/// with -fcallgraph-info=su (one file for each source). nullopt if it is not
/// known: without such a function, or with recursion, calls by pointers, or
/// arrays of a size that is not known when compiling.
std::optional<StackDepth> findStackDepth(llvm::ArrayRef<std::string> graphs,
                                         llvm::StringRef root);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H
