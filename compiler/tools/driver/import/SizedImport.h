//===- SizedImport.h - A model whose sizes vary within bounds -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Sizes that the caller chooses or that depend on data get names and bounds,
// and the model is imported at several points within these bounds
// (compiler/sizes/).
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

/// A model with open sizes, and its imports at the sample sizes from which code
/// for all sizes is made.
class SizedImport {
public:
  SizedImport(const ModelOptions &options, mlir::MLIRContext &context,
              Importer &importer)
      : choices(options), context(context), importer(importer) {}

  /// Names the open sizes of a model that was imported for the largest sizes,
  /// and imports it for these sizes again, now with the names.
  ExitCode nameSizes(ImportedModel &model);
  /// Turns this model into the network at several sizes (nn.sample).
  ExitCode gatherSamples(ImportedModel &model);
  /// Returns true if all open sizes depend on data.
  bool isFoundOnly() const { return callersSizes == 0; }

private:
  /// A dimension of an input: `factor` times the open size with the index
  /// `size`, plus `offset`. The index is -1 for a dimension that does not vary.
  struct OpenDim {
    int size = -1;
    int64_t factor = 1, offset = 0;
  };
  /// Returns dimension `dim` of an input, whose bounds are `range`, as one that
  /// follows from a size of `known`, as 's + 1' and '2*s' do from 's'; nullopt
  /// if the dimension is a size of its own.
  std::optional<OpenDim>
  followSize(llvm::StringRef dim, const SizeRange &range,
             const std::map<std::string, int> &known) const;
  /// Names the sizes that the caller chooses. `unnamed` gets for each size the
  /// place of its dimension, such as "axis 1 of 'ids'", or an empty string if
  /// the model has a name for it.
  ExitCode nameCallersSizes(const ImportedModel &model,
                            llvm::StringSet<> &taken,
                            std::vector<std::string> &unnamed);
  /// Joins sizes that have no name and the same bounds into one size where the
  /// model cannot be imported with different values of them, and warns of it.
  void tieSizes(std::vector<std::string> unnamed);
  /// Returns the indices of the sizes that have to be equal to size `first`,
  /// which comes first; it is the only one if it may change alone.
  std::vector<size_t> findTied(size_t first,
                               llvm::ArrayRef<std::string> unnamed);
  void nameFoundSizes(llvm::StringSet<> &taken);
  /// Removes the results of the module that tell sizes which no other result
  /// has as a dimension.
  ExitCode dropInnerCounts(mlir::ModuleOp module);
  /// The first error that an import reported, and its location.
  struct Reason {
    std::string text;
    std::optional<mlir::Location> location;
  };
  /// Imports the model for a point of the ranges. A failure is not reported,
  /// but `why` gets the first error.
  ExitCode tryImport(llvm::ArrayRef<int64_t> point, ImportedModel &model,
                     Reason &why);
  /// Returns true if some size of a point is above its range.
  bool isBeyond(llvm::ArrayRef<int64_t> point) const;
  /// Returns true if the model cannot be imported for a point.
  bool failsAt(llvm::ArrayRef<int64_t> point);
  /// Finishes the import of the model for one point of the ranges of its sizes.
  /// `code`, `why` and `model` are those of tryImport(). Reports its failure,
  /// or an error if other sizes depend on data in this module than in the
  /// module for the largest sizes. Removes computations whose results nothing
  /// reads.
  ExitCode acceptSample(llvm::ArrayRef<int64_t> point, ExitCode code,
                        const Reason &why, ImportedModel &model);
  /// Imports the model as tryImport() does, and reports a failure.
  ExitCode importSample(llvm::ArrayRef<int64_t> point, ImportedModel &model);
  /// Returns the shapes of the inputs at a point of the ranges.
  frontends::GivenShapes getShapesAt(llvm::ArrayRef<int64_t> point) const;
  /// Fails, and says why, if the model at the edges of the ranges differs in
  /// structure from its imports at the sample sizes.
  ExitCode checkEdges(std::vector<Outline> samples);

  const ModelOptions &choices;
  mlir::MLIRContext &context;
  Importer &importer;
  /// The sizes that depend on data in the module for the largest sizes. The
  /// samples must have the same ones.
  std::vector<frontends::FoundSize> expectedSizes;
  /// The indices of those `expectedSizes` that no output has as a dimension.
  std::vector<unsigned> innerSizes;
  /// The open sizes: first those that the caller chooses, then those that
  /// depend on data. `sizeOf` has the dimensions of each input.
  std::vector<SizeRange> sizes;
  size_t callersSizes = 0;
  std::map<std::string, std::vector<OpenDim>> sizeOf;
  std::unique_ptr<ExpressionFinder> finder;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_IMPORT_SIZEDIMPORT_H
