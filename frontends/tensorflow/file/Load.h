//===- Load.h - Reads TensorFlow's files ------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_FILE_LOAD_H
#define NNC_FRONTENDS_TENSORFLOW_FILE_LOAD_H

#include "frontends/common/Problems.h"
#include "frontends/tensorflow/tensorflow.pb.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc::tensorflow {

using namespace nnc::frontends;

/// An input or output of the model.
struct Port {
  std::string name;   ///< name for users
  std::string tensor; ///< reference to the tensor in the graph: "node:0"
  pb::DataType type = pb::DT_INVALID; ///< element type, if it is stated
  pb::TensorShapeProto shape;         ///< shape of an input
};

/// A model that has been read: a frozen graph, or a graph of a SavedModel with
/// one of its signatures.
struct LoadedModel {
  pb::GraphDef graph;
  std::vector<Port> inputs, outputs;
  std::vector<Port> texts; ///< inputs that are strings
  /// Nodes of the main graph that run whether their results are read or not.
  std::vector<std::string> effects;
  /// The path of the file `saved_model.pb` of a SavedModel, beside which the
  /// variables are; empty for a frozen graph.
  std::string savedModel;
  std::string sha256;  ///< of the file with the graph
  std::string version; ///< the TensorFlow that wrote a SavedModel, or empty
};

/// Returns the path of the file with the graph of a SavedModel if `path` is its
/// folder or that file itself; otherwise an empty string.
std::string findSavedModel(llvm::StringRef path, bool isFolder);

/// Reads the model at `path`, with the signature `signature` of a SavedModel
/// or, if that is empty, its default one. Returns null after an error.
std::shared_ptr<LoadedModel>
loadModel(llvm::StringRef path, llvm::StringRef signature, Problems &problems);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_FILE_LOAD_H
