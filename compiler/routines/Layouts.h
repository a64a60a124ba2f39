//===- Layouts.h - Bringing values into layouts ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYOUTS_H
#define NNC_COMPILER_ROUTINES_LAYOUTS_H

#include "compiler/routines/Cost.h"

namespace nnc {

/// Gives operands the types that their ops want: a constant takes the type
/// itself, any other value passes through an nn.adapt behind its definition.
/// Each value has one copy in each layout, whoever reads it.
class OperandAdapter {
public:
  explicit OperandAdapter(const CostModel &cost) : cost(cost) {}
  void setOperand(mlir::OpOperand &operand, mlir::RankedTensorType type);

private:
  mlir::Value getAs(mlir::Value value, mlir::RankedTensorType type);

  const CostModel &cost;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> copies;
};

/// Sets the routine of an adapt to the cheapest, or none for a view.
void chooseRoutine(nn::AdaptOp adapt, const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYOUTS_H
