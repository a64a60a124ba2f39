//===- ModelOptions.h - What a command does with a model ------------------===//
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

/// How a model takes a window of time frame by frame, see nnc-stream.
struct StreamChoice {
  std::string input; ///< empty for the only one
  int64_t axis = 0;
  int64_t frames = 1; ///< that a run takes
};

/// A memory of the target's for a part of the arena, or of the weights.
struct MemoryChoice {
  std::string name; ///< an identifier of C
  int64_t bytes = 0;
  bool slow = false, holdsWeights = false;
};

struct ImportedModel;
struct ModelOptions;

/// How layers of floats become layers of integers.
struct QuantizeChoice {
  std::string samples; ///< folder or file of the inputs' samples, or empty
  RangeMethod method;
  ModuleQuantization passes;
  /// The largest drop of accuracy that is allowed, a share, if there is a
  /// limit. Then `search` chooses the layers that stay float.
  std::optional<double> maxDrop;
  /// Quantizes an imported module by these options. What reads options sets it,
  /// as it runs models, which the import cannot (quantization/Quantization.h).
  std::function<ExitCode(const ModelOptions &, ImportedModel &)> quantize;
};

/// Sizes of one dimension of an input: low, low + step, ..., high.
struct DimRange {
  int64_t low = 1, high = 1, step = 1;
  bool varies() const { return low != high; }
};

/// The options that every command with a model has.
struct ModelOptions {
  std::string model;
  std::string target = "native";
  std::string name; ///< empty: from the file's name
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Further shapes, for each of which the code has a function of its own. An
  /// input that is not in one of them has its shape of `shapes`.
  std::vector<std::map<std::string, std::vector<int64_t>>> otherShapes;
  /// The dimensions of inputs of which some are chosen at each run; `shapes`
  /// has the largest ones.
  std::map<std::string, std::vector<DimRange>> ranges;
  /// Inputs that become constants, with what they hold.
  frontends::GivenValues values;
  frontends::Limits limits; ///< how large the model may be
  std::string externalData; ///< folder that may hold weights, or empty
  frontends::TfliteRounding tfliteRounding = frontends::TfliteRounding::twice;
  std::optional<StreamChoice> stream;
  /// "embed", "array" or "file"; if empty, "array" for a target without an
  /// operating system and for packages, since each compiler takes it, and
  /// "embed" for others.
  std::string weights;
  /// For a reference: values of the first sizes that data decide. The import is
  /// then for these, and for the largest of others.
  std::optional<std::vector<int64_t>> foundSizes;
  /// These sizes as an import for the largest found them, if there was one.
  std::vector<frontends::FoundSize> expectedSizes = {};
  codegen::Package package = codegen::Package::none;
  bool library = false; ///< whether the manifest names a shared library
  std::string tuning;   ///< file of measured costs, or empty
  std::string probe;    ///< file of the machine's figures, or empty
  int threads = 1;      ///< that the code has memory for
  int runThreads = 0;   ///< how many it will run on, where that is known
  double maxError = PipelineOptions().maxError;
  int weightBits = 32; ///< least that is left of a weight: 32 or 24
  std::string weightsEncoding = "auto"; ///< or "dense", or an encoding's kind
  std::optional<int64_t> maxWeights;    ///< bytes that weights may take
  CustomFunctions customs;              ///< for operators that nnc lacks
  bool portsInArena = false;            ///< where inputs and outputs lie
  /// Memories that the arena and the weights are divided among; none of a kind
  /// for an arena or weights in one piece.
  std::vector<MemoryChoice> memories;
  /// Most bytes of the arena, inputs, outputs and state, if there is a limit;
  /// the stack is not known before the code is built.
  std::optional<int64_t> maxRam;
  /// Samples along the first dimension of the inputs, of which each layer takes
  /// a number that is chosen.
  std::optional<BatchRange> batch;
  /// Most seconds that a run may be estimated to take, if there is a limit, at
  /// the clock `mhz`.
  std::optional<double> maxLatency;
  LayoutScope layouts = LayoutScope::global;
  Precision precision = Precision::f32;
  QuantizeChoice quantization; ///< with Precision::i8
  Optimize optimize = Optimize::balance;
  /// The clock for times that are told and for maxLatency, if it is not that of
  /// the target's row.
  std::optional<double> mhz;

  /// The number of threads that is assumed for code that must run on any
  /// number. With more threads, some layers use only this many.
  static constexpr int anyThreads = 16;

  void runOn(int count) { threads = runThreads = count; }
  /// Returns the factor from estimated seconds, which hold at the clock of the
  /// target's row, to those at `mhz`.
  double getClockFactor(target::MachineAttr machine) const;
  /// Whether --max-latency limits one plan, and no batch.
  bool limitsPlan() const { return maxLatency && !batch; }
  /// The level at which a compiler optimises such code unless told otherwise.
  const char *getLevel() const { return tools::getLevel(optimize); }
};

struct DriverOptions {
  bool keepStages = false; ///< `imported()`, `formed()` and `layered()`
  /// Compiles a model that takes more than ModelOptions::maxRam, or than there
  /// is of one of its memories, too, for a command that says so itself.
  bool exceedsRam = false;
  /// Whether kWeightsFrontAttr of layered() is wanted.
  bool findsFront = false;
  /// Whether sizes may be left open (ModelOptions::ranges).
  bool takesRanges = false;
  /// Whether there may be ModelOptions::otherShapes.
  bool takesSeveral = false;
  /// Whether sizes that nobody gave are no error, as nothing is compiled or
  /// run: the module is then for sizes that are tried.
  bool mayStayOpen = false;
  bool keepsImport = false; ///< ImportedModel::saved
  /// The command that open dimensions may be given to, for messages, if it is
  /// not nnc check or nnc compile.
  std::string command = "";
};

/// Returns why the options cannot be taken together, or by a command that wants
/// this of the driver; or an empty string.
std::string findConflict(const ModelOptions &options,
                         const DriverOptions &wanted);

/// Returns what is wrong with the options of Precision::i8, or an empty string.
std::string findQuantizationConflict(const ModelOptions &options);

/// Creates the pass that sets the constraints of the options, and the target if
/// that is not empty.
std::unique_ptr<mlir::Pass> createConstraints(const ModelOptions &options,
                                              const std::string &target = "");

/// Returns the end of a message about too little RAM that names --io=arena;
/// empty where the module is compiled with it.
std::string adviseOnPorts(const ModelOptions &options);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_OPTIONS_MODELOPTIONS_H
