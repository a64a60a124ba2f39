//===- Version.h - The version of nnc -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_VERSION_H
#define NNC_TOOLS_NNC_VERSION_H

namespace nnc::tools {

/// The versions of nnc and of LLVM, and the commit. The build generates the
/// source, see scripts/cmake/NNCVersion.cmake.
extern const char *const versionText;

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_VERSION_H
