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
  // First, while dequantizations and quantizations still show which floats are
  // quantized.
  manager.addPass(createQnnFuse({target}));
  // Before nnc-qnn-canonicalize turns zero points into constants.
  manager.addPass(createQnnLegalize({target}));
  // From here on there are only ops of the nn dialect.
  manager.nest<func::FuncOp>().addPass(createQnnCanonicalize());
}

void nnc::buildLayersPipeline(OpPassManager &manager,
                              const PipelineOptions &options) {
  buildFormPipeline(manager, options);
  buildFusePipeline(manager, options);
}

void nnc::buildFormPipeline(OpPassManager &manager,
                            const PipelineOptions &options) {
  buildQuantizedPipeline(manager, options.target);
  // Early, so that later patterns find folded constants and no identities.
  manager.nest<func::FuncOp>().addPass(createSimplify());
  // After nnc-simplify, since branches with constant conditions may leave
  // values without readers, and before patterns that ask which values have a
  // single use.
  manager.addPass(createDropUnread());
  OpPassManager &function = manager.nest<func::FuncOp>();
  // Before ops are merged with their neighbours, as the pass looks for whole
  // expressions.
  function.addPass(createRecompose());
  // Recomposition leaves behind unused values and equal values.
  function.addPass(createSimplify());
  // From here on every op has a routine.
  function.addPass(createLegalize());
  // While conversions between integers and floats stand beside the ops that
  // compute with the floats, and before layers are formed of these ops.
  manager.addPass(createTabulate({options.target}));
  // The last of the passes on ops: later passes work on layers.
  manager.nest<func::FuncOp>().addPass(createFormLayers());
}

void nnc::buildFusePipeline(OpPassManager &manager,
                            const PipelineOptions &options) {
  // Before epilogues get casts. With `plain` or `local` layouts no layers are
  // fused, because a fused layer would hide the cost of the layout between its
  // two parts.
  if (options.layouts == LayoutScope::global ||
      options.layouts == LayoutScope::fixed) {
    FuseLayersOptions fusion;
    fusion.target = options.target;
    fusion.maxError = options.maxError;
    fusion.weightsEncoding = options.weights.encoding;
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
  // On the whole graph at once, since the layouts of neighbours affect each
  // other's costs.
  ChooseRoutinesOptions choice;
  choice.target = options.target;
  choice.maxError = options.maxError;
  choice.boundRounding = options.boundRounding;
  choice.layouts = options.layouts;
  // Models with the precision i8 have been quantized before.
  choice.precision =
      options.precision == Precision::i8 ? Precision::f32 : options.precision;
  choice.optimize = options.optimize;
  choice.maxRam = options.maxRam;
  choice.threads = options.threads;
  choice.portsInArena = options.portsInArena;
  choice.weightsEncoding = options.weights.encoding;
  choice.maxWeights = options.maxWeights;
  choice.maxNs = options.maxNs;
  choice.decodeRam = options.decodeRam;
  choice.weightsFront = options.findsWeightsFront;
  choice.tuning = options.tuning;
  manager.addPass(createChooseRoutines(choice, options.tuned));
  // After the choice of layouts, and before values get places, since every
  // adapt needs a buffer. With local layouts, the pass would remove the adapts
  // between layers that this choice asks for.
  if (options.layouts != LayoutScope::local)
    manager.addPass(createPropagateLayout());
  // After the choice of routines, which looks for the longer forms.
  manager.addPass(createMergeRounding());
  // When no pass adds a layer, adapt or decode any more.
  if (options.threads > 1)
    manager.addPass(createAssignThreads());
  // When no later pass moves, adds or removes a value.
  manager.addPass(createPlanMemory(
      {options.threads, options.portsInArena, options.hostPorts}));
}

void nnc::buildLowerPipeline(OpPassManager &manager,
                             const PipelineOptions &options) {
  manager.addPass(createLowerToExec());
  // When equal calls already share code.
  manager.addPass(createShareCode({options.optimize}));
}

void nnc::buildEncodePipeline(OpPassManager &manager, bool release) {
  // Last, because encoding takes memory and time that only emitted code needs,
  // and no later pass reads the weights.
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
          clEnumValN(nnc::Precision::tf32, "tf32",
                     "floats, which products may round to tf32"),
          clEnumValN(nnc::Precision::bf16, "bf16", "floats or bfloat16"),
          clEnumValN(nnc::Precision::f16, "f16", "floats or halves"))};
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
        options.weights.encoding = flags.weightsEncoding;
        options.maxWeights = flags.maxWeights;
        options.maxNs = flags.maxNs;
        buildPipeline(manager, options);
      });
}
