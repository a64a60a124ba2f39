//===- Metadata.h - What a model says about itself, for C -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_METADATA_H
#define NNC_TOOLS_DRIVER_METADATA_H

#include <string>
#include <utility>
#include <vector>

namespace nnc::tools {

/// A header with each entry of the model's metadata as a C string, so that a
/// program has its labels or characters without reading the model: key
/// `character` of model `rec` becomes `rec_metadata_character`.
std::string
metadataHeader(const std::string &name,
               const std::vector<std::pair<std::string, std::string>> &entries);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_METADATA_H
