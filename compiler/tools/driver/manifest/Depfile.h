//===- Depfile.h - What the emitted code was made from, for make ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H

#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// Returns a rule of make that says that the module's C++ source depends on the
/// files `sources`, and an empty rule for each of these, so that make goes on
/// where one is gone that the model does not need any more. Paths are absolute,
/// since the build need not run in nnc's folder.
std::string printDepfile(const Manifest &manifest,
                         const std::vector<std::string> &sources);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_DEPFILE_H
