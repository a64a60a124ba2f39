//===- Manifest.h - What manifest.json says about an emitted folder -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_MANIFEST_H
#define NNC_TOOLS_DRIVER_MANIFEST_H

#include "compiler/tools/driver/Tensor.h"

namespace nnc::tools {

/// An input or output of the model.
struct Port {
  std::string name;  ///< the model's own
  std::string field; ///< of the C struct
  Dtype dtype;
  std::vector<int64_t> shape;
  int64_t bytes() const;
};

struct LayerInfo {
  std::string name;
  std::string routine;
  std::vector<int64_t> params;
  std::string dtype;
  std::string layout;
  std::vector<int64_t> shape; ///< logical
  int64_t multiplyAdds = 0;
  int64_t operations = 0;
};

struct Manifest {
  std::string folder;
  std::string name;
  std::string sha256;
  std::string target;
  std::vector<std::string> isa;   ///< features that a CPU must have
  std::vector<std::string> flags; ///< of the compiler, the target's among them
  std::vector<std::string> files;
  bool threads = false;
  std::string weights; ///< "embed", "array", "file", or "none" to store
  int64_t weightBytes = 0, arenaBytes = 0, lowerBound = 0;
  std::vector<Port> inputs, outputs;
  std::vector<LayerInfo> layers;

  int64_t multiplyAdds() const;
};

llvm::Expected<Manifest> readManifest(const std::string &folder);

/// The port that the model or else the C struct calls `name`; an empty name
/// stands for the only one.
llvm::Expected<size_t> findPort(const std::vector<Port> &, llvm::StringRef name,
                                llvm::StringRef what);

/// What the file of each port is called, without its extension: as the C field.
/// Where the C field of one port is the name of another one, these are called
/// by the model's names, or where files cannot be called so by `kind` ("input")
/// and number.
std::vector<std::string> fileStems(const std::vector<Port> &,
                                   llvm::StringRef kind);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_MANIFEST_H
