//===- PassRecord.h - What nnc-opt makes a module with --------------------===//
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

/// Returns the passes of a manager as nnc-opt --pass-pipeline takes them,
/// without the op around them.
std::string spellPasses(mlir::OpPassManager &manager);

/// The options, strips and batches by which passes have made a program of an
/// imported module.
struct PlannedPasses {
  PipelineOptions options;
  std::optional<StripChoice> strips;   ///< that its first layers are cut into
  const BatchPlanner *batch = nullptr; ///< that divided it, or null
};

/// The passes that have made a module, and the imported modules that these
/// started from, one for each shape of the inputs.
class PassRecord {
public:
  /// Adds the program of a shape, of which `model` has what was imported.
  void add(const ModelOptions &options, ImportedModel &model, bool isSampled,
           const PlannedPasses &planned);
  /// Returns the command line of nnc-opt that makes the module; or an error
  /// where nnc-opt cannot.
  llvm::Expected<std::string> spell(const ModelOptions &options) const;
  /// Returns the text of the imported module from which that line starts.
  std::string spellImport() const;

private:
  /// Returns the passes up to the programs of all shapes.
  std::string spellPrograms() const;

  std::vector<std::string> passes; ///< up to the program, for each shape
  bool isNested = false;           ///< whether a shape has modules inside
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> imports;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_PASSRECORD_H
