//===- LayerWeights.cpp - Which blobs are those of a layer ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/LayerWeights.h"

using namespace nnc::caffe;

LayerWeights::LayerWeights(const schema::NetParameter &net,
                           const Weights *weights)
    : weights(weights) {
  if (!weights)
    return;
  for (const schema::LayerParameter &layer : net.layer()) {
    const std::vector<Blob> *blobs = weights->find(layer.name());
    for (int i = 0; blobs && i < layer.param_size(); ++i)
      if (!layer.param(i).name().empty() && size_t(i) < blobs->size())
        shared.try_emplace(layer.param(i).name(), &(*blobs)[i]);
  }
}

const Blob *LayerWeights::find(const schema::LayerParameter &layer,
                               size_t i) const {
  if (!weights)
    return nullptr;
  if (const std::vector<Blob> *blobs = weights->find(layer.name()))
    return i < blobs->size() ? &(*blobs)[i] : nullptr;
  if (i >= size_t(layer.param_size()))
    return nullptr;
  auto found = shared.find(layer.param(static_cast<int>(i)).name());
  return found == shared.end() ? nullptr : found->second;
}

size_t LayerWeights::count(const schema::LayerParameter &layer) const {
  size_t count = 0;
  while (find(layer, count))
    ++count;
  return count;
}
