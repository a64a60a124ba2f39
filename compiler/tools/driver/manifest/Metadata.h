//===- Metadata.h - A model's metadata as a C header ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_METADATA_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_METADATA_H

#include <string>
#include <utility>
#include <vector>

namespace nnc::tools {

/// Returns the text of a C header that defines each entry of the model's
/// metadata as a string, so that a program has, for instance, its labels
/// without reading the model. Key `character` of model `rec` becomes
/// `rec_metadata_character`.
std::string
metadataHeader(const std::string &name,
               const std::vector<std::pair<std::string, std::string>> &entries);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_METADATA_H
