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

/// Returns `x` if the result has the scale and zero point of the operator's
/// first input, else null after a report. TFLite demands equal ones of
/// operators that only move elements.
mlir::Value keepScale(Layer &layer, mlir::Value x);

/// Returns `x` with elements of the constant `value` around it; `pads` has the
/// numbers of elements before all axes, then those behind them.
mlir::Value padWith(Layer &layer, mlir::Value x, llvm::ArrayRef<int64_t> pads,
                    double value);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_MOVES_MOVES_H
