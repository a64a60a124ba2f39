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
  /// Number of threads that may share a layer; see nnc-plan-memory.
  int threads = 1;
  double maxError = 5e-6; ///< see nnc-choose-routines
  /// Whether maxError bounds the rounding of halves, too.
  bool boundRounding = false;
  LayoutScope layouts = LayoutScope::global;
  Precision precision = Precision::f32;  ///< see nnc-choose-routines
  Optimize optimize = Optimize::balance; ///< see nnc-choose-routines
  bool portsInArena = false;             ///< see nnc-plan-memory
  bool hostPorts = false;                ///< see nnc-plan-memory
  /// RAM in bytes that the program may use; see nnc-choose-routines.
  int64_t maxRam = std::numeric_limits<int64_t>::max();
  WeightRules weights; ///< see nnc-choose-routines
  /// Limits on the bytes of all weights, on the nanoseconds of a run, and on
  /// the bytes of RAM into which weights are decoded; see nnc-choose-routines.
  int64_t maxWeights = std::numeric_limits<int64_t>::max();
  int64_t maxNs = std::numeric_limits<int64_t>::max();
  int64_t decodeRam = std::numeric_limits<int64_t>::max();
  bool findsWeightsFront = false; ///< see nnc-choose-routines
  /// Path of a file with measured costs and choices, or empty.
  std::string tuning;
  /// The contents of a tuning file that has been read already, or null. If they
  /// are set, a pass reads the file `tuning` only if nnc-opt runs it by its
  /// name.
  std::shared_ptr<const TuningFile> tuned;
};

/// A function that runs passes on a module and reports an error if they fail.
using PassRunner = std::function<mlir::LogicalResult(mlir::PassManager &manager,
                                                     mlir::ModuleOp module)>;

/// Registers every dialect of nnc and those that it builds on.
void registerDialects(mlir::DialectRegistry &registry);

/// Adds the passes from an imported module to an exec program that codegen
/// prints: those of buildLayersPipeline(), buildPlanPipeline() and
/// buildEncodePipeline(). The definitions say why each pass stands where it
/// does.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// Adds the first passes of buildFormPipeline(), which replace all quantized
/// ops. `target` is a row of targets.inc.
void buildQuantizedPipeline(mlir::OpPassManager &manager,
                            const std::string &target);

/// Adds the passes from an imported module to layers without routines: those of
/// buildFormPipeline(), which form layers of ops, and of buildFusePipeline(),
/// which fuse layers.
void buildLayersPipeline(mlir::OpPassManager &manager,
                         const PipelineOptions &options);
void buildFormPipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);
void buildFusePipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);

/// Adds the passes from layers without routines to an exec program: those of
/// buildPlacePipeline() and buildLowerPipeline().
void buildPlanPipeline(mlir::OpPassManager &manager,
                       const PipelineOptions &options);
/// Adds the passes that choose routines and place all values in memory (Place),
/// or those that turn the placed layers into an exec program (Lower).
void buildPlacePipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);
void buildLowerPipeline(mlir::OpPassManager &manager,
                        const PipelineOptions &options);

/// Adds the pass that encodes the weights of an exec program as bytes.
/// `release` is the option of nnc-encode-weights.
void buildEncodePipeline(mlir::OpPassManager &manager, bool release = false);

/// Registers `--nnc-pipeline` for nnc-opt.
void registerPipeline();

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_PIPELINE_H
