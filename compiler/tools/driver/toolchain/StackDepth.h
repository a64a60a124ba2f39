//===- StackDepth.h - Stack depth from GCC's call graphs ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// The stack that a function and all functions that it calls need.
struct StackDepth {
  int64_t bytes = 0;
  /// Functions of libraries whose stack is not known and not counted.
  std::vector<std::string> beyond;
};

/// Returns the stack depth of the function `root` from the call graphs that GCC
/// writes with -fcallgraph-info=su, of which there is one for each source.
/// Returns nullopt if the depth is not known: if there is no such function, or
/// if there is recursion, a call through a pointer, or an array whose size is
/// not known at compile time. The compiler knows no functions of libraries;
/// `findOther` returns their depth, or nullopt, and that of functions in the
/// graphs as their machine code tells it.
std::optional<StackDepth> findStackDepth(
    llvm::ArrayRef<std::string> graphs, llvm::StringRef root,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> findOther);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_STACKDEPTH_H
