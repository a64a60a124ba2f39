//===- Driver.h - From a model file to an emitted folder ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_DRIVER_H
#define NNC_TOOLS_DRIVER_DRIVER_H

#include "codegen/Codegen.h"
#include "compiler/BatchPlanner.h"
#include "compiler/Pipeline.h"
#include "compiler/QuantizePipeline.h"
#include "compiler/sizes/SizeRange.h"
#include "compiler/tools/driver/Custom.h"
#include "compiler/tools/driver/Diagnostics.h"
#include "compiler/tools/driver/ExitCode.h"
#include "compiler/tools/driver/Manifest.h"
#include "compiler/tools/driver/ObservedRanges.h"
#include "dialects/target/Target.h"
#include "frontends/common/Import.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace nnc {
struct Outline;
}

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

class ModuleQuantizer;
struct ModelOptions;

/// How layers of floats become layers of integers.
struct QuantizeChoice {
  std::string samples; ///< folder or file of the inputs' samples, or empty
  RangeMethod method;
  ModuleQuantization passes;
  /// The largest drop of accuracy that is allowed, a share, if there is a
  /// limit. Then `search` chooses the layers that stay float.
  std::optional<double> maxDrop;
  /// Searches a quantizer that has quantized a module, for these options, and
  /// returns in `found` what it chose, as a sentence without a full stop.
  std::function<ExitCode(ModuleQuantizer &, const ModelOptions &,
                         std::string &found)>
      search;
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
  /// Most seconds that a run may be estimated to take, if there is a limit.
  std::optional<double> maxLatency;
  LayoutScope layouts = LayoutScope::global;
  Precision precision = Precision::f32;
  QuantizeChoice quantization; ///< with Precision::i8
  Optimize optimize = Optimize::balance;
  /// The clock for times that are told, if it is not that of the target's row.
  std::optional<double> mhz;

  /// The number of threads that is assumed for code that must run on any
  /// number. With more threads, some layers use only this many.
  static constexpr int anyThreads = 16;

  void runOn(int count) { threads = runThreads = count; }
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
  bool keepsImport = false; ///< spellImport()
  /// The command that open dimensions may be given to, for messages, if it is
  /// not nnc check or nnc compile.
  std::string command = "";
};

/// Returns what is wrong with a memory that has no room for what it is to hold.
std::string describeTooSmall(exec::MemoryAttr memory);

/// Returns the end of a message about too little RAM that names --io=arena;
/// empty where the module is compiled with it.
std::string adviseOnPorts(const ModelOptions &options);

/// Returns a copy of an imported module of which some layers are computed in
/// strips (nnc-patch), so that it fits into its memories, takes at most `limit`
/// bytes in all, and the fewest multiply-adds; null if none is found. Sets
/// `least` to the smallest number of bytes that a copy took, if that is
/// smaller. Strips that need routines with little memory set `options.maxRam`.
/// Sets `passes` to what cuts the copy, as nnc-opt --pass-pipeline takes it.
mlir::OwningOpRef<mlir::ModuleOp>
cutIntoStrips(mlir::ModuleOp module, int64_t limit, PipelineOptions &options,
              int64_t &least, std::string &passes);

/// Returns the passes of a manager as nnc-opt --pass-pipeline takes them,
/// without the op around them.
std::string spellPasses(mlir::PassManager &manager);

/// The steps from a model to code. Each works on the result of the step before
/// it, and reports its problems.
class Driver {
public:
  explicit Driver(ModelOptions options, DriverOptions wanted = {});

  ExitCode import();
  /// Lowers the imported module to the exec dialect.
  ExitCode compile();
  /// Writes the code to a new folder.
  ExitCode emit(const std::string &folder);
  /// The layers that imported() consists of by `other`; null, reporting why,
  /// where that fails.
  mlir::OwningOpRef<mlir::ModuleOp>
  formLayers(std::shared_ptr<const TuningFile> other);
  /// Writes the code that `other` makes of these layers to a new folder.
  ExitCode emitTuned(mlir::ModuleOp layers,
                     std::shared_ptr<const TuningFile> other,
                     const std::string &folder);

  /// The model as it was imported, before its layers were given routines, and
  /// before they became calls.
  mlir::ModuleOp imported() { return *importedOp; }
  /// The same stages of one function of the module: the first is for
  /// ModelOptions::shapes, the others are for ModelOptions::otherShapes.
  mlir::ModuleOp importedFor(size_t function) {
    return function ? *others[function - 1].imported : *importedOp;
  }
  mlir::ModuleOp layeredFor(size_t function) {
    return function ? *others[function - 1].layered : *layeredOp;
  }
  /// The module as the last step has left it.
  mlir::ModuleOp module() { return *op; }
  /// The sizes of the imported model that data decide.
  const std::vector<frontends::FoundSize> &getFoundSizes() const {
    return foundSizes;
  }
  mlir::ModuleOp formed() { return *formedOp; }
  mlir::ModuleOp layered() { return *layeredOp; }
  /// The smallest number of bytes of RAM that a plan with layers in strips
  /// took, if none was within ModelOptions::maxRam.
  std::optional<int64_t> leastRam() const { return stripsRam; }
  /// Returns the paths of all files that decide the code: the model, its
  /// external data, and those that options name.
  std::vector<std::string> findSources() const;
  /// The batch sizes, with ModelOptions::batch.
  const std::optional<BatchChoice> &batch() const { return batchChoice; }
  /// Returns the command line of nnc-opt that makes the compiled module of the
  /// imported one; or an error where nnc-opt cannot.
  llvm::Expected<std::string> spellPipeline() const;
  /// Returns the text of the imported module from which that line starts.
  std::string spellImport() const;
  /// What --tuning says, or null.
  const TuningFile *tuned() const { return tuning.get(); }
  const ModelOptions &options() const { return choices; }
  WeightRules weightRules() const;
  /// What QuantizeChoice::search found, or an empty string.
  const std::string &describeQuantization() const { return quantizeNote; }

private:
  /// Imports the model with inputs of these shapes, and with these values of
  /// sizes that data decide.
  ExitCode importShapes(const frontends::GivenShapes &shapes,
                        llvm::ArrayRef<int64_t> found,
                        target::MachineAttr machine,
                        mlir::OwningOpRef<mlir::ModuleOp> &module);
  /// Checks whether nnc has what a model with open dimensions needs, by
  /// `trial`, the model with other sizes. Returns how the command ends.
  ExitCode checkTrial(mlir::OwningOpRef<mlir::ModuleOp> trial,
                      target::MachineAttr machine);
  /// Names the sizes that the caller or data decide, and imports the model for
  /// the largest.
  ExitCode nameSizes();
  ExitCode nameCallersSizes(llvm::StringSet<> &taken);
  void nameFoundSizes(llvm::StringSet<> &taken);
  /// Removes results that tell sizes which no other result has.
  ExitCode dropInnerCounts();
  /// The first error that an import reported, and its location.
  struct Reason {
    std::string text;
    std::optional<mlir::Location> location;
  };
  /// Imports the model for a point of the ranges. A failure is not reported;
  /// `why` gets the first reason.
  ExitCode tryImport(llvm::ArrayRef<int64_t> point,
                     mlir::OwningOpRef<mlir::ModuleOp> &module, Reason &why);
  /// Whether a point has larger sizes than the ranges.
  bool isBeyond(llvm::ArrayRef<int64_t> point) const;
  /// Whether the model cannot be imported for a point.
  bool failsAt(llvm::ArrayRef<int64_t> point);
  /// Reports a failure of tryImport(), and sizes that its module lacks or has
  /// more; removes results that nothing reads.
  ExitCode acceptSample(llvm::ArrayRef<int64_t> point, ExitCode code,
                        const Reason &why, mlir::ModuleOp module);
  /// Imports as tryImport() does, and reports a failure.
  ExitCode importSample(llvm::ArrayRef<int64_t> point,
                        mlir::OwningOpRef<mlir::ModuleOp> &module);
  /// Returns what is wrong with the options of Precision::i8, or an empty
  /// string.
  std::string findQuantizationProblem() const;
  /// Quantizes an imported module by the samples.
  ExitCode quantize(mlir::OwningOpRef<mlir::ModuleOp> &module);
  /// Returns the shapes of the inputs at a point of the ranges.
  frontends::GivenShapes getShapesAt(llvm::ArrayRef<int64_t> point) const;
  /// Fails, and says why, where the model is another one at the edges of the
  /// ranges than its imports at the samples show.
  ExitCode checkEdges(std::vector<Outline> samples);
  /// Makes `op`, the network at the largest sizes, that network at several
  /// sizes (nn.sample), each of them imported.
  ExitCode gatherSamples();
  /// Returns what adds advice on the model to messages about sizes, where data
  /// decide all of them: the user gives no bounds then, of which the messages
  /// tell. Otherwise null.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> adviseOnSizes();
  /// Notes the passes that have made `op`.
  void notePasses();
  ExitCode runPipeline(mlir::PassManager &manager, mlir::ModuleOp module);
  /// Makes a run of passes set formedOp and layeredOp if they are wanted.
  void keepStages(mlir::PassManager &manager);
  /// Returns why ModelOptions::ranges cannot be taken, or an empty string.
  std::string findRangeProblem() const;
  /// Compiles the imported module.
  ExitCode compileOne();
  /// Adds a program for each of ModelOptions::otherShapes.
  ExitCode compileOthers();
  /// Returns why ModelOptions::otherShapes cannot be taken, or an empty string.
  std::string findSeveralProblem() const;
  /// Compiles the imported module, which holds the largest batch, with a batch
  /// size for each part.
  ExitCode compileBatch();
  ExitCode reportLatency(double seconds);
  ExitCode reportBatchRam(const RamDemand &least);
  /// Compiles the model for one sample, as without --batch, where no plan for
  /// parts of a batch keeps to --max-ram or to the memories. `formed` is the
  /// module of these plans.
  ExitCode compileOneSample(mlir::ModuleOp formed);
  /// Returns why ModelOptions::batch cannot be taken, or an empty string.
  std::string findBatchProblem() const;
  /// Makes the imported module take its window frame by frame.
  ExitCode stream();
  /// Whether the weights take more bytes than ModelOptions::maxWeights.
  bool exceedsMaxWeights();
  /// Runs the passes on `op`.
  ExitCode runPasses();
  /// Reports each memory for weights that is too small.
  ExitCode checkWeightMemories();
  /// Compiles `whole`, the imported module, with routines that take less memory
  /// or in strips where the plan takes more than there is.
  ExitCode fitIntoRam(mlir::OwningOpRef<mlir::ModuleOp> whole);
  /// Runs the passes on a copy of `whole` with routines that keep to `ram`
  /// bytes where they can. Sets `demand` to what the module takes.
  ExitCode planWithin(int64_t ram, mlir::ModuleOp whole, RamDemand &demand);
  /// Makes `op` a module of routines that fit, if it finds one. Otherwise
  /// `least` is what the module takes that takes the fewest bytes.
  ExitCode fitRoutines(mlir::ModuleOp whole, RamDemand &least);
  /// Looks for faster routines that make use of all of --max-ram where those
  /// for `ram` bytes, which `op` has, fit.
  ExitCode useRest(int64_t ram, mlir::ModuleOp whole);
  ExitCode reportRam(const RamDemand &demand);
  /// Returns the end of a message about too little RAM: what takes less of it,
  /// and what its numbers leave out.
  std::string adviseOnRam() const;
  /// The target with what --probe says of it, and `tuning`; reports all that is
  /// wrong with these options.
  mlir::FailureOr<target::MachineAttr> findMachine();

  ModelOptions choices;
  DriverOptions wanted;
  /// Creates the pass that sets the constraints of ModelOptions, and the target
  /// if that is not empty.
  std::unique_ptr<mlir::Pass>
  createConstraints(const std::string &target = "") const;
  /// Adds that pass, for each size where these vary.
  void addConstraints(mlir::PassManager &manager,
                      const std::string &target = "") const;
  PipelineOptions
  pipelineOptions(std::shared_ptr<const TuningFile> tuned) const;

  mlir::MLIRContext context;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> op, importedOp, formedOp, layeredOp;
  struct Stages {
    mlir::OwningOpRef<mlir::ModuleOp> imported, layered;
  };
  std::vector<Stages> others; ///< of ModelOptions::otherShapes
  std::shared_ptr<const TuningFile> tuning;
  /// The bytes of RAM for which routines are chosen (PipelineOptions::maxRam).
  int64_t routinesRam = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> stripsRam;
  /// The passes that took the window frame by frame and that cut strips, as
  /// spellPasses() returns them; empty if there were none.
  std::string streamPasses, stripPasses;
  /// Those that quantized the module, likewise.
  std::string quantizePasses;
  std::string quantizeNote; ///< describeQuantization()
  /// Those that divided a batch, likewise.
  std::string batchPasses;
  /// All passes up to the program, for each shape.
  std::vector<std::string> shapePasses;
  /// The module as imported, before any pass, and those of all shapes, with
  /// DriverOptions::keepsImport.
  mlir::OwningOpRef<mlir::ModuleOp> savedOp;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> savedOps;
  std::optional<BatchChoice> batchChoice;
  /// Samples that the model is imported for, 0 without ModelOptions::batch.
  int64_t importedBatch = 0;
  /// The names of the inputs' dimensions in the model, by input.
  std::map<std::string, std::vector<std::string>> dimNames;
  /// Sizes that data decide, in the module that was imported last.
  std::vector<frontends::FoundSize> foundSizes;
  /// Those of the module for the largest sizes, which its samples have, too.
  std::vector<frontends::FoundSize> expectedSizes;
  /// The numbers of those which no output has.
  std::vector<unsigned> innerSizes;
  /// Sizes that are left open, those that data decide behind others. For each
  /// dimension of an input that has one of them, sizeOf has its number; for
  /// others, -1.
  std::vector<SizeRange> sizes;
  size_t callersSizes = 0;
  std::map<std::string, std::vector<int>> sizeOf;
  std::unique_ptr<ExpressionFinder> finder; ///< null without such sizes
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The files with the model's external data.
  std::vector<std::string> dataFiles;
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_DRIVER_H
