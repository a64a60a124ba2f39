//===- Driver.cpp - From a model file to an emitted folder ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"

#include "compiler/tools/driver/Emit.h"
#include "compiler/tools/driver/Files.h"
#include "compiler/tools/driver/Metadata.h"
#include "compiler/tools/driver/Progress.h"
#include "compiler/tools/driver/Stages.h"
#include "compiler/tools/driver/Terminal.h"

#include "compiler/Pipeline.h"
#include "compiler/SizesPipeline.h"
#include "compiler/passes/Passes.h"
#include "compiler/routines/TuningFile.h"
#include "compiler/tuning/ProbeFile.h"
#include "dialects/nn/State.h"
#include "dialects/target/Target.h"
#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>

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
  // The plan of layers has the time.
  this->wanted.keepStages |= choices.limitsPlan();
}

static ExitCode exitCodeOf(frontends::ImportStatus status) {
  switch (status) {
  case frontends::ImportStatus::ok:
    return ExitCode::done;
  case frontends::ImportStatus::broken:
    return ExitCode::broken;
  case frontends::ImportStatus::unsupported:
    return ExitCode::unsupported;
  case frontends::ImportStatus::unbound: // --shape says what the model does not
    return ExitCode::usage;
  case frontends::ImportStatus::limit:
    return ExitCode::limit;
  case frontends::ImportStatus::fault:
    return ExitCode::ownFault;
  }
  llvm_unreachable("unknown status");
}

/// Of candidates the fastest on one thread may not be so on two.
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

/// A layer of halves is another than the same of floats.
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

mlir::FailureOr<target::MachineAttr> Driver::findMachine() {
  auto machine =
      target::getMachine(choices.target, mlir::UnknownLoc::get(&context));
  if (mlir::failed(machine))
    return mlir::failure();
  bool isSound =
      choices.precision != Precision::f16 ||
      mlir::succeeded(checkHalves(*machine, mlir::UnknownLoc::get(&context)));
  if (machine->isBare() && choices.threads > 1) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << choices.target
        << " has no operating system and so no threads; leave out --threads";
    isSound = false;
  }
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
  bool isFile = llvm::sys::fs::is_regular_file(choices.model);
  if (!isFile)
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << (llvm::sys::fs::exists(choices.model) ? "is not a file"
                                                 : "there is no such file");
  // A mistyped target or tuning file is found before the work.
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
  if (!choices.ranges.empty())
    if (std::string problem = findRangeProblem(); !problem.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
      return ExitCode::usage;
    }
  if (!choices.otherShapes.empty())
    if (std::string problem = findSeveralProblem(); !problem.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
      return ExitCode::usage;
    }
  for (const std::string &problem :
       {findQuantizationProblem(), findLatencyProblem()})
    if (!problem.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
      return ExitCode::usage;
    }
  if (choices.batch) {
    if (std::string problem = findBatchProblem(); !problem.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
      return ExitCode::usage;
    }
    importedBatch = choices.batch->high;
  }
  if (choices.foundSizes)
    expectedSizes = choices.expectedSizes;
  if (ExitCode code = importShapes(
          choices.shapes, choices.foundSizes.value_or(std::vector<int64_t>()),
          *machine, op);
      code != ExitCode::done)
    return code;
  progress.setResult(describeImported(*op));
  bool isLonger =
      !foundSizes.empty() && (choices.stream || !choices.tuning.empty());
  if (isLonger) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << "has '" << foundSizes.front().name
        << "', as long as data say, and so takes no "
        << (choices.stream ? "--stream" : "--tuning");
    return ExitCode::unsupported;
  }
  if (choices.stream)
    return stream();
  bool findsSizes = !foundSizes.empty() && !choices.foundSizes;
  return choices.ranges.empty() && !findsSizes ? ExitCode::done : nameSizes();
}

/// Imports a model as nnc::frontends::importModel() does. That its inputs have
/// open dimensions is no problem if the rest of it can be imported with sizes
/// that are tried.
static frontends::ImportResult
importOpen(llvm::StringRef path, const frontends::ImportOptions &options,
           mlir::MLIRContext &context, llvm::StringRef command) {
  std::vector<mlir::Diagnostic> problems;
  frontends::ImportResult result;
  {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          problems.push_back(std::move(diagnostic));
          return mlir::success();
        });
    result = frontends::importModel(path, options, context, command);
  }
  bool isOpen = result.status == frontends::ImportStatus::unbound &&
                options.shapes.empty() && result.trial;
  if (isOpen) {
    result.status = frontends::ImportStatus::ok;
    result.module = std::move(result.trial);
  }
  for (mlir::Diagnostic &diagnostic : problems) {
    bool isOfSizes =
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ||
        llvm::StringRef(diagnostic.str()).starts_with("with --shape ");
    if (!isOpen || !isOfSizes)
      context.getDiagEngine().emit(std::move(diagnostic));
  }
  return result;
}

ExitCode Driver::importShapes(const frontends::GivenShapes &shapes,
                              llvm::ArrayRef<int64_t> found,
                              target::MachineAttr machine,
                              mlir::OwningOpRef<mlir::ModuleOp> &module) {
  auto import = wanted.mayStayOpen ? importOpen : frontends::importModel;
  frontends::ImportResult result =
      import(choices.model,
             {shapes, choices.name, choices.externalData,
              choices.tfliteRounding, choices.customs.functions, found.vec(),
              /*isSample=*/!choices.ranges.empty() || !sizes.empty() ||
                  choices.foundSizes,
              choices.values, choices.limits,
              choices.stream ? choices.stream->input : "",
              /*trial=*/"", importedBatch,
              /*takesOneSample=*/!wanted.mayStayOpen, expectedSizes},
             context, wanted.command);
  // Further imports are of the same shapes.
  choices.shapes.insert(result.samples.begin(), result.samples.end());
  if (result.status != frontends::ImportStatus::ok) {
    ExitCode code = exitCodeOf(result.status);
    return code == ExitCode::usage && result.trial
               ? checkTrial(std::move(result.trial), machine)
               : code;
  }
  module = std::move(result.module);
  choices.customs.storeIn(*module);
  if (wanted.keepsImport)
    savedOp = llvm::cast<mlir::ModuleOp>((*module)->clone());
  if (ExitCode code = quantize(module); code != ExitCode::done)
    return code;
  auto name = (*module)->getAttrOfType<mlir::StringAttr>(nn::kModelAttr);
  std::vector<std::string> clashes =
      choices.customs.findClashes(name ? name.getValue() : "");
  for (const std::string &clash : clashes)
    mlir::emitError(mlir::UnknownLoc::get(&context)) << "--custom: " << clash;
  if (!clashes.empty())
    return ExitCode::usage;
  (*module)->setAttr(target::kTargetAttr, machine);
  mlir::PassManager manager(&context);
  manager.addPass(createConstraints());
  if (mlir::failed(manager.run(*module)))
    return ExitCode::ownFault;
  metadata = std::move(result.metadata);
  dimNames = std::move(result.dimNames);
  foundSizes = std::move(result.foundSizes);
  dataFiles = std::move(result.dataFiles);
  return ExitCode::done;
}

std::unique_ptr<mlir::Pass>
Driver::createConstraints(const std::string &target) const {
  // The options refer to these lists.
  std::vector<std::string> memories, weightMemories;
  for (const MemoryChoice &memory : choices.memories)
    (memory.holdsWeights ? weightMemories : memories)
        .push_back(fmt::format("{}:{}{}", memory.name, memory.bytes,
                               memory.slow ? ":slow" : ""));
  SetConstraintsOptions constraints;
  constraints.target = target;
  // Without a target the module has one, with these figures.
  constraints.probe = target.empty() ? "" : choices.probe;
  constraints.memories = memories;
  constraints.weightMemories = weightMemories;
  return createSetConstraints(constraints);
}

void Driver::addConstraints(mlir::PassManager &manager,
                            const std::string &target) const {
  auto constrain = [&](mlir::OpPassManager &network) {
    network.addPass(createConstraints(target));
  };
  if (finder)
    addForEachSize(manager, constrain);
  else
    constrain(manager);
}

std::vector<std::string> Driver::findSources() const {
  std::vector<std::string> files = {choices.model};
  llvm::append_range(files, dataFiles);
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

ExitCode Driver::stream() {
  auto function = *op->getOps<mlir::func::FuncOp>().begin();
  std::vector<std::string> names;
  std::optional<unsigned> input;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (nn::getNextValue(function, i))
      continue;
    auto name = function.getArgAttrOfType<mlir::StringAttr>(i, nn::kNameAttr);
    names.push_back(name ? name.getValue().str() : "");
    if (names.back() == choices.stream->input)
      input = i;
  }
  if (choices.stream->input.empty() && names.size() == 1)
    input = 0;
  if (!input) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << (choices.stream->input.empty()
                ? "has several inputs; say which one is a window of time with "
                  "--stream=INPUT=AXIS"
                : "has no input '" + choices.stream->input +
                      "' that is a window of time")
        << "; there " << (names.size() == 1 ? "is " : "are ")
        << llvm::join(names, ", ")
        << frontends::didYouMean(choices.stream->input, names);
    return ExitCode::usage;
  }
  StreamOptions options;
  options.input = *input;
  options.axis = choices.stream->axis;
  options.hop = choices.stream->frames;
  mlir::PassManager manager(&context);
  manager.nest<mlir::func::FuncOp>().addPass(createStream(options));
  streamPasses = spellPasses(manager);
  return mlir::succeeded(manager.run(*op)) ? ExitCode::done : ExitCode::usage;
}

namespace {
/// Copies the module before a pass on it.
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

/// Passes that fail where the model needs what nnc lacks, which the frontend
/// could not see. A failure of another is a bug.
constexpr llvm::StringLiteral mayRefuse[] = {
    "nnc-qnn-canonicalize", "nnc-legalize",
    "nnc-choose-routines",  "nnc-batch",
    "nnc-mark-varying",     "nnc-retype-samples",
    "nnc-generalize"};
} // namespace

WeightRules Driver::weightRules() const {
  return {choices.weightBits, choices.weightsEncoding,
          /*weighsBytes=*/choices.maxWeights || choices.limitsPlan() ||
              wanted.findsFront};
}

PipelineOptions
Driver::pipelineOptions(std::shared_ptr<const TuningFile> tuned) const {
  PipelineOptions options;
  options.target = ""; // that which the module has
  options.threads = choices.threads;
  options.maxError = choices.maxError;
  options.layouts = choices.layouts;
  options.precision = choices.precision;
  options.portsInArena = choices.portsInArena;
  options.maxRam = routinesRam;
  options.optimize = choices.optimize;
  options.weights = weightRules();
  options.maxWeights = choices.maxWeights.value_or(options.maxWeights);
  if (choices.limitsPlan())
    options.maxNs = std::llround(1e9 * getMaxSeconds());
  options.decodeRam = choices.maxRam.value_or(options.decodeRam);
  options.findsWeightsFront = wanted.findsFront;
  options.tuning = tuned && tuned == tuning ? choices.tuning : "";
  options.tuned = std::move(tuned);
  return options;
}

ExitCode Driver::compile() {
  Progress progress("compiling");
  ExitCode code = compileOne();
  if (code == ExitCode::done && !choices.otherShapes.empty())
    code = compileOthers();
  if (code == ExitCode::done)
    progress.setResult(describeCompiled(*op));
  return code;
}

ExitCode Driver::compileOne() {
  if (wanted.keepStages)
    importedOp = llvm::cast<mlir::ModuleOp>((*op)->clone());
  if (finder)
    if (ExitCode code = gatherSamples(); code != ExitCode::done)
      return code;
  mlir::OwningOpRef<mlir::ModuleOp> whole;
  const bool cutsRam =
      !choices.batch && (choices.maxRam || !choices.memories.empty());
  if (cutsRam)
    whole = llvm::cast<mlir::ModuleOp>((*op)->clone());
  auto plan = [&] { return choices.batch ? compileBatch() : runPasses(); };
  ExitCode code = plan();
  if (code == ExitCode::done)
    code = checkWeightMemories();
  if (code == ExitCode::done && choices.limitsPlan())
    code = checkLatency();
  if (code == ExitCode::done && cutsRam)
    code = fitIntoRam(std::move(whole));
  notePasses();
  return code;
}

bool Driver::exceedsMaxWeights() {
  return llvm::any_of(
      op->getOps<exec::ProgramOp>(), [&](exec::ProgramOp program) {
        return static_cast<int64_t>(codegen::getWeightsBytes(program)) >
               *choices.maxWeights;
      });
}

ExitCode Driver::checkWeightMemories() {
  ExitCode code = ExitCode::done;
  for (auto program : op->getOps<exec::ProgramOp>())
    if (auto bytes = static_cast<int64_t>(codegen::getWeightsBytes(program));
        choices.maxWeights && bytes > *choices.maxWeights) {
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << fmt::format("has weights of {} bytes at least{}, {} more than the "
                         "{} of --max-weights; prune them or let them share "
                         "values (nnc compress), or quantize the model",
                         bytes,
                         choices.weightsEncoding == "auto"
                             ? ""
                             : fmt::format(" with --weights-encoding={}",
                                           choices.weightsEncoding),
                         bytes - *choices.maxWeights, *choices.maxWeights);
      code = ExitCode::limit;
    }
  if (wanted.exceedsRam)
    return code;
  for (auto program : op->getOps<exec::ProgramOp>())
    for (auto memory :
         program.getWeightMemories().getAsRange<exec::MemoryAttr>())
      if (memory.getBytes() > memory.getSize()) {
        mlir::emitError(
            mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
            << fmt::format("needs {} bytes of weights in the memory '{}', "
                           "beside what the others hold, and --pool gives it "
                           "{}",
                           memory.getBytes(), memory.getName().str(),
                           memory.getSize());
        code = ExitCode::limit;
      }
  return code;
}

ExitCode Driver::planWithin(int64_t ram, mlir::ModuleOp whole,
                            RamDemand &demand) {
  routinesRam = ram;
  op = llvm::cast<mlir::ModuleOp>(whole->clone());
  ExitCode code = runPasses();
  if (code == ExitCode::done)
    demand = countRam(*op);
  return code;
}

ExitCode Driver::fitRoutines(mlir::ModuleOp whole, RamDemand &least) {
  const int64_t limit = choices.maxRam.value_or(INT64_MAX);
  const int64_t all = least.bytes;
  // These do not depend on the limit, so that the least of them is what any
  // limit allows. Behind 0, where each layer takes the least, come sizes below
  // the least so far, where the layers that need the most do.
  int64_t sizes[] = {all / 4 * 3, all / 2, all / 4, 0, -1, -1, -1, -1};
  for (int64_t ram : sizes) {
    const int64_t before = least.bytes;
    const bool isBelow = ram < 0;
    if (isBelow)
      ram = before / 8 * 7;
    RamDemand demand;
    if (ExitCode code = planWithin(ram, whole, demand); code != ExitCode::done)
      return code;
    if (demand.bytes < before || (demand.bytes == before && least.tooSmall))
      least = demand;
    if (demand.fits(limit))
      return useRest(ram, whole);
    if (isBelow && demand.bytes >= before)
      break;
  }
  return ExitCode::done;
}

ExitCode Driver::useRest(int64_t ram, mlir::ModuleOp whole) {
  if (!choices.maxRam)
    return ExitCode::done;
  RamDemand demand;
  ExitCode code = planWithin(*choices.maxRam, whole, demand);
  if (code != ExitCode::done || demand.fits(*choices.maxRam))
    return code;
  return planWithin(ram, whole, demand);
}

ExitCode Driver::fitIntoRam(mlir::OwningOpRef<mlir::ModuleOp> whole) {
  const int64_t limit = choices.maxRam.value_or(INT64_MAX);
  RamDemand demand = countRam(*op);
  if (demand.fits(limit))
    return ExitCode::done;
  Progress progress("looking for routines and strips that take less memory");
  if (ExitCode code = fitRoutines(*whole, demand); code != ExitCode::done)
    return code;
  if (countRam(*op).fits(limit))
    return ExitCode::done;
  // Strips are worth a try where the memories together have room for them.
  int64_t sizes = 0;
  for (const MemoryChoice &memory : choices.memories)
    sizes += memory.holdsWeights ? 0 : memory.bytes;
  if (sizes == 0)
    sizes = limit;
  int64_t least = demand.bytes;
  routinesRam = INT64_MAX;
  PipelineOptions options = pipelineOptions(tuning);
  // A network at several sizes has no strips: each size would need others.
  mlir::OwningOpRef<mlir::ModuleOp> cut;
  if (!finder)
    cut = cutIntoStrips(*whole, std::min(limit, sizes), options, least,
                        stripPasses);
  if (cut) {
    routinesRam = options.maxRam;
    op = std::move(cut);
    return runPasses();
  }
  if (least < demand.bytes)
    stripsRam = least;
  if (!wanted.exceedsRam)
    return reportRam(demand);
  // The command shows what the model takes without a limit.
  return planWithin(INT64_MAX, *whole, demand);
}

std::string Driver::adviseOnRam() const {
  return adviseOnPorts(choices) + "; the stack comes on top";
}

ExitCode Driver::reportRam(const RamDemand &demand) {
  const int64_t limit = choices.maxRam.value_or(INT64_MAX);
  mlir::Location file =
      mlir::FileLineColLoc::get(&context, choices.model, 0, 0);
  std::string hint = adviseOnRam();
  if (demand.bytes <= limit) {
    mlir::emitError(file) << describeTooSmall(demand.tooSmall)
                          << "; layers computed in strips do not fit either"
                          << hint;
    return ExitCode::limit;
  }
  mlir::emitError(file)
      << (stripsRam
              ? fmt::format("needs {} bytes of RAM with layers computed in "
                            "strips, {} more than the {} of --max-ram",
                            *stripsRam, *stripsRam - limit, limit)
              : fmt::format("needs {} bytes of RAM, which layers computed in "
                            "strips cannot bring down to the {} of --max-ram",
                            demand.bytes, limit))
      << hint;
  return ExitCode::limit;
}

void Driver::keepStages(mlir::PassManager &manager) {
  if (!wanted.keepStages)
    return;
  manager.addInstrumentation(
      std::make_unique<KeepBefore>("nnc-choose-routines", formedOp));
  manager.addInstrumentation(
      std::make_unique<KeepBefore>("nnc-lower-to-exec", layeredOp));
}

ExitCode Driver::runPasses() {
  mlir::PassManager manager(&context);
  keepStages(manager);
  if (finder) {
    buildSizesPipeline(manager, pipelineOptions(tuning));
  } else {
    buildLayersPipeline(manager, pipelineOptions(tuning));
    buildPlanPipeline(manager, pipelineOptions(tuning));
  }
  auto advice = adviseOnSizes();
  return runPipeline(manager, *op);
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
  mlir::OwningOpRef<mlir::ModuleOp> copy = importedOp->clone();
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
  buildPlanPipeline(manager, pipelineOptions(std::move(other)));
  codegen::EmitOptions options;
  options.threads = choices.threads;
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
  options.threads = choices.threads;
  if (choices.library)
    options.library = fmt::format(
        "lib{}.so", (*op)
                        ->getAttrOfType<mlir::StringAttr>(nn::kModelAttr)
                        .getValue()
                        .str());
  if (!metadata.empty()) {
    auto name = (*op)->getAttrOfType<mlir::StringAttr>(nn::kModelAttr);
    options.metadata = metadataHeader(name.getValue().str(), metadata);
    options.properties = metadata;
  }
  // Stages that are kept have the model's weights, too.
  ModelWeights weights =
      wanted.keepStages ? ModelWeights::keep : ModelWeights::release;
  std::error_code failure;
  if (mlir::failed(emitCode(*op, folder, options, weights, &failure)))
    return codeOfFailure(failure, ExitCode::ownFault);
  progress.setResult(describeFolder(folder));
  return ExitCode::done;
}

} // namespace nnc::tools
