//===- Manifest.h - Contents of manifest.json -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_MANIFEST_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_MANIFEST_H

#include "compiler/routines/Optimize.h"
#include "compiler/tools/driver/tensors/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace nnc::tools {

/// Returns the optimization level at which a compiler builds code unless
/// another one is given.
inline const char *getLevel(Optimize optimize) {
  return optimize == Optimize::size ? "-Os" : "-O3";
}

/// An input or output of the model.
struct Port {
  std::string name;  ///< name in the model
  std::string field; ///< name of the field of the C struct
  Dtype dtype;       ///< element type in memory
  /// The name of the narrower element type that the model declares, such as
  /// "i4". It is empty if the model declares the type in memory.
  std::string modelType;
  std::vector<int64_t> shape; ///< the largest shape, if it depends on sizes
  /// The dimensions as expressions of the module's sizes. The list is empty if
  /// no dimension depends on sizes.
  std::vector<std::string> dims;
  std::string size; ///< name of the size that this port tells, or empty
  /// Offset in the arena, if the port lies there.
  std::optional<int64_t> arenaOffset;
  /// The scales and zero points of quantized integers, which represent (integer
  /// - zero point) * scale. There is one of each, or one for each index of
  /// `axis`, or none if the elements are not quantized.
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  std::optional<int64_t> axis;
  /// Rounding of real numbers: "half_even" or "half_away".
  std::string rounding;
  int64_t bytes() const;
  /// Returns the name of the element type that the model declares.
  std::string typeName() const;
  /// Returns the name, the field, the element type and the shape with the keys
  /// of the manifest, and also scale and zero point if the elements are
  /// quantized.
  llvm::json::Object toJson() const;
  /// Returns a phrase such as "scale 0.0078125, zero point -1", or an empty
  /// string if the elements are not quantized.
  std::string describeQuantization() const;
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
  /// Product of the known trip counts of the loops around it.
  int64_t trips = 1;
  /// Whether the trip count of such a loop depends on data.
  bool hasOpenTrips = false;
  /// The number of the custom operator, if a custom function computes the
  /// layer.
  std::optional<int64_t> customId;
};

/// A memory that holds a part of the arena or of the weights.
struct Memory {
  std::string name;
  int64_t bytes = 0; ///< bytes of that part
  int64_t size = 0;  ///< most bytes that the user lets the module take
  bool slow = false;
};

/// The memory of a value or of scratch in the arena, and the layers between
/// which it is in use. If the arena is divided among several memories, each of
/// them begins where the previous one ends.
struct ArenaPlace {
  std::string name;
  std::string memory; ///< empty for an arena that is one piece
  int64_t offset = 0, bytes = 0;
  int64_t first = 0, last = 0; ///< indices of layers
  bool isScratch = false;      ///< working memory of a layer
};

/// A size that the caller of the module chooses, or that is found in a run. Its
/// possible values are low, low + step, ..., high.
struct SizeInfo {
  std::string name;
  int64_t low = 1, high = 1, step = 1;
  bool found = false;
};

/// The number of launches of a run: kernels, copies and memsets.
struct Launches {
  int64_t least = 0;
  std::optional<int64_t> most; ///< nothing if data decide it

  /// Returns for instance "57", "3 to 5" or "at least 3".
  std::string describe() const;
};

struct Manifest {
  std::string folder;
  std::string name;
  std::string module; ///< stem of the names of the files, if it is not `name`
  std::string sha256;
  std::string target;
  std::vector<std::string> isa; ///< features that a CPU must have
  /// Flags of the compiler, including those of the target.
  std::vector<std::string> flags;
  /// Architectures of GPUs, if the module is CUDA; empty for other modules.
  std::vector<std::string> architectures;
  /// Loops, branches and sizes for which a run of a CUDA module waits, because
  /// the CPU decides them by a value in the GPU's memory.
  std::vector<std::string> decisions;
  /// "host" if inputs and outputs of a CUDA module are in the CPU's memory,
  /// from and to which a run copies; otherwise empty.
  std::string io;
  /// The number of launches of a run of a CUDA module.
  Launches launches;
  Optimize optimize = Optimize::balance;
  std::vector<std::string> files;
  /// File name of the shared library in `folder`, or empty.
  std::string library;
  bool threads = false;
  /// "embed", "array", "file", or "none" if there are no weights.
  std::string weights;
  int64_t weightBytes = 0, arenaBytes = 0, lowerBound = 0;
  std::vector<SizeInfo> sizes; ///< sizes found in a run come last
  std::vector<Port> inputs, outputs;
  std::vector<Port> state; ///< values that the module keeps between runs
  std::vector<LayerInfo> layers;
  std::vector<ArenaPlace> arena;
  std::vector<Memory> memories;       ///< empty for an arena that is one piece
  std::vector<Memory> weightMemories; ///< empty for weights in one piece

  /// Further functions of the module, for other shapes of the inputs.
  std::vector<Manifest> others;

  /// Returns a separate manifest for each function of the module.
  std::vector<Manifest> split() const;
  /// Returns the stem of the names of the module's files.
  const std::string &getModule() const {
    return module.empty() ? name : module;
  }
  /// Returns true if the module is CUDA.
  bool isCuda() const { return !architectures.empty(); }
  /// Returns the file name of the source with the module's layers.
  std::string getSource() const {
    return getModule() + (isCuda() ? ".cu" : ".cpp");
  }
  /// Returns the sizes that the caller chooses.
  llvm::ArrayRef<SizeInfo> callersSizes() const;
  /// Returns a copy in which inputs and outputs have their shapes at the given
  /// sizes. Sizes for which `point` has no value are the largest.
  Manifest atSizes(llvm::ArrayRef<int64_t> point) const;
  /// Returns the sizes that the caller must choose for these inputs. A size
  /// that no shape tells is the largest.
  llvm::Expected<std::vector<int64_t>>
  findSizes(llvm::ArrayRef<Tensor> inputs) const;
  /// Returns the multiply-adds of a run. A loop whose trip count depends on
  /// data counts as one trip.
  int64_t multiplyAdds() const;
  /// Returns the part of multiplyAdds() that lies in loops whose trip count
  /// depends on data.
  int64_t multiplyAddsOfTrip() const;
  /// Returns true if the inputs and outputs lie in the arena.
  bool hasPortsInArena() const;
  /// Returns the macros of the module's header that give the bytes of each part
  /// of the arena.
  std::vector<std::string> arenaMacros() const;
  /// Returns true if custom functions compute some of the layers.
  bool hasCustoms() const;
  /// Returns the name of the file that calls the custom functions, if there are
  /// any.
  std::string customFile() const { return name + "_custom.c"; }
  /// Returns the path of the folder with the headers and sources, which is
  /// `folder` or a folder inside it.
  std::string sourceFolder() const;
};

llvm::Expected<Manifest> readManifest(const std::string &folder);
/// Returns the manifest that a compiled module would have, without the list of
/// files.
llvm::Expected<Manifest> describeModule(mlir::ModuleOp module);

/// Returns Port::toJson() of each port.
llvm::json::Array portsToJson(const std::vector<Port> &ports);

/// Returns the index of the port whose name in the model is `name`, or else of
/// the port whose field in the C struct is `name`. An empty name stands for the
/// only port. Errors call a port `what`, for example "input".
llvm::Expected<size_t> findPort(const std::vector<Port> &, llvm::StringRef name,
                                llvm::StringRef what);

/// Returns the name, without extension, of each port's file. It is the field of
/// the C struct. If the field of one port is the name of another port, it is
/// the name in the model, or if that cannot be a file name, `kind` ("input")
/// and a number.
std::vector<std::string> fileStems(const std::vector<Port> &,
                                   llvm::StringRef kind);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_MANIFEST_H
