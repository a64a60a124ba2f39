//===- Pipeline.h - From imported model to exec ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PIPELINES_PIPELINE_H
#define NNC_COMPILER_PIPELINES_PIPELINE_H

#include "compiler/routines/LayoutScope.h"
#include "compiler/routines/Optimize.h"
#include "compiler/routines/Precision.h"
#include "compiler/routines/TuningFile.h"
#include "compiler/routines/WeightRules.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace nnc {

/// The user's choices that the passes need.
struct PipelineOptions {
  /// Name of a row of dialects/target/targets.inc.
  std::string target = "native";
  /// Number of threads that may share a layer, see nnc-plan-memory.
  int threads = 1;
  double maxError = 5e-6; ///< see nnc-choose-routines
  LayoutScope layouts = LayoutScope::global;
  Precision precision = Precision::f32;  ///< see nnc-choose-routines
  Optimize optimize = Optimize::balance; ///< see nnc-choose-routines
  bool portsInArena = false;             ///< see nnc-plan-memory
  /// Bytes, see nnc-choose-routines.
  int64_t maxRam = std::numeric_limits<int64_t>::max();
  WeightRules weights; ///< see nnc-choose-routines
  /// Bytes of all weights, and of RAM into which weights are decoded, and the
  /// time of a run; see nnc-choose-routines.
  int64_t maxWeights = std::numeric_limits<int64_t>::max();
  int64_t maxNs = std::numeric_limits<int64_t>::max();
  int64_t decodeRam = std::numeric_limits<int64_t>::max();
  bool findsWeightsFront = false; ///< see nnc-choose-routines
  /// Path of a file with measured costs and choices, or empty.
  std::string tuning;
  /// The contents of a tuning file that is already read, or null. With them,
  /// passes read `tuning` only where nnc-opt runs them by their names.
  std::shared_ptr<const TuningFile> tuned;
};

/// Runs passes on a module, and reports why where they fail.
using PassRunner = std::function<mlir::LogicalResult(mlir::PassManager &manager,
                                                     mlir::ModuleOp module)>;

/// Registers every dialect of nnc and those that it builds on.
void registerDialects(mlir::DialectRegistry &registry);

/// The passes from an imported module up to an exec program that codegen
/// prints: the three parts below, in order. Each line of the definitions says
/// why it stands where it does.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// The beginning of the first of them, after which there are no quantized ops.
/// `target` is a row of targets.inc.
void buildQuantizedPipeline(mlir::OpPassManager &manager,
                            const std::string &target);

/// The first of them, up to layers without routines: their forming and their
/// fusing.
void buildLayersPipeline(mlir::OpPassManager &manager,
                         const PipelineOptions &options);
void buildFormPipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);
void buildFusePipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);

/// The next, from the choice of routines up to an exec program.
void buildPlanPipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);
/// Its parts: up to places for all values, and from there on.
void buildPlacePipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);
void buildLowerPipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);

/// The last, after which weights are bytes; `release` is that of
/// nnc-encode-weights.
void buildEncodePipeline(mlir::OpPassManager &manager, bool release = false);

/// Registers `--nnc-pipeline` for nnc-opt.
void registerPipeline();

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_PIPELINE_H
