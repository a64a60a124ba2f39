//===- SizedImport.h - A model whose sizes vary within bounds -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The sizes that the caller or data decide get names and bounds, and the model
// is imported at several points within these (compiler/sizes/).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_IMPORT_SIZEDIMPORT_H
#define NNC_COMPILER_TOOLS_DRIVER_IMPORT_SIZEDIMPORT_H

#include "compiler/sizes/SizeRange.h"
#include "compiler/tools/driver/import/Importer.h"

#include "llvm/ADT/StringSet.h"

#include <memory>
#include <optional>

namespace nnc {
struct Outline;
}

namespace nnc::tools {

/// A model some of whose sizes are left open, and its imports at the sizes by
/// which code for all of them is made.
class SizedImport {
public:
  SizedImport(const ModelOptions &options, mlir::MLIRContext &context,
              Importer &importer)
      : choices(options), context(context), importer(importer) {}

  /// Names the open sizes of a model that was imported for the largest ones,
  /// and imports it again, for these.
  ExitCode nameSizes(ImportedModel &model);
  /// Makes this model the network at several sizes (nn.sample).
  ExitCode gatherSamples(ImportedModel &model);
  /// Whether data decide all open sizes.
  bool isFoundOnly() const { return callersSizes == 0; }

private:
  ExitCode nameCallersSizes(const ImportedModel &model,
                            llvm::StringSet<> &taken);
  void nameFoundSizes(llvm::StringSet<> &taken);
  /// Removes results that tell sizes which no other result has.
  ExitCode dropInnerCounts(mlir::ModuleOp module);
  /// The first error that an import reported, and its location.
  struct Reason {
    std::string text;
    std::optional<mlir::Location> location;
  };
  /// Imports the model for a point of the ranges. A failure is not reported;
  /// `why` gets the first reason.
  ExitCode tryImport(llvm::ArrayRef<int64_t> point, ImportedModel &model,
                     Reason &why);
  /// Whether a point has larger sizes than the ranges.
  bool isBeyond(llvm::ArrayRef<int64_t> point) const;
  /// Whether the model cannot be imported for a point.
  bool failsAt(llvm::ArrayRef<int64_t> point);
  /// Finishes the import of the model for one point of the ranges of its sizes.
  /// Takes the code, the reason and the module that tryImport() gave; reports
  /// its failure, or an error if the data of an input decide other sizes in
  /// this module than in the module for the largest sizes. Removes computations
  /// whose results nothing reads.
  ExitCode acceptSample(llvm::ArrayRef<int64_t> point, ExitCode code,
                        const Reason &why, ImportedModel &model);
  /// Imports as tryImport() does, and reports a failure.
  ExitCode importSample(llvm::ArrayRef<int64_t> point, ImportedModel &model);
  /// Returns the shapes of the inputs at a point of the ranges.
  frontends::GivenShapes getShapesAt(llvm::ArrayRef<int64_t> point) const;
  /// Fails, and says why, where the model is another one at the edges of the
  /// ranges than its imports at the samples show.
  ExitCode checkEdges(std::vector<Outline> samples);

  const ModelOptions &choices;
  mlir::MLIRContext &context;
  Importer &importer;
  /// The sizes that data decide, in the module for the largest sizes, which its
  /// samples have, too.
  std::vector<frontends::FoundSize> expectedSizes;
  /// The numbers of those which no output has.
  std::vector<unsigned> innerSizes;
  /// Sizes that are left open, those that data decide behind others. For each
  /// dimension of an input that has one of them, sizeOf has its number; for
  /// others, -1.
  std::vector<SizeRange> sizes;
  size_t callersSizes = 0;
  std::map<std::string, std::vector<int>> sizeOf;
  std::unique_ptr<ExpressionFinder> finder;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_SIZEDIMPORT_H
