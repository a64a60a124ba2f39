//===- Complex.h - Complex numbers ------------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_SIGNAL_COMPLEX_H
#define NNC_FRONTENDS_TENSORFLOW_SIGNAL_COMPLEX_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Converts the elementwise nn op `op` of inputs that are complex numbers.
/// Always returns null, as complex results are no tensors.
mlir::Value convertComplex(Layer &layer, llvm::StringRef op);

/// Returns true if a Cast has complex operands or results.
bool convertsComplex(Layer &layer);
/// Converts a Cast of which convertsComplex() is true: to complex numbers with
/// imaginary parts of 0, or to their real parts.
mlir::Value convertComplexCast(Layer &layer);

/// Converts a constant of complex numbers. Returns null as convertComplex().
mlir::Value convertComplexConst(Layer &layer, const pb::TensorProto &tensor);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_SIGNAL_COMPLEX_H
