//===- Layouts.h - Bringing values into layouts ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYOUTS_H
#define NNC_COMPILER_ROUTINES_LAYOUTS_H

#include "compiler/routines/AdaptPaths.h"
#include "dialects/exec/Exec.h"

namespace nnc {

/// Gives operands the types that their ops require. A constant takes the new
/// type itself. Any other value is converted after its definition: by an
/// nn.adapt for each change of the layout, and by a casting layer for each
/// change of the element type. Conversions are shared: each value has one copy
/// in each type, however many ops read it.
class OperandAdapter {
public:
  /// `paths` may be null if only layouts change, in one step each.
  explicit OperandAdapter(const CostModel &cost, AdaptPaths *paths = nullptr)
      : cost(cost), paths(paths) {}
  /// Makes the copy of `value` with the type `to` from its copy with the type
  /// `from`, which may be the type of the value itself.
  void setStep(mlir::Value value, mlir::RankedTensorType from,
               mlir::RankedTensorType to) {
    steps[{value, to}] = from;
  }
  void setOperand(mlir::OpOperand &operand, mlir::RankedTensorType type);

private:
  mlir::Value getAs(mlir::Value value, mlir::RankedTensorType type);
  mlir::RankedTensorType findStep(mlir::Value value,
                                  mlir::RankedTensorType type) const;
  mlir::Value adapt(mlir::Value value, mlir::RankedTensorType type);

  const CostModel &cost;
  AdaptPaths *paths;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> copies;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::RankedTensorType>
      steps;
  std::optional<exec::Names> names; ///< names of layers, set by the first cast
};

/// Sets the routine of `adapt` to the cheapest one; an adapt that is a view
/// gets none.
void chooseRoutine(nn::AdaptOp adapt, const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYOUTS_H
