//===- Fold.h - Computations of shapes while importing --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Models compute shapes at run time, for instance by Shape, Gather, Cast, Mul,
// Concat, then Reshape. If the input shapes are static, all these values are
// known, and the importer needs them to infer the shapes of later ops. Only ops
// that occur in such computations are folded: those on small tensors whose
// result is exact and defined. The arithmetic is that of the reference
// evaluator (dialects/evaluate), which later folds weights, too.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_FOLD_H
#define NNC_FRONTENDS_COMMON_FOLD_H

#include "dialects/nn/tensors/TensorData.h"

#include "mlir/IR/Operation.h"

namespace nnc::frontends {

/// Returns the result of an op whose operands are constants that readElements()
/// takes, or null if an operand is not one, if the op is not among those that
/// compute shapes, or if its result is undefined.
mlir::ElementsAttr foldShapes(mlir::Operation *op);
/// Returns the result of an op for these operands, or nullopt if the op is not
/// among those that compute shapes or if its result is undefined.
std::optional<TensorData> foldShapes(mlir::Operation *op,
                                     llvm::ArrayRef<TensorData> operands);

/// Returns the result of an op whose operands are constants of any size. A
/// large result becomes a resource called `name`. Returns null if an operand is
/// not a constant or if no portable routine computes the op.
mlir::ElementsAttr foldConstants(mlir::Operation *op, llvm::StringRef name);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_FOLD_H
