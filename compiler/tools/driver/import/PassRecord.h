//===- PassRecord.h - Passes that nnc-opt makes a module with -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_IMPORT_PASSRECORD_H
#define NNC_COMPILER_TOOLS_DRIVER_IMPORT_PASSRECORD_H

#include "compiler/planners/StripPlanner.h"
#include "compiler/tools/driver/import/Importer.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// Returns the passes of a manager in the syntax of nnc-opt --pass-pipeline,
/// without the op around them.
std::string spellPasses(mlir::OpPassManager &manager);

/// The options, strips and batches with which the passes were run that made a
/// program from an imported module.
struct PlannedPasses {
  PipelineOptions options;
  /// Strips into which its first layers are cut.
  std::optional<StripChoice> strips;
  /// Planner that divided it into batches, or null.
  const BatchPlanner *batch = nullptr;
};

/// The passes that made a module, and the imported modules from which they
/// started, one for each set of input shapes.
class PassRecord {
public:
  /// Adds the program for one set of shapes, whose import `model` holds.
  void add(const ModelOptions &options, ImportedModel &model, bool isSampled,
           const PlannedPasses &planned);
  /// Returns the command line of nnc-opt that makes the module, or an error if
  /// nnc-opt cannot make it.
  llvm::Expected<std::string> spell(const ModelOptions &options) const;
  /// Returns the text of the imported module from which that command line
  /// starts.
  std::string spellImport() const;

private:
  /// Returns the passes up to the programs for all sets of shapes.
  std::string spellPrograms() const;

  /// Passes up to the program, for each set of shapes.
  std::vector<std::string> passes;
  bool isNested = false; ///< whether the module of some set has modules inside
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> imports;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_PASSRECORD_H
