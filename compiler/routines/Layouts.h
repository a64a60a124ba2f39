//===- Layouts.h - Bringing values into layouts ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYOUTS_H
#define NNC_COMPILER_ROUTINES_LAYOUTS_H

#include "compiler/routines/Cost.h"

namespace nnc {

/// Gives operands the layouts that their ops require. A constant takes the new
/// type itself; any other value is converted by an nn.adapt behind its
/// definition. The adapts are shared: each value has one copy in each layout,
/// however many ops read it.
class OperandAdapter {
public:
  explicit OperandAdapter(const CostModel &cost) : cost(cost) {}
  void setOperand(mlir::OpOperand &operand, mlir::RankedTensorType type);

private:
  mlir::Value getAs(mlir::Value value, mlir::RankedTensorType type);

  const CostModel &cost;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> copies;
};

/// Sets the routine of `adapt` to the cheapest one; an adapt that is a view
/// gets none.
void chooseRoutine(nn::AdaptOp adapt, const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYOUTS_H
