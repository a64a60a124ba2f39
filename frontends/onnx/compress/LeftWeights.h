//===- LeftWeights.h - Weights that nnc does not compress -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Adds to `left` what a reader of the model takes for weights, but no layer of
/// the main graph has as a constant: what other nodes compute the weights of a
/// layer from, weights in the bodies of If, Loop and Scan, and those of other
/// operators, such as the table of a Gather. Constants that are in `left` stay
/// as they are there.
void findLeftWeights(const GraphIndex &index,
                     const std::set<std::string> &exclude,
                     std::vector<compression::LeftSummary> &left);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LEFTWEIGHTS_H
