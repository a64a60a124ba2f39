//===- Version.h - Which nnc this is --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_VERSION_H
#define NNC_TOOLS_NNC_VERSION_H

namespace nnc::tools {

/// The version, the commit and LLVM's version. Its source is written in the
/// build, see scripts/cmake/NNCVersion.cmake.
extern const char *const versionText;

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_VERSION_H
