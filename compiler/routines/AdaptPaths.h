//===- AdaptPaths.h - Cheapest conversions between schemas ---- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_ADAPTPATHS_H
#define NNC_COMPILER_ROUTINES_ADAPTPATHS_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/Schema.h"
#include "compiler/search/Trees.h"

#include <map>
#include <memory>
#include <optional>

namespace nnc {

/// The cheapest conversions between schemas, kept in one table for each shape
/// and element type that values have in the function. A single step changes one
/// part of a schema: a routine for adapts changes the layout, a transfer
/// changes the device, and a casting layer changes the element type, and also
/// the layout if it has a routine that reads and writes different ones. Where
/// no single step leads from one schema to another, or several steps are
/// cheaper, a path passes through intermediate schemas. These combine the
/// element types, layouts and devices of the schemas known for the shape, and
/// may be row-major.
class AdaptPaths {
public:
  explicit AdaptPaths(const CostModel &cost) : cost(&cost) {}

  /// The schemas of tensors of one shape, and the cheapest paths between them.
  class Table {
  public:
    /// Returns the index of the schema of `type`, which must be in the table.
    unsigned find(mlir::RankedTensorType type) const;
    const Paths &getPaths() const { return *paths; }
    mlir::RankedTensorType getType(unsigned node) const { return types[node]; }

  private:
    friend class AdaptPaths;
    llvm::SmallVector<mlir::RankedTensorType> types;
    std::optional<Paths> paths;
  };

  /// Returns the table for values of the shape of `types` whose element type in
  /// the function is `own`, after adding all of `types` to it. All of `types`
  /// must have the same shape. A path converts floats to integers only if `own`
  /// is that integer type.
  const Table &getTable(llvm::ArrayRef<mlir::RankedTensorType> types,
                        mlir::Type own);

  /// Returns the seconds of the cheapest path: 0 if both types are equal, and
  /// kImpossible if there is no path. `own` is as in getTable().
  double getSeconds(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    mlir::Type own);
  /// Returns the type after each step of the cheapest path.
  llvm::SmallVector<mlir::RankedTensorType> getPath(mlir::RankedTensorType from,
                                                    mlir::RankedTensorType to,
                                                    mlir::Type own);

  /// A layer that casts the element type of a tensor, and the candidate that
  /// computes it. The layer comes from the cost model's LayerForms.
  struct Cast {
    nn::LayerOp layer;
    Candidate candidate;
  };
  /// Returns the cheapest cast for a step that changes the element type, or
  /// null if no routine computes such a cast.
  const Cast *getCast(mlir::RankedTensorType from, mlir::RankedTensorType to);

private:
  double getStepSeconds(mlir::RankedTensorType from, mlir::RankedTensorType to);

  const CostModel *cost;
  /// The tables, keyed by the row-major type that a value has in the function.
  llvm::DenseMap<mlir::Type, std::unique_ptr<Table>> tables;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, double> steps;
  std::map<std::pair<const void *, const void *>, std::optional<Cast>> casts;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_ADAPTPATHS_H
