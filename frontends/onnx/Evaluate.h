//===- Evaluate.h - Values of small constants while importing -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Models compute shapes at run time, for instance by Shape, Gather, Cast, Mul,
// Concat, then Reshape. If the input shapes are static, all these values are
// known, and the importer needs them to infer the shapes of later ops. This
// file folds only such ops: those on small tensors whose result is exact.
// Weights are folded later by the reference evaluator (compiler/evaluate).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_EVALUATE_H
#define NNC_FRONTENDS_ONNX_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nnc::onnx {

/// The most elements of a tensor that is folded; larger tensors are not shapes.
inline constexpr int64_t kMaxFoldedElements = 4096;

/// A small tensor. Its elements are in `reals` if they are floats, else in
/// `ints`.
struct Elements {
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> ints;
  llvm::SmallVector<double> reals;

  bool isReal() const {
    return type.getElementType().isF32() || type.getElementType().isF64();
  }
};

/// Returns the elements of a small constant, or nullopt if it is too large or
/// its element type is not folded.
std::optional<Elements> readElements(mlir::ElementsAttr attribute);
/// Returns the elements of the nn.constant that defines `value`, with the same
/// limits, or nullopt if another op defines it.
std::optional<Elements> readElements(mlir::Value value);

/// Returns the attribute that holds `elements`; the inverse of readElements.
mlir::ElementsAttr makeAttribute(const Elements &elements);

/// Returns the result of an op whose operands are small constants, or nullopt
/// if an operand is not constant or not small or the op is not among those that
/// compute shapes.
std::optional<Elements> evaluate(mlir::Operation *op);

/// The operands of a scalar function. They are all integers or all reals,
/// except that the condition of a select is always an integer.
struct Scalars {
  llvm::SmallVector<int64_t, 3> ints;
  llvm::SmallVector<double, 3> reals;
};

/// Compute `y` as a function of runtime/simd/elementwise.h, by its name, of
/// integers or of reals. Return false if the function is not among those that
/// compute shapes, or if its result is undefined.
bool computeInt(llvm::StringRef function, const Scalars &x, int64_t &y);
bool computeReal(llvm::StringRef function, const Scalars &x, double &y);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_EVALUATE_H
