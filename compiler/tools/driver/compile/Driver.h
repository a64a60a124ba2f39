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
  /// before they became calls: stages of the first shape, and of another
  /// function of the module, which is for one of ModelOptions::otherShapes.
  mlir::ModuleOp imported() { return importedFor(0); }
  mlir::ModuleOp formed() { return *stages.front().formed; }
  mlir::ModuleOp layered() { return layeredFor(0); }
  mlir::ModuleOp importedFor(size_t function) {
    return *stages[function].imported;
  }
  mlir::ModuleOp layeredFor(size_t function) {
    return *stages[function].layered;
  }
  /// The module as the last step has left it.
  mlir::ModuleOp module() { return op ? *op : *model.module; }
  /// A sentence on the layers that QuantizeChoice::search has kept float, or an
  /// empty string.
  const std::string &describeQuantization() const { return model.quantizeNote; }
  /// The sizes of the imported model that data decide.
  const std::vector<frontends::FoundSize> &getFoundSizes() const {
    return model.foundSizes;
  }
  /// The smallest number of bytes of RAM that a plan with layers in strips
  /// took, if none was within ModelOptions::maxRam.
  std::optional<int64_t> leastRam() const { return stripsRam; }
  /// Returns the paths of all files that decide the code: the model, its
  /// external data, and those that options name.
  std::vector<std::string> findSources() const;
  /// The batch sizes, with ModelOptions::batch.
  const std::optional<BatchChoice> &batch() const { return batchChoice; }
  /// The passes that have made the compiled module of the imported one.
  const PassRecord &passes() const { return record; }
  /// What --tuning says, or null.
  const TuningFile *tuned() const { return tuning.get(); }
  const ModelOptions &options() const { return choices; }
  WeightRules weightRules() const;

private:
  /// The target with what --probe says of it, and `tuning`; reports all that is
  /// wrong with these options.
  mlir::FailureOr<target::MachineAttr> findMachine();
  PipelineOptions
  pipelineOptions(std::shared_ptr<const TuningFile> tuned) const;
  ExitCode runPipeline(mlir::PassManager &manager, mlir::ModuleOp module);
  /// Returns what runs passes of a planner as runPipeline() does, keeps stages
  /// if they are wanted, and sets `failure` where they fail.
  PassRunner makeRunner(ExitCode &failure);
  /// Makes `op` the program of an imported module.
  ExitCode compileModel(ImportedModel &imported);
  /// Makes it one that keeps to the limits of memory.
  ExitCode compileWithinRam(ImportedModel &imported);
  /// Makes it one with a batch size for each part of the module, which holds
  /// the largest batch.
  ExitCode compileBatch(ImportedModel &imported);
  /// Reports a plan that is estimated to take more than --max-latency, without
  /// --batch.
  ExitCode checkLatency();
  /// Compiles the model for one sample, as without --batch, where no plan for
  /// parts of a batch keeps to --max-ram or to the memories.
  ExitCode compileOneSample();
  /// Adds a program for each of ModelOptions::otherShapes.
  ExitCode compileOthers();
  /// Notes what has made `op`.
  void finish(ImportedModel &imported, const PlannedPasses &planned);

  ModelOptions choices;
  DriverOptions wanted;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  std::shared_ptr<const TuningFile> tuning;
  double clockFactor = 1; ///< ModelOptions::getClockFactor()
  std::unique_ptr<Importer> importer;
  ImportedModel model;
  mlir::OwningOpRef<mlir::ModuleOp> op; ///< the compiled module
  /// With DriverOptions::keepStages, the module before passes.
  struct Stages {
    mlir::OwningOpRef<mlir::ModuleOp> imported, formed, layered;
  };
  std::vector<Stages> stages; ///< of each shape
  PassRecord record;
  /// The bytes of RAM for which routines are chosen (PipelineOptions::maxRam).
  int64_t routinesRam = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> stripsRam;
  std::optional<BatchChoice> batchChoice;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_DRIVER_H
