//===- Evaluate.h - Values of small constants while importing -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Exporters compute shapes at run time: Shape, Gather, Cast, Mul, Concat, then
// Reshape. With static inputs all of it is known, and the importer needs the
// values to know the next op's shape. This folds just that: small tensors, ops
// whose result is exact. Weights are folded later, by the routines themselves.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_EVALUATE_H
#define NNC_FRONTENDS_ONNX_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nnc::onnx {

/// Larger tensors are not shapes.
inline constexpr int64_t kMaxFoldedElements = 4096;

/// A small tensor: `reals` where its elements are floats, else `ints`.
struct Elements {
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> ints;
  llvm::SmallVector<double> reals;

  bool isReal() const {
    return type.getElementType().isF32() || type.getElementType().isF64();
  }
};

/// The elements of a small constant of a type that takes part in folding.
std::optional<Elements> readElements(mlir::ElementsAttr attribute);
/// The same of the nn.constant that defines `value`.
std::optional<Elements> readElements(mlir::Value value);

/// The inverse of readElements.
mlir::ElementsAttr makeAttribute(const Elements &elements);

/// The result of an op on small constants; nothing where one is not constant,
/// not small, or the op is not one of those that compute shapes.
std::optional<Elements> evaluate(mlir::Operation *op);

/// The operands of one elementwise function: all of one kind, but for the
/// condition of a select.
struct Scalars {
  llvm::SmallVector<int64_t, 3> ints;
  llvm::SmallVector<double, 3> reals;
};

/// Compute a function of runtime/simd/elementwise.h that shapes are made with.
/// False for others, and where the result is not defined.
bool computeInt(llvm::StringRef function, const Scalars &x, int64_t &y);
bool computeReal(llvm::StringRef function, const Scalars &x, double &y);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_EVALUATE_H
