//===- Manifest.h - What manifest.json says about an emitted folder -------===//
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

/// Returns the level at which a compiler optimises code unless told otherwise.
inline const char *getLevel(Optimize optimize) {
  return optimize == Optimize::size ? "-Os" : "-O3";
}

/// An input or output of the model.
struct Port {
  std::string name;  ///< the model's own
  std::string field; ///< name of the field of the C struct
  Dtype dtype;       ///< of an element in memory
  /// The name of the narrower element type that the model declares, such as
  /// "i4"; empty where it is that in memory.
  std::string modelType;
  std::vector<int64_t> shape; ///< the largest, if it depends on sizes
  /// The dimensions as expressions of the module's sizes, if they depend on
  /// them.
  std::vector<std::string> dims;
  std::string size;                   ///< the size that it tells, or empty
  std::optional<int64_t> arenaOffset; ///< where it lies in the arena, if there
  /// The scales and zero points of quantized integers, which stand for (integer
  /// - zero point) * scale: one, or one for each index of `axis`; or none.
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  std::optional<int64_t> axis;
  std::string rounding; ///< of real numbers: "half_even" or "half_away"
  int64_t bytes() const;
  /// Returns the name of the element type that the model declares.
  std::string typeName() const;
  /// Returns the name, the field, the element type and the shape, and of
  /// quantized elements scale and zero point, with the keys of the manifest.
  llvm::json::Object toJson() const;
  /// Returns a phrase such as "scale 0.0078125, zero point -1", empty where
  /// elements are not quantized.
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
  int64_t trips = 1; ///< of the loops around it, as far as they are known
  bool hasOpenTrips = false; ///< whether data decide those of a loop
  /// The number of the custom operator that the user's function computes.
  std::optional<int64_t> customId;
};

/// A memory that holds a part of the arena or of the weights.
struct Memory {
  std::string name;
  int64_t bytes = 0; ///< of that part
  int64_t size = 0;  ///< what the user lets the module take
  bool slow = false;
};

/// A place in the arena, and the layers between which its bytes are in use. Of
/// several memories, each begins where the one before it ends.
struct ArenaPlace {
  std::string name;
  std::string memory; ///< empty for an arena that is one piece
  int64_t offset = 0, bytes = 0;
  int64_t first = 0, last = 0; ///< numbers of layers
  bool isScratch = false;      ///< working memory of a layer
};

/// A size that the caller of the module chooses, or that is found in a run:
/// low, low + step, ..., high.
struct SizeInfo {
  std::string name;
  int64_t low = 1, high = 1, step = 1;
  bool found = false;
};

struct Manifest {
  std::string folder;
  std::string name;
  std::string module; ///< what the files are called by, if not by `name`
  std::string sha256;
  std::string target;
  std::vector<std::string> isa; ///< features that a CPU must have
  /// Flags of the compiler, including those of the target.
  std::vector<std::string> flags;
  Optimize optimize = Optimize::balance;
  std::vector<std::string> files;
  std::string library; ///< a file beside these, or empty
  bool threads = false;
  /// "embed", "array", "file", or "none" if there are no weights.
  std::string weights;
  int64_t weightBytes = 0, arenaBytes = 0, lowerBound = 0;
  std::vector<SizeInfo> sizes; ///< those that are found in a run come last
  std::vector<Port> inputs, outputs;
  std::vector<Port> state; ///< what the module keeps between runs
  std::vector<LayerInfo> layers;
  std::vector<ArenaPlace> arena;
  std::vector<Memory> memories;       ///< empty for an arena that is one piece
  std::vector<Memory> weightMemories; ///< empty for weights in one piece

  /// Further functions of the module, for other shapes of the inputs.
  std::vector<Manifest> others;

  /// Returns a manifest for each function.
  std::vector<Manifest> split() const;
  /// Returns the stem of the names of the files.
  const std::string &getModule() const {
    return module.empty() ? name : module;
  }
  /// Returns the sizes that the caller chooses.
  llvm::ArrayRef<SizeInfo> callersSizes() const;
  /// Returns the same with the shapes of inputs and outputs at given sizes;
  /// those for which no value is given are the largest.
  Manifest atSizes(llvm::ArrayRef<int64_t> point) const;
  /// Returns the sizes that the caller chooses for these inputs; one that no
  /// shape tells is the largest.
  llvm::Expected<std::vector<int64_t>>
  findSizes(llvm::ArrayRef<Tensor> inputs) const;
  /// Returns the multiply-adds of a run, of loops whose trips data decide those
  /// of one trip.
  int64_t multiplyAdds() const;
  /// Returns those among them that are of one trip of such a loop.
  int64_t multiplyAddsOfTrip() const;
  /// Whether the arena holds inputs and outputs.
  bool hasPortsInArena() const;
  /// Returns the macros of the module's header that say how many bytes each
  /// part of the arena has.
  std::vector<std::string> arenaMacros() const;
  /// Whether the user's functions compute some of the layers.
  bool hasCustoms() const;
  /// The file of the folder that calls the user's functions, if there are any.
  std::string customFile() const { return name + "_custom.c"; }
  /// Returns the folder that holds the headers and sources, which is a part of
  /// `folder` or `folder` itself.
  std::string sourceFolder() const;
};

llvm::Expected<Manifest> readManifest(const std::string &folder);
/// Returns what the manifest of a compiled module would say, without the files.
llvm::Expected<Manifest> describeModule(mlir::ModuleOp module);

/// Returns Port::toJson() of each port.
llvm::json::Array portsToJson(const std::vector<Port> &ports);

/// Returns the index of the port whose name in the model is `name`, or else
/// whose field of the C struct is. An empty name stands for the only port.
/// `what` ("input") is used in the error.
llvm::Expected<size_t> findPort(const std::vector<Port> &, llvm::StringRef name,
                                llvm::StringRef what);

/// Returns the name, without extension, of each port's file: the field of the C
/// struct. If the field of one port is the name of another port, the model's
/// names are used, or if these cannot be names of files, `kind` ("input") and a
/// number.
std::vector<std::string> fileStems(const std::vector<Port> &,
                                   llvm::StringRef kind);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_MANIFEST_H
