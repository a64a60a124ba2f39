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

/// An imported module, and what the import found in the model's files besides
/// it.
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// A copy of the module before any pass, if DriverOptions::keepsImport is
  /// set.
  mlir::OwningOpRef<mlir::ModuleOp> saved;
  /// The passes that have made `module` from `saved`, before and after those
  /// that set its constraints, as spellPasses() returns them. Empty if there
  /// were none.
  std::string quantizePasses, streamPasses;
  std::string quantizeNote; ///< result of the search for layers that stay float
  /// The names of the inputs' dimensions in the model, by input.
  std::map<std::string, std::vector<std::string>> dimNames;
  /// The sizes that depend on data.
  std::vector<frontends::FoundSize> foundSizes;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The files with the model's external data.
  std::vector<std::string> dataFiles;
};

/// The sizes for which a model is imported.
struct ImportPoint {
  frontends::GivenShapes shapes;
  /// The values of the first sizes that depend on data. The others have their
  /// largest values.
  std::vector<int64_t> found = {};
  /// The sizes that depend on data, if another import has already found them.
  std::vector<frontends::FoundSize> expectedSizes = {};
  bool isSample = false; ///< whether it is one of several points of one model
  int64_t batch = 0;     ///< number of samples; 0 without ModelOptions::batch
};

/// Imports the model that the options name, and reports what is wrong with it.
class Importer {
public:
  /// Compiles a module to find out whether nnc supports it. Returns the exit
  /// code with which the command ends.
  using Check = std::function<ExitCode(mlir::ModuleOp module)>;

  /// The importer writes the shapes of inputs that an import has chosen to
  /// `options`, and further imports keep them. If inputs have open dimensions,
  /// `check` compiles the model at sizes that the importer tries.
  Importer(ModelOptions &options, const DriverOptions &wanted,
           mlir::MLIRContext &context, target::MachineAttr machine,
           Check check);
  ~Importer();

  /// Imports the model for ModelOptions::shapes, which are the largest sizes if
  /// some are left open.
  ExitCode import(ImportedModel &model);
  /// Imports the model for the sizes of `point`.
  ExitCode importPoint(const ImportPoint &point, ImportedModel &model);
  /// Returns true if some sizes of the model that import() returned are left
  /// open, because the caller chooses them or they depend on data.
  bool hasSizes() const { return sized != nullptr; }
  /// Turns a model with open sizes into one network that is imported at several
  /// sizes (nn.sample). Leaves other models unchanged.
  ExitCode gatherSamples(ImportedModel &model);
  /// Returns a handler that adds advice on the model to messages about sizes,
  /// or null if all sizes are given.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> adviseOnSizes() const;

private:
  /// Returns whether inputs may get sizes that vary within the model's bounds.
  bool takesBounds() const;
  /// Returns whether a size is outside of the range that it may vary in.
  bool passesRanges(const frontends::GivenShapes &shapes) const;
  /// Lets sizes vary within the bounds that the model states for them.
  void takeBounds(const frontends::SizeBounds &bounds);
  /// Quantizes an imported module with the samples of
  /// ModelOptions::quantization.
  ExitCode quantize(ImportedModel &model);
  /// Returns which dimensions of the inputs the open sizes are, and the options
  /// that give them the largest sizes alone.
  std::string spellOneSize() const;
  /// Makes the imported module take its time window frame by frame.
  ExitCode stream(ImportedModel &model);

  ModelOptions &choices;
  const DriverOptions &wanted;
  mlir::MLIRContext &context;
  target::MachineAttr machine;
  Check check;
  std::unique_ptr<SizedImport> sized; ///< null if all sizes are given
  /// The model's names of the dimensions of inputs, if there is a `sized`.
  std::map<std::string, std::vector<std::string>> dimNames;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_IMPORTER_H
