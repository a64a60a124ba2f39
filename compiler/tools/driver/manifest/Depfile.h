//===- Depfile.h - Dependencies of emitted code for make ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H

#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// Returns a rule of make according to which the module's C++ source depends on
/// the files `sources`. It adds an empty rule for each of these, so that make
/// does not fail if a file is gone that the model no longer needs. Paths are
/// absolute, because the build need not run in nnc's current folder.
std::string printDepfile(const Manifest &manifest,
                         const std::vector<std::string> &sources);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H
