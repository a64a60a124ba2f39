//===- Importer.h - From a model file to a module -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_IMPORT_IMPORTER_H
#define NNC_COMPILER_TOOLS_DRIVER_IMPORT_IMPORTER_H

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/options/ModelOptions.h"
#include "dialects/target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nnc::tools {

class SizedImport;

/// A module, and what its import found in the model's files beside it.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// A copy before any pass, with DriverOptions::keepsImport.
  mlir::OwningOpRef<mlir::ModuleOp> saved;
  /// The passes that have made `module` of that one, around those that set its
  /// constraints, as spellPasses() returns them; empty where there were none.
  std::string quantizePasses, streamPasses;
  std::string quantizeNote; ///< what the choice of float layers found
  /// The names of the inputs' dimensions in the model, by input.
  std::map<std::string, std::vector<std::string>> dimNames;
  /// The sizes that data decide.
  std::vector<frontends::FoundSize> foundSizes;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The files with the model's external data.
  std::vector<std::string> dataFiles;
};

/// The sizes that an import is for.
struct ImportPoint {
  frontends::GivenShapes shapes;
  /// Values of the first sizes that data decide; others have their largest.
  std::vector<int64_t> found = {};
  /// The names of these sizes, if another import has found them.
  std::vector<frontends::FoundSize> expectedSizes = {};
  bool isSample = false; ///< whether it is one of several points of one model
  int64_t batch = 0;     ///< samples; 0 without ModelOptions::batch
};

/// Imports the model of the options, and reports what is wrong with it.
class Importer {
public:
  /// Compiles a module, to see whether nnc has what it needs. Returns how the
  /// command ends.
  using Check = std::function<ExitCode(mlir::ModuleOp module)>;

  /// The options get the shapes of inputs that an import has chosen, which
  /// further imports keep. `check` compiles models whose inputs have open
  /// dimensions, at sizes that are tried.
  Importer(ModelOptions &options, const DriverOptions &wanted,
           mlir::MLIRContext &context, target::MachineAttr machine,
           Check check);
  ~Importer();

  /// Imports the model for ModelOptions::shapes, the largest sizes if some are
  /// left open.
  ExitCode import(ImportedModel &model);
  /// Imports it for a point.
  ExitCode importPoint(const ImportPoint &point, ImportedModel &model);
  /// Whether sizes of the model that import() returned are left open, to the
  /// caller or to data.
  bool hasSizes() const { return sized != nullptr; }
  /// Makes a model with open sizes one network at several sizes (nn.sample),
  /// each of them imported. Leaves others as they are.
  ExitCode gatherSamples(ImportedModel &model);
  /// Returns what adds advice on the model to messages about sizes, where data
  /// decide all that are open: the user gives no bounds then, of which the
  /// messages tell. Otherwise null.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> adviseOnSizes() const;

private:
  /// Quantizes an imported module by the samples of ModelOptions::quantization.
  ExitCode quantize(ImportedModel &model);
  /// Makes the imported module take its window frame by frame.
  ExitCode stream(ImportedModel &model);

  ModelOptions &choices;
  const DriverOptions &wanted;
  mlir::MLIRContext &context;
  target::MachineAttr machine;
  Check check;
  std::unique_ptr<SizedImport> sized; ///< null where all sizes are given
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_IMPORTER_H
