//===- AdaptPaths.h - The cheapest ways between schemas ---------*- C++ -*-===//
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

/// The cheapest ways to bring tensors from one schema into another, as tables
/// of one shape and one element type that values have in the function. A step
/// changes one part of a schema: a routine of adapts changes the layout, a
/// transfer the device, a layer that casts the element type. Where no step
/// leads from one schema to another, or several steps cost less, a path leads
/// through schemas that consist of parts of those which are known for the
/// shape, and of row-major order.
class AdaptPaths {
public:
  explicit AdaptPaths(const CostModel &cost) : cost(&cost) {}

  /// The schemas of one shape.
  class Table {
  public:
    /// Returns the number of the schema of `type`, which must be known.
    unsigned find(mlir::RankedTensorType type) const;
    const Paths &getPaths() const { return *paths; }
    mlir::RankedTensorType getType(unsigned node) const { return types[node]; }

  private:
    friend class AdaptPaths;
    llvm::SmallVector<mlir::RankedTensorType> types;
    std::optional<Paths> paths;
  };

  /// Returns the table of values of elements `own`, in which all of `types`, of
  /// one shape, are known. On the way from one type to another, floats become
  /// integers only if these are what the value has in the function.
  const Table &getTable(llvm::ArrayRef<mlir::RankedTensorType> types,
                        mlir::Type own);

  /// Returns the seconds of the cheapest path, 0 between equal types;
  /// kImpossible if there is none.
  double getSeconds(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    mlir::Type own);
  /// Returns the types behind each step of that path.
  llvm::SmallVector<mlir::RankedTensorType> getPath(mlir::RankedTensorType from,
                                                    mlir::RankedTensorType to,
                                                    mlir::Type own);

  /// A layer that casts a tensor, of the forms in the cost model, with the
  /// candidate that computes it.
  struct Cast {
    nn::LayerOp layer;
    Candidate candidate;
  };
  /// Returns the cheapest cast for a step that changes the element type; null
  /// if no routine casts so.
  const Cast *getCast(mlir::RankedTensorType from, mlir::RankedTensorType to);

private:
  double getStepSeconds(mlir::RankedTensorType from, mlir::RankedTensorType to);

  const CostModel *cost;
  /// Tables by the row-major types that values have in the function.
  llvm::DenseMap<mlir::Type, std::unique_ptr<Table>> tables;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, double> steps;
  std::map<std::pair<const void *, const void *>, std::optional<Cast>> casts;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_ADAPTPATHS_H
