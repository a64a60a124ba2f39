//===- Load.h - Reads a network and its weights -----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_FILE_LOAD_H
#define NNC_FRONTENDS_CAFFE_FILE_LOAD_H

#include "frontends/caffe/file/Weights.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace nnc::caffe {

/// A network as Caffe runs it in the phase TEST, and its weights.
struct LoadedModel {
  /// The network, whose layers all are in `layer`: older ones are upgraded,
  /// inputs are layers of type Input, and layers of other phases are left out.
  schema::NetParameter net;
  /// The blobs that layers of other phases compute, and the first such layer of
  /// each.
  llvm::StringMap<std::string> leftOut;
  std::unique_ptr<Weights> weights; ///< null if there are none
  std::string sha256;               ///< of both files
};

/// Reads the network at `path`, a text (.prototxt) or a .caffemodel that has
/// the whole network, and the weights at `weights`. If that is empty, the file
/// of the same name with the extension .caffemodel is read if there is one.
/// Returns nullopt after an error if a file is not valid.
std::optional<LoadedModel>
loadModel(llvm::StringRef path, llvm::StringRef weights, Problems &problems);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_FILE_LOAD_H
