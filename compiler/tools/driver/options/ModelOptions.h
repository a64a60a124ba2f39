//===- ModelOptions.h - Options of commands on a model --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_OPTIONS_MODELOPTIONS_H
#define NNC_COMPILER_TOOLS_DRIVER_OPTIONS_MODELOPTIONS_H

#include "codegen/Codegen.h"
#include "compiler/pipelines/Pipeline.h"
#include "compiler/pipelines/QuantizePipeline.h"
#include "compiler/planners/BatchPlanner.h"
#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/manifest/Manifest.h"
#include "compiler/tools/driver/options/Custom.h"
#include "compiler/tools/driver/samples/ObservedRanges.h"
#include "frontends/common/Import.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// The settings with which a model takes a time window frame by frame; see the
/// pass nnc-stream.
struct StreamChoice {
  std::string input; ///< name of the input; empty for the only one
  int64_t axis = 0;
  int64_t frames = 1; ///< frames that each run takes
};

/// A memory of the target that holds a part of the arena or of the weights.
struct MemoryChoice {
  std::string name; ///< an identifier of C
  int64_t bytes = 0;
  bool slow = false, holdsWeights = false;
};

/// The memory of inputs and outputs: the caller's, which for a GPU is that of
/// the GPU, as `device` says expressly; the arena; or for a GPU the CPU's
/// memory, from and to which a run copies.
enum class PortMemory { caller, arena, device, host };

struct ImportedModel;
struct ModelOptions;

/// The options by which layers of floats become layers of integers.
struct QuantizeChoice {
  std::string samples; ///< folder or file with samples of the inputs, or empty
  RangeMethod method;
  ModuleQuantization passes;
  /// The largest drop of accuracy that is allowed, as a fraction, if there is a
  /// limit. In this case `quantize` searches for the layers that stay float.
  std::optional<double> maxDrop;
  /// Quantizes an imported module by these options. It is a callback because it
  /// runs models, which the library of the import cannot do. The code that
  /// reads the options sets it (quantization/Quantization.h).
  std::function<ExitCode(const ModelOptions &, ImportedModel &)> quantize;
};

/// The sizes of one dimension of an input: low, low + step, ..., high.
struct DimRange {
  int64_t low = 1, high = 1, step = 1;
  bool varies() const { return low != high; }
};

/// The options that all commands on a model share.
struct ModelOptions {
  std::string model;
  std::string target = "native";
  /// Name of the module; if empty, taken from the file's name.
  std::string name;
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Further sets of shapes, for each of which the code has a function of its
  /// own. An input that is missing in a set has its shape from `shapes`.
  std::vector<std::map<std::string, std::vector<int64_t>>> otherShapes;
  /// The dimensions of inputs that have some dimension which each run chooses;
  /// `shapes` has the largest sizes.
  std::map<std::string, std::vector<DimRange>> ranges;
  /// The values of inputs that become constants.
  frontends::GivenValues values;
  frontends::Limits limits; ///< limits on the size of the model
  std::string externalData; ///< folder that may hold weights, or empty
  /// The file with the weights of a model whose format keeps them apart, or
  /// empty.
  std::string modelWeights;
  std::string signature; ///< the model's signature to compile, or empty
  frontends::TfliteRounding tfliteRounding = frontends::TfliteRounding::twice;
  std::optional<StreamChoice> stream;
  /// The form of the weights in the emitted folder: "embed", "array" or "file".
  /// If empty, this is "array" for packages and for targets without an
  /// operating system, because every compiler accepts it, and "embed"
  /// otherwise.
  std::string weights;
  /// Values of the first sizes that depend on data, for a reference. The import
  /// is then for these values, and for the largest values of the others.
  std::optional<std::vector<int64_t>> foundSizes;
  /// The sizes that depend on data, as an import for the largest sizes found
  /// them, if there was one.
  std::vector<frontends::FoundSize> expectedSizes = {};
  codegen::Package package = codegen::Package::none;
  bool library = false; ///< whether the manifest names a shared library
  std::string tuning;   ///< file with measured costs, or empty
  std::string probe;    ///< file with figures of the machine, or empty
  int threads = 1; ///< largest number of threads that the code has memory for
  int runThreads = 0; ///< number of threads it will run on, or 0 if unknown
  double maxError = PipelineOptions().maxError;
  bool boundRounding = false; ///< whether maxError was given
  /// "auto", "dense", or the kind of an encoding.
  std::string weightsEncoding = "auto";
  /// The largest number of bytes that weights may take, if there is a limit.
  std::optional<int64_t> maxWeights;
  CustomFunctions customs; ///< functions for operators that nnc lacks
  PortMemory ports = PortMemory::caller;
  /// The memories among which the arena and the weights are divided. The arena
  /// or the weights are in one piece if no memory is for them.
  std::vector<MemoryChoice> memories;
  /// The largest number of bytes of the arena, inputs, outputs and state
  /// together, if there is a limit. The stack is not included, as it is not
  /// known before the code is built.
  std::optional<int64_t> maxRam;
  /// The range of the number of samples along the first dimension of the
  /// inputs, if nnc chooses how many of them each layer takes at once.
  std::optional<BatchRange> batch;
  /// The largest estimate of the seconds of a run, at the clock `mhz`, that is
  /// allowed, if there is a limit.
  std::optional<double> maxLatency;
  LayoutScope layouts = LayoutScope::global;
  Precision precision = Precision::f32;
  QuantizeChoice quantization; ///< used with Precision::i8
  Optimize optimize = Optimize::balance;
  /// The clock in MHz for printed times and for maxLatency, if it differs from
  /// that in the target's row.
  std::optional<double> mhz;

  /// The number of threads that is assumed for code that must run on any number
  /// of them. Some layers do not use more threads than this.
  static constexpr int anyThreads = 16;

  void runOn(int count) { threads = runThreads = count; }
  /// Returns the factor that converts estimated seconds, which hold at the
  /// clock of the target's row, to seconds at `mhz`.
  double getClockFactor(target::MachineAttr machine) const;
  /// Returns true if the arena has places for inputs and outputs.
  bool hasPortsInArena() const {
    return ports == PortMemory::arena || ports == PortMemory::host;
  }
  /// Returns true if --max-latency limits a single plan rather than a batch.
  bool limitsPlan() const { return maxLatency && !batch; }
  /// Returns the optimization level at which a compiler builds the code unless
  /// another one is given.
  const char *getLevel() const { return tools::getLevel(optimize); }
};

/// The requirements of a command: what the driver accepts, and which
/// intermediate modules it keeps.
struct DriverOptions {
  bool keepStages = false; ///< keeps `imported()`, `formed()` and `layered()`
  /// Whether a model is compiled even if it takes more than
  /// ModelOptions::maxRam or more than one of its memories has. The command
  /// reports this itself.
  bool exceedsRam = false;
  /// Whether the command needs kWeightsFrontAttr of layered().
  bool findsFront = false;
  /// Whether sizes may be left open (ModelOptions::ranges).
  bool takesRanges = false;
  /// True if sizes that the user does not give stay open within the bounds that
  /// the model states. Without takesRanges they are the largest ones.
  bool takesBounds = false;
  /// Whether ModelOptions::otherShapes may be used.
  bool takesSeveral = false;
  /// Whether sizes that nobody gave are accepted, as nothing is compiled or
  /// run. The module is then for sizes that nnc tries.
  bool mayStayOpen = false;
  bool keepsImport = false; ///< keeps ImportedModel::saved
  /// The command that messages name as the one that accepts open dimensions, or
  /// an empty string for nnc check and nnc compile.
  std::string command = "";
};

/// Returns why the options conflict with each other or with what the command
/// wants of the driver, or an empty string.
std::string findConflict(const ModelOptions &options,
                         const DriverOptions &wanted);

/// Returns what is wrong with the options of Precision::i8, or an empty string.
std::string findQuantizationConflict(const ModelOptions &options);

/// Creates the pass that sets the constraints of the options, and also the
/// target unless `target` is empty.
std::unique_ptr<mlir::Pass> createConstraints(const ModelOptions &options,
                                              const std::string &target = "");

/// Returns the end of a message about too little RAM that recommends
/// --io=arena, or an empty string if the module is compiled with it.
std::string adviseOnPorts(const ModelOptions &options);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_MODELOPTIONS_H
