//===- Moves.h - Parts of operators that move elements ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_MOVES_MOVES_H
#define NNC_FRONTENDS_TFLITE_MOVES_MOVES_H

#include "frontends/tflite/qnn/Quantized.h"

namespace nnc::tflite {

using Sizes = llvm::SmallVector<int64_t>;

/// Returns `x` if the operator's result and first input have the same scale and
/// zero point, otherwise null after an error. TFLite requires this of operators
/// that only move elements.
mlir::Value keepScale(Layer &layer, mlir::Value x);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_MOVES_MOVES_H
