//===- Dilations.h - Dilated convolutions made of blocks --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// TensorFlow computes a convolution with a dilation on the phases of its image:
// SpaceToBatchND makes each phase a sample, a convolution without dilation
// follows, and BatchToSpaceND joins the phases. The pads and crops between them
// depend on the size of the image, so that these nodes differ from size to
// size, while the convolution that they compute does not.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_DILATIONS_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_DILATIONS_H

#include "frontends/tensorflow/graph/Frames.h"

namespace nnc::tensorflow {

/// Replaces SpaceToBatchND, a convolution and BatchToSpaceND by a convolution
/// that has, behind its filters, the sizes of blocks, the pads and the crops as
/// inputs. For one spatial axis, an ExpandDims and a Squeeze stand around the
/// convolution. `results` are references to the results of the graph.
void reduceDilations(Graph &graph, llvm::ArrayRef<std::string> results,
                     const MadeParts &parts);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_DILATIONS_H
