//===- Driver.h - From a model file to an emitted folder ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_COMPILE_DRIVER_H
#define NNC_COMPILER_TOOLS_DRIVER_COMPILE_DRIVER_H

#include "compiler/pipelines/Pipeline.h"
#include "compiler/planners/BatchPlanner.h"
#include "compiler/tools/driver/console/Diagnostics.h"
#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/import/Importer.h"
#include "compiler/tools/driver/import/PassRecord.h"
#include "compiler/tools/driver/options/ModelOptions.h"
#include "dialects/target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// The steps from a model to code. Each step works on the result of the
/// previous one, and reports its problems.
class Driver {
public:
  explicit Driver(ModelOptions options, DriverOptions wanted = {});

  ExitCode import();
  /// Lowers the imported module to the exec dialect.
  ExitCode compile();
  /// Writes the code to a new folder.
  ExitCode emit(const std::string &folder);
  /// Returns the layers that are formed from imported() with the tuning file
  /// `other`. Returns null, and reports why, if that fails.
  mlir::OwningOpRef<mlir::ModuleOp>
  formLayers(std::shared_ptr<const TuningFile> other);
  /// Writes the code of these layers, with the routines that `other` chooses,
  /// to a new folder.
  ExitCode emitTuned(mlir::ModuleOp layers,
                     std::shared_ptr<const TuningFile> other,
                     const std::string &folder);

  /// Return the module at one of three stages: as it was imported, before
  /// routines were chosen for its layers, and before its layers became calls.
  /// `function` selects another function of the module, which is for one of
  /// ModelOptions::otherShapes; 0 is the first.
  mlir::ModuleOp imported() { return importedFor(0); }
  mlir::ModuleOp formed() { return *stages.front().formed; }
  mlir::ModuleOp layered() { return layeredFor(0); }
  mlir::ModuleOp importedFor(size_t function) {
    return *stages[function].imported;
  }
  mlir::ModuleOp layeredFor(size_t function) {
    return *stages[function].layered;
  }
  /// Returns the module in the state in which the last step left it.
  mlir::ModuleOp module() { return op ? *op : *model.module; }
  /// Returns a sentence about the layers that QuantizeChoice::quantize has kept
  /// float, or an empty string.
  const std::string &describeQuantization() const { return model.quantizeNote; }
  /// Returns the sizes of the imported model that depend on data.
  const std::vector<frontends::FoundSize> &getFoundSizes() const {
    return model.foundSizes;
  }
  /// Returns the smallest number of bytes of RAM that a plan with layers in
  /// strips takes, if no plan stays within ModelOptions::maxRam.
  std::optional<int64_t> leastRam() const { return stripsRam; }
  /// Returns the paths of all files that the code depends on: the model, its
  /// external data, and files that options name.
  std::vector<std::string> findSources() const;
  /// Returns the chosen batch sizes, if ModelOptions::batch is set.
  const std::optional<BatchChoice> &batch() const { return batchChoice; }
  /// Returns the passes that have made the compiled module from the imported
  /// one.
  const PassRecord &passes() const { return record; }
  /// Returns the contents of the file of --tuning, or null.
  const TuningFile *tuned() const { return tuning.get(); }
  const ModelOptions &options() const { return choices; }
  WeightRules weightRules() const;

private:
  /// Returns the target with the figures of --probe, and reads `tuning`.
  /// Reports everything that is wrong with these options.
  mlir::FailureOr<target::MachineAttr> findMachine();
  /// Returns the number of threads for each of which the arena has scratch
  /// memory.
  int countShares() const;
  PipelineOptions
  pipelineOptions(std::shared_ptr<const TuningFile> tuned) const;
  ExitCode runPipeline(mlir::PassManager &manager, mlir::ModuleOp module);
  /// Returns a callback with which a planner runs passes. It works as
  /// runPipeline() does, keeps the stages that are wanted, and sets `failure`
  /// if a pass fails.
  PassRunner makeRunner(ExitCode &failure);
  /// Sets `op` to the program of an imported module.
  ExitCode compileModel(ImportedModel &imported);
  /// Sets `op` to a program that stays within the limits of memory.
  ExitCode compileWithinRam(ImportedModel &imported);
  /// Sets `op` to a program with a batch size for each part of the module.
  /// `imported` is the module for the largest batch.
  ExitCode compileBatch(ImportedModel &imported);
  /// Reports an error if the plan is estimated to take more than --max-latency.
  /// Plans with --batch are not checked here.
  ExitCode checkLatency();
  /// Compiles the model for a single sample, as without --batch, because no
  /// plan with batch sizes stays within --max-ram or the memories.
  ExitCode compileOneSample();
  /// Adds a program for each of ModelOptions::otherShapes.
  ExitCode compileOthers();
  /// Records the passes that have made `op`.
  void finish(ImportedModel &imported, const PlannedPasses &planned);

  ModelOptions choices;
  DriverOptions wanted;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  std::shared_ptr<const TuningFile> tuning;
  double clockFactor = 1; ///< ModelOptions::getClockFactor()
  bool isGpu = false;     ///< whether the target is a GPU
  std::unique_ptr<Importer> importer;
  ImportedModel model;
  mlir::OwningOpRef<mlir::ModuleOp> op; ///< the compiled module
  /// Copies of the module before certain passes, if DriverOptions::keepStages
  /// is set.
  struct Stages {
    mlir::OwningOpRef<mlir::ModuleOp> imported, formed, layered;
  };
  std::vector<Stages> stages; ///< for each set of input shapes
  PassRecord record;
  /// The bytes of RAM for which routines are chosen (PipelineOptions::maxRam).
  int64_t routinesRam = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> stripsRam;
  std::optional<BatchChoice> batchChoice;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_DRIVER_H
