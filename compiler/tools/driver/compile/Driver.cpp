//===- Driver.cpp - From a model file to an emitted folder ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Driver.h"

#include "compiler/tools/driver/compile/Emit.h"
#include "compiler/tools/driver/compile/Limits.h"
#include "compiler/tools/driver/compile/Stages.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/manifest/Metadata.h"
#include "compiler/tools/driver/options/Builtin.h"
#include "compiler/tools/driver/samples/Calibration.h"
#include "compiler/tools/driver/system/Files.h"

#include "compiler/passes/Passes.h"
#include "compiler/pipelines/Pipeline.h"
#include "compiler/pipelines/SizesPipeline.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/routines/TuningFile.h"
#include "compiler/tuning/ProbeFile.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/custom/Custom.h"
#include "dialects/target/Target.h"
#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace nnc::tools {

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Driver::Driver(ModelOptions options, DriverOptions wanted)
    : choices(std::move(options)), wanted(wanted), context(makeRegistry()),
      diagnostics(context) {
  context.loadAllAvailableDialects();
  // The estimated time of the plan is read from the layers.
  this->wanted.keepStages |= choices.limitsPlan();
}

/// Warns if the file was measured with another number of threads, as other
/// candidates may be the fastest then.
static void warnOfThreads(const TuningFile &file, const ModelOptions &options,
                          mlir::MLIRContext &context) {
  int wanted = options.runThreads ? options.runThreads : 1;
  bool any = !options.runThreads && options.threads > 1;
  if (any ? file.threads > 1 : file.threads == wanted)
    return;
  mlir::emitWarning(mlir::FileLineColLoc::get(&context, options.tuning, 0, 0))
      << fmt::format(
             "was measured on {} thread{}, this code is for {}: what is "
             "fast there may be slow here; measure with nnc tune "
             "--threads={}",
             file.threads, file.threads > 1 ? "s" : "",
             any ? "several" : std::to_string(wanted),
             any ? "N" : std::to_string(wanted));
}

/// Warns if the file was measured at another precision, as its layers are
/// different ones.
static void warnOfPrecision(const TuningFile &file, const ModelOptions &options,
                            mlir::MLIRContext &context) {
  if (file.precision == options.precision)
    return;
  llvm::StringRef wanted = getName(options.precision);
  mlir::emitWarning(mlir::FileLineColLoc::get(&context, options.tuning, 0, 0))
      << "was measured with --precision=" << getName(file.precision)
      << ", this is " << wanted
      << ": most layers stay estimated; measure with nnc tune --precision="
      << wanted;
}

/// The number of threads of a GPU that work at once in a kernel whose threads
/// need scratch memory: enough to hide most of the latency of the memory, and
/// few enough that the arena stays small.
static constexpr int gpuShares = 256;

int Driver::countShares() const { return isGpu ? gpuShares : choices.threads; }

/// Reports the options that make no sense for a machine that is a GPU.
static bool checkGpuOptions(const ModelOptions &choices,
                            mlir::MLIRContext &context) {
  const std::pair<bool, llvm::StringRef> conflicts[] = {
      {choices.threads > 1, "runs on the threads of the GPU; leave out "
                            "--threads"},
      {!choices.memories.empty(), "has one memory; leave out --pool"},
      {choices.package != codegen::Package::none,
       "is no target of packages for firmware; leave out --package"},
      {choices.library, "is built into a program by nvcc; leave out --library"},
  };
  bool isSound = true;
  for (auto [isWrong, text] : conflicts)
    if (isWrong) {
      mlir::emitError(mlir::UnknownLoc::get(&context))
          << choices.target << " " << text;
      isSound = false;
    }
  return isSound;
}

/// Returns true if kernels can call the function of the operator: one of nnc,
/// or one that the user's header marks.
static bool runsOnGpu(nn::CustomOp custom) {
  if (isBuiltin(custom))
    return true;
  auto texts = custom->getParentOfType<mlir::ModuleOp>()
                   ->getAttrOfType<mlir::DictionaryAttr>(nn::kCustomFilesAttr);
  auto text = texts ? texts.getAs<mlir::StringAttr>(custom.getHeader())
                    : mlir::StringAttr();
  return text && text.getValue().contains("NNC_CUSTOM_FUNCTION");
}

/// Reports what a GPU cannot run: custom operators with functions of the CPU,
/// and tensors with more elements than the kernels count.
static ExitCode checkGpuModel(mlir::ModuleOp module) {
  ExitCode code = ExitCode::done;
  module.walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes()) {
      auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() ||
          tensor.getNumElements() <= std::numeric_limits<int32_t>::max())
        continue;
      op->emitError() << "has a result of " << tensor.getNumElements()
                      << " elements, and kernels count at most "
                      << std::numeric_limits<int32_t>::max()
                      << "; compile the model for a CPU, or for smaller shapes";
      code = ExitCode::unsupported;
      break;
    }
  });
  module.walk([&](nn::CustomOp custom) {
    if (runsOnGpu(custom))
      return;
    custom.emitError() << "calls the C function '" << custom.getFunction()
                       << "', which a GPU cannot run; define it in "
                       << custom.getHeader()
                       << " behind NNC_CUSTOM_FUNCTION, which nnc_custom.h "
                          "describes, or compile the model for a CPU";
    code = ExitCode::unsupported;
  });
  return code;
}

mlir::FailureOr<target::MachineAttr> Driver::findMachine() {
  auto machine =
      target::getMachine(choices.target, mlir::UnknownLoc::get(&context));
  if (mlir::failed(machine))
    return mlir::failure();
  bool isSound = mlir::succeeded(checkPrecision(
      choices.precision, *machine, mlir::UnknownLoc::get(&context)));
  if (machine->isBare() && choices.threads > 1) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << choices.target
        << " has no operating system and so no threads; leave out --threads";
    isSound = false;
  }
  isGpu = machine->getHost().getKind() == target::DeviceKind::gpu;
  const bool isOfGpu =
      choices.ports == PortMemory::device || choices.ports == PortMemory::host;
  if (!isGpu && isOfGpu) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << choices.target << " is no GPU and has one kind of memory, for which "
        << "--io=device and --io=host make no difference; leave out --io";
    isSound = false;
  }
  if (isGpu && !checkGpuOptions(choices, context))
    isSound = false;
  auto probed = machine;
  if (!choices.probe.empty())
    probed = readProbeFile(choices.probe, *machine);
  if (!choices.tuning.empty()) {
    auto file = readTuningFile(choices.tuning,
                               mlir::succeeded(probed) ? *probed : *machine);
    if (mlir::failed(file))
      return mlir::failure();
    warnOfThreads(*file, choices, context);
    warnOfPrecision(*file, choices, context);
    tuning = std::make_shared<TuningFile>(std::move(*file));
  }
  if (!isSound)
    return mlir::failure();
  if (mlir::succeeded(probed))
    clockFactor = choices.getClockFactor(*probed);
  return probed;
}

ExitCode Driver::import() {
  Progress progress("importing " + choices.model);
  bool isFile = llvm::sys::fs::is_regular_file(choices.model) ||
                frontends::isModelFolder(choices.model);
  llvm::SmallString<128> text(choices.model);
  llvm::sys::path::append(text, "saved_model.pbtxt");
  if (!isFile)
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << (llvm::sys::fs::exists(text)
                ? "is a SavedModel in the form of a text, saved_model.pbtxt, "
                  "which nnc does not read; save it without as_text"
            : llvm::sys::fs::is_directory(choices.model)
                ? "is a folder without a saved_model.pb, the only kind of "
                  "folder that is a model"
            : llvm::sys::fs::exists(choices.model) ? "is not a file"
                                                   : "there is no such file");
  // The machine is looked up first, so that mistakes in the target or tuning
  // file are reported at once.
  auto machine = findMachine();
  auto holdsWeights = [](const MemoryChoice &memory) {
    return memory.holdsWeights;
  };
  bool isLoaded =
      choices.weights == "file" && llvm::any_of(choices.memories, holdsWeights);
  if (isLoaded)
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "--weights=file is for weights that the program loads in one piece; "
           "--pool=...:weights needs --weights=array or --weights=embed";
  if (mlir::failed(machine) || !isFile || isLoaded)
    return ExitCode::usage;
  if (std::string problem = findConflict(choices, wanted); !problem.empty()) {
    mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
    return ExitCode::usage;
  }
  auto check = [this](mlir::ModuleOp trial) {
    mlir::PassManager manager(&context);
    buildNetworkPipeline(manager, /*isSampled=*/false, pipelineOptions(tuning));
    return runPipeline(manager, trial);
  };
  importer =
      std::make_unique<Importer>(choices, wanted, context, *machine, check);
  if (ExitCode code = importer->import(model); code != ExitCode::done)
    return code;
  if (isGpu)
    if (ExitCode code = checkGpuModel(*model.module); code != ExitCode::done)
      return code;
  progress.setResult(describeImported(*model.module));
  return ExitCode::done;
}

std::vector<std::string> Driver::findSources() const {
  std::vector<std::string> files = {choices.model};
  llvm::append_range(files, model.dataFiles);
  for (const std::string &file : {choices.tuning, choices.probe})
    if (!file.empty())
      files.push_back(file);
  for (const auto &[input, value] : choices.values)
    if (!value.dtype.empty())
      files.push_back(value.text);
  for (const auto &[name, path] : choices.customs.paths)
    files.push_back(path);
  if (!choices.quantization.samples.empty())
    llvm::append_range(files,
                       listCalibrationFiles(choices.quantization.samples));
  return files;
}

namespace {
/// Copies the module before a given pass runs on it.
class KeepBefore : public mlir::PassInstrumentation {
public:
  KeepBefore(llvm::StringRef pass, mlir::OwningOpRef<mlir::ModuleOp> &kept)
      : pass(pass), kept(kept) {}
  void runBeforePass(mlir::Pass *next, mlir::Operation *op) override {
    if (next->getArgument() == pass &&
        !llvm::isa_and_nonnull<nn::SampleOp>(op->getParentOp()))
      kept = llvm::cast<mlir::ModuleOp>(op->clone());
  }

private:
  llvm::StringRef pass;
  mlir::OwningOpRef<mlir::ModuleOp> &kept;
};

/// The passes that may fail because the model needs something that nnc lacks
/// and that the frontend cannot detect. A failure of any other pass is a bug.
constexpr llvm::StringLiteral mayRefuse[] = {
    "nnc-qnn-canonicalize", "nnc-legalize",
    "nnc-choose-routines",  "nnc-batch",
    "nnc-mark-varying",     "nnc-retype-samples",
    "nnc-generalize"};
} // namespace

WeightRules Driver::weightRules() const {
  return {choices.weightsEncoding,
          /*weighsBytes=*/choices.maxWeights || choices.limitsPlan() ||
              wanted.findsFront};
}

PipelineOptions
Driver::pipelineOptions(std::shared_ptr<const TuningFile> tuned) const {
  PipelineOptions options;
  options.target = ""; // the module's own target
  options.threads = countShares();
  options.maxError = choices.maxError;
  options.boundRounding = choices.boundRounding;
  options.layouts = choices.layouts;
  options.precision = choices.precision;
  options.portsInArena = choices.hasPortsInArena();
  options.hostPorts = choices.ports == PortMemory::host;
  options.optimize = choices.optimize;
  options.weights = weightRules();
  options.maxWeights = choices.maxWeights.value_or(options.maxWeights);
  if (choices.limitsPlan())
    options.maxNs = std::llround(1e9 * *choices.maxLatency / clockFactor);
  options.decodeRam = choices.maxRam.value_or(options.decodeRam);
  options.findsWeightsFront = wanted.findsFront;
  options.tuning = tuned && tuned == tuning ? choices.tuning : "";
  options.tuned = std::move(tuned);
  return options;
}

ExitCode Driver::compile() {
  Progress progress("compiling");
  ExitCode code = compileModel(model);
  if (code == ExitCode::done && !choices.otherShapes.empty())
    code = compileOthers();
  if (code == ExitCode::done)
    progress.setResult(describeCompiled(*op));
  return code;
}

ExitCode Driver::compileModel(ImportedModel &imported) {
  stages.emplace_back();
  if (wanted.keepStages)
    stages.back().imported = imported.module->clone();
  if (ExitCode code = importer->gatherSamples(imported); code != ExitCode::done)
    return code;
  return choices.batch ? compileBatch(imported) : compileWithinRam(imported);
}

ExitCode Driver::compileWithinRam(ImportedModel &imported) {
  ExitCode failure = ExitCode::ownFault;
  RamPlanner planner(std::move(imported.module), choices.maxRam,
                     pipelineOptions(tuning), makeRunner(failure));
  auto check = [&] {
    return checkWeights(choices, planner.getModule(), !wanted.exceedsRam);
  };
  if (mlir::failed(planner.plan()))
    return failure;
  if (ExitCode code = check(); code != ExitCode::done)
    return code;
  if (!planner.fits()) {
    Progress progress("looking for routines and strips that take less memory");
    RamPlanner::Outcome outcome = planner.fit();
    if (outcome == RamPlanner::Outcome::failed)
      return failure;
    if (outcome == RamPlanner::Outcome::large) {
      stripsRam = planner.getLeastInStrips();
      if (!wanted.exceedsRam)
        return reportRam(choices, context, planner);
      // The command shows what the model takes without a limit.
      if (mlir::failed(planner.plan()))
        return failure;
    }
    // Other routines may store weights in other forms.
    if (ExitCode code = check(); code != ExitCode::done)
      return code;
  }
  op = planner.takeModule();
  finish(imported, {planner.getOptions(), planner.getStrips()});
  return checkLatency();
}

ExitCode Driver::checkLatency() {
  if (!choices.limitsPlan())
    return ExitCode::done;
  if (importer->hasSizes()) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "--max-latency takes a model whose sizes are known before it runs";
    return ExitCode::usage;
  }
  double seconds = clockFactor * getPlannedSeconds(*stages.back().layered);
  return seconds > *choices.maxLatency
             ? reportLatency(choices, context, seconds)
             : ExitCode::done;
}

void Driver::finish(ImportedModel &imported, const PlannedPasses &planned) {
  if (stages.size() == 1)
    routinesRam = planned.options.maxRam;
  record.add(choices, imported, importer->hasSizes(), planned);
}

PassRunner Driver::makeRunner(ExitCode &failure) {
  return [this, &failure](mlir::PassManager &manager, mlir::ModuleOp module) {
    if (wanted.keepStages) {
      manager.addInstrumentation(std::make_unique<KeepBefore>(
          "nnc-choose-routines", stages.back().formed));
      manager.addInstrumentation(std::make_unique<KeepBefore>(
          "nnc-lower-to-exec", stages.back().layered));
    }
    auto advice = importer->adviseOnSizes();
    ExitCode code = runPipeline(manager, module);
    if (code != ExitCode::done)
      failure = code;
    return mlir::success(code == ExitCode::done);
  };
}

ExitCode Driver::runPipeline(mlir::PassManager &manager,
                             mlir::ModuleOp module) {
  std::string failed;
  manager.addInstrumentation(std::make_unique<WatchPasses>(failed));
  if (mlir::succeeded(manager.run(module)))
    return ExitCode::done;
  if (llvm::is_contained(mayRefuse, failed))
    return ExitCode::unsupported;
  mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
      << "a bug in nnc, in the pass " << failed
      << "; please report it with the model and the command line";
  return ExitCode::ownFault;
}

mlir::OwningOpRef<mlir::ModuleOp>
Driver::formLayers(std::shared_ptr<const TuningFile> other) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = imported().clone();
  mlir::PassManager manager(&context);
  buildLayersPipeline(manager, pipelineOptions(std::move(other)));
  if (mlir::failed(manager.run(*copy)))
    return {};
  return copy;
}

ExitCode Driver::emitTuned(mlir::ModuleOp layers,
                           std::shared_ptr<const TuningFile> other,
                           const std::string &folder) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = layers.clone();
  mlir::PassManager manager(&context);
  PipelineOptions planned = pipelineOptions(std::move(other));
  planned.maxRam = routinesRam;
  buildPlanPipeline(manager, planned);
  codegen::EmitOptions options;
  options.threads = countShares();
  std::error_code failure;
  if (mlir::failed(manager.run(*copy)) ||
      mlir::failed(
          emitCode(*copy, folder, options, ModelWeights::keep, &failure)))
    return codeOfFailure(failure, ExitCode::ownFault);
  return ExitCode::done;
}

ExitCode Driver::emit(const std::string &folder) {
  Progress progress("writing the code");
  codegen::EmitOptions options;
  auto machine = (*op)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  options.package = choices.package;
  options.level = choices.getLevel();
  options.optimize = getName(choices.optimize).str();
  bool isArray = (machine && machine.isBare()) ||
                 choices.package != codegen::Package::none;
  options.weights = !choices.weights.empty() ? choices.weights
                    : isArray                ? "array"
                                             : "embed";
  options.threads = countShares();
  if (choices.library)
    options.library = fmt::format(
        "lib{}.so", (*op)
                        ->getAttrOfType<mlir::StringAttr>(nn::kModelAttr)
                        .getValue()
                        .str());
  if (!model.metadata.empty()) {
    auto name = (*op)->getAttrOfType<mlir::StringAttr>(nn::kModelAttr);
    options.metadata = metadataHeader(name.getValue().str(), model.metadata);
    options.properties = model.metadata;
  }
  // The stages that are kept share the model's weights.
  ModelWeights weights =
      wanted.keepStages ? ModelWeights::keep : ModelWeights::release;
  std::error_code failure;
  if (mlir::failed(emitCode(*op, folder, options, weights, &failure)))
    return codeOfFailure(failure, ExitCode::ownFault);
  progress.setResult(describeFolder(folder));
  return ExitCode::done;
}

} // namespace nnc::tools
