//===- Weights.h - The blobs of a .caffemodel -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_FILE_WEIGHTS_H
#define NNC_FRONTENDS_CAFFE_FILE_WEIGHTS_H

#include "frontends/caffe/caffe.pb.h"
#include "frontends/common/Problems.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace nnc::caffe {
using namespace nnc::frontends;

/// One array of a layer's weights.
struct Blob {
  /// The sizes, of which old files always have four: those in front are 1.
  llvm::SmallVector<int64_t> shape;
  /// The elements, little-endian f32, in the mapped file or in `copied`.
  llvm::StringRef bytes;
  /// Elements that do not lie in the file one after the other as f32.
  std::shared_ptr<std::vector<float>> copied;

  int64_t getNumElements() const {
    return static_cast<int64_t>(bytes.size() / sizeof(float));
  }
  /// Returns the element with the index `i`, which is in range.
  float get(int64_t i) const;
};

/// A file of weights. Its blobs are read where they lie in the file.
struct Weights {
  std::string path;
  std::shared_ptr<llvm::MemoryBuffer> file;
  /// The blobs of each layer, by the layer's name.
  llvm::StringMap<std::vector<Blob>> layers;
  /// The network in the file without its blobs, as a NetParameter in protobuf's
  /// binary encoding.
  std::string network;

  /// Returns the blobs of a layer, or null if the file has no such layer.
  const std::vector<Blob> *find(llvm::StringRef layer) const;
};

/// Maps the file at `path` and finds its blobs. Returns null after an error if
/// it is not a file of Caffe's weights; the error says what else it looks like.
/// `location` is that of the error: the model's file.
std::unique_ptr<Weights> loadWeights(llvm::StringRef path, Problems &problems);

/// Moves the blobs of `net`, which was read from text, to weights of their
/// layers.
void takeBlobs(schema::NetParameter &net, Weights &weights);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_FILE_WEIGHTS_H
