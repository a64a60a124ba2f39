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

/// Returns these ops in the order of the function.
LayerOrder getLayerOrder(mlir::func::FuncOp function);

/// Describes the ops as steps that produce and read values. Values in buffers
/// of the caller count 0 bytes. `portsInArena` is the option of
/// nnc-plan-memory.
OrderProblem describeSteps(mlir::func::FuncOp function, bool portsInArena);

/// Returns an order of the ops with a smaller peak of the bytes in use in the
/// arena, or the present order if none is found. `portsInArena` is the option
/// of nnc-plan-memory.
LayerOrder findLayerOrder(mlir::func::FuncOp function, bool portsInArena);

/// Moves the ops of `function` into the order `order`.
void applyLayerOrder(mlir::func::FuncOp function,
                     llvm::ArrayRef<mlir::Operation *> order);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_LAYERORDER_H
