//===- Vmap.h - The nodes of torch.vmap -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A program that is not decomposed has the nodes of a function that torch.vmap
// maps over a batch between two marks. They see one slice of the batch: nodes
// of their own take slices of tensors and join results.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_VMAP_H
#define NNC_FRONTENDS_TORCH_GRAPH_VMAP_H

#include "frontends/torch/file/Program.h"

namespace nnc::torch {

/// Returns true if a node is the mark in front of the nodes of a torch.vmap.
bool isVmapStart(const json::Object &node);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_VMAP_H
