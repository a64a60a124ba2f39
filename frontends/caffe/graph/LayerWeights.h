//===- LayerWeights.h - Which blobs are those of a layer --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_GRAPH_LAYERWEIGHTS_H
#define NNC_FRONTENDS_CAFFE_GRAPH_LAYERWEIGHTS_H

#include "frontends/caffe/file/Weights.h"

namespace nnc::caffe {

/// Finds the blobs of layers by the names of the layers and, where layers share
/// weights, by the names of the parameters.
class LayerWeights {
public:
  /// `weights` are null if there is no file of weights.
  LayerWeights(const schema::NetParameter &net, const Weights *weights);

  const Weights *getFile() const { return weights; }
  /// Returns blob `i` of a layer, or null if the file does not have it.
  const Blob *find(const schema::LayerParameter &layer, size_t i) const;
  /// Returns the number of blobs of a layer.
  size_t count(const schema::LayerParameter &layer) const;

  /// Returns true if there is a file with blobs.
  bool hasAny() const { return weights && !weights->layers.empty(); }
  /// Notes that a layer needs weights, but hasAny() is false.
  void noteMissing() { ++missing; }
  /// Returns the number of blobs of which noteMissing() was told.
  int64_t getNumMissing() const { return missing; }

private:
  const Weights *weights;
  int64_t missing = 0;
  /// The blobs of the layers that the file has, by the name that the network
  /// gives to a parameter.
  llvm::StringMap<const Blob *> shared;
};

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_GRAPH_LAYERWEIGHTS_H
