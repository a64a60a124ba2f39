//===- LayerOrder.h - The order in which layers run -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_LAYERORDER_H
#define NNC_COMPILER_PASSES_LAYERORDER_H

#include "compiler/memory/Order.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// The ops of a function that are neither constants nor its end.
using LayerOrder = llvm::SmallVector<mlir::Operation *>;

/// Returns the ops in their order.
LayerOrder getLayerOrder(mlir::func::FuncOp function);

/// Describes the ops as steps on values that take memory; what the caller has
/// memory for takes none. `portsInArena` is that of nnc-plan-memory.
OrderProblem describeSteps(mlir::func::FuncOp function, bool portsInArena);

/// Returns an order in which the largest sum of the values in the arena is
/// smaller, or the present one. `portsInArena` is that of nnc-plan-memory.
LayerOrder findLayerOrder(mlir::func::FuncOp function, bool portsInArena);

/// Moves the ops into this order.
void applyLayerOrder(mlir::func::FuncOp function,
                     llvm::ArrayRef<mlir::Operation *> order);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_LAYERORDER_H
