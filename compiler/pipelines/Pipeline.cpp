//===- Pipeline.cpp - From imported model to exec -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipelines/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "dialects/exec/Exec.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void nnc::registerDialects(DialectRegistry &registry) {
  registry.insert<exec::ExecDialect, nn::NnDialect, qnn::QnnDialect,
                  target::TargetDialect, quant::QuantizationDialect,
                  func::FuncDialect, arith::ArithDialect>();
}

void nnc::buildPipeline(OpPassManager &manager,
                        const PipelineOptions &options) {
  buildLayersPipeline(manager, options);
  buildPlanPipeline(manager, options);
  buildEncodePipeline(manager);
}

void nnc::buildQuantizedPipeline(OpPassManager &manager,
                                 const std::string &target) {
  // First of all, while it shows which floats are quantized.
  manager.addPass(createQnnFuse({target}));
  // Before zero points become constants.
  manager.addPass(createQnnLegalize({target}));
  // From here on there is nn alone.
  manager.nest<func::FuncOp>().addPass(createQnnCanonicalize());
}

/// Sets the options of a pass that has those of WeightOptions.td.
template <class Options>
static void setRules(Options &options, const nnc::WeightRules &rules) {
  options.weightBits = rules.leastBits;
  options.weightsEncoding = rules.encoding;
}

void nnc::buildLayersPipeline(OpPassManager &manager,
                              const PipelineOptions &options) {
  buildFormPipeline(manager, options);
  buildFusePipeline(manager, options);
}

void nnc::buildFormPipeline(OpPassManager &manager,
                            const PipelineOptions &options) {
  buildQuantizedPipeline(manager, options.target);
  // Early, so that later patterns see constants and no identities.
  manager.nest<func::FuncOp>().addPass(createSimplify());
  // Behind it, which tells of values that nobody reads where conditions are
  // constant, and before patterns ask which values have one use.
  manager.addPass(createDropUnread());
  OpPassManager &function = manager.nest<func::FuncOp>();
  // Before ops are merged with their neighbours: it looks for expressions.
  function.addPass(createRecompose());
  // Recomposed ops leave values that nothing uses, or that are equal now.
  function.addPass(createSimplify());
  // From here on every op has a routine.
  function.addPass(createLegalize());
  // While conversions between integers and floats stand beside what computes
  // with the floats, and before layers are formed of them.
  manager.addPass(createTabulate({options.target}));
  // Last of the passes on ops: from here on the unit is the layer.
  manager.nest<func::FuncOp>().addPass(createFormLayers());
}

void nnc::buildFusePipeline(OpPassManager &manager,
                            const PipelineOptions &options) {
  // Before epilogues get casts. Where layouts are limited it would hide what
  // they are worth between two layers.
  if (options.layouts == LayoutScope::global ||
      options.layouts == LayoutScope::fixed) {
    FuseLayersOptions fusion;
    fusion.target = options.target;
    fusion.maxError = options.maxError;
    setRules(fusion, options.weights);
    fusion.tuning = options.tuning;
    manager.addPass(createFuseLayers(fusion, options.tuned));
  }
}

void nnc::buildPlanPipeline(OpPassManager &manager,
                            const PipelineOptions &options) {
  buildPlacePipeline(manager, options);
  buildLowerPipeline(manager, options);
}

void nnc::buildPlacePipeline(OpPassManager &manager,
                             const PipelineOptions &options) {
  // Over the whole graph at once, as layouts of neighbours weigh on each other.
  ChooseRoutinesOptions choice;
  choice.target = options.target;
  choice.maxError = options.maxError;
  choice.layouts = options.layouts;
  // Models with the precision i8 are quantized before.
  choice.precision =
      options.precision == Precision::f16 ? Precision::f16 : Precision::f32;
  choice.optimize = options.optimize;
  choice.maxRam = options.maxRam;
  choice.threads = options.threads;
  choice.portsInArena = options.portsInArena;
  setRules(choice, options.weights);
  choice.maxWeights = options.maxWeights;
  choice.maxNs = options.maxNs;
  choice.decodeRam = options.decodeRam;
  choice.weightsFront = options.findsWeightsFront;
  choice.tuning = options.tuning;
  manager.addPass(createChooseRoutines(choice, options.tuned));
  // After layouts are known, before places are: every adapt is a buffer. With
  // local layouts it would make them global.
  if (options.layouts != LayoutScope::local)
    manager.addPass(createPropagateLayout());
  // When every call is there.
  if (options.threads > 1)
    manager.addPass(createAssignThreads());
  // When no pass moves, adds or removes a value any more.
  manager.addPass(createPlanMemory({options.threads, options.portsInArena}));
}

void nnc::buildLowerPipeline(OpPassManager &manager,
                             const PipelineOptions &options) {
  manager.addPass(createLowerToExec());
  // When equal calls share code already.
  manager.addPass(createShareCode({options.optimize}));
}

void nnc::buildEncodePipeline(OpPassManager &manager, bool release) {
  // Last of all: it takes memory and time that only emitted code is worth, and
  // no pass reads weights once they are bytes.
  manager.addPass(createEncodeWeights({release}));
}

namespace {
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("row of targets.inc"),
                             llvm::cl::init("native")};
  Option<int> threads{*this, "threads", llvm::cl::desc("as of nnc-plan-memory"),
                      llvm::cl::init(nnc::PipelineOptions().threads)};
  Option<double> maxError{*this, "max-error",
                          llvm::cl::desc("as of nnc-choose-routines"),
                          llvm::cl::init(nnc::PipelineOptions().maxError)};
  Option<nnc::Optimize> optimize{
      *this, "optimize", llvm::cl::desc("as of nnc-choose-routines"),
      llvm::cl::init(nnc::Optimize::balance),
      llvm::cl::values(clEnumValN(nnc::Optimize::size, "size", "code bytes"),
                       clEnumValN(nnc::Optimize::balance, "balance", "both"),
                       clEnumValN(nnc::Optimize::speed, "speed", "time"))};
  Option<nnc::Precision> precision{
      *this, "precision", llvm::cl::desc("what layers of floats compute with"),
      llvm::cl::init(nnc::Precision::f32),
      llvm::cl::values(
          clEnumValN(nnc::Precision::f32, "f32", "floats"),
          clEnumValN(nnc::Precision::f16, "f16", "floats or halves"))};
  Option<int64_t> weightBits{*this, "weight-bits",
                             llvm::cl::desc("as of nnc-choose-routines"),
                             llvm::cl::init(nnc::WeightRules().leastBits)};
  Option<std::string> weightsEncoding{
      *this, "weights-encoding", llvm::cl::desc("as of nnc-choose-routines"),
      llvm::cl::init(nnc::WeightRules().encoding)};
  Option<int64_t> maxWeights{*this, "max-weights",
                             llvm::cl::desc("as of nnc-choose-routines"),
                             llvm::cl::init(nnc::PipelineOptions().maxWeights)};
  Option<int64_t> maxNs{*this, "max-ns",
                        llvm::cl::desc("as of nnc-choose-routines"),
                        llvm::cl::init(nnc::PipelineOptions().maxNs)};
};
} // namespace

void nnc::registerPipeline() {
  PassPipelineRegistration<PipelineFlags>(
      "nnc-pipeline",
      "Everything from an imported module to what codegen prints",
      [](OpPassManager &manager, const PipelineFlags &flags) {
        PipelineOptions options;
        options.target = flags.target;
        options.threads = flags.threads;
        options.maxError = flags.maxError;
        options.precision = flags.precision;
        options.optimize = flags.optimize;
        options.weights.leastBits = flags.weightBits;
        options.weights.encoding = flags.weightsEncoding;
        options.maxWeights = flags.maxWeights;
        options.maxNs = flags.maxNs;
        buildPipeline(manager, options);
      });
}
