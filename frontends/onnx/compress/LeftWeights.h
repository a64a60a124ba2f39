//===- LeftWeights.h - Weights that nnc does not compress -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Adds to `left` the constants that users would consider weights although no
/// layer of the main graph reads them directly: constants from which other
/// nodes compute the weights of a layer, weights in the bodies of If, Loop and
/// Scan, and weights of other operators, such as the table of a Gather. Entries
/// that `left` already has are not changed.
void findLeftWeights(const GraphIndex &index,
                     const std::set<std::string> &exclude,
                     std::vector<compression::LeftSummary> &left);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H
