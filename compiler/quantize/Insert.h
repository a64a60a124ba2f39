//===- Insert.h - Quantizations around the layers of a plan -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_INSERT_H
#define NNC_COMPILER_QUANTIZE_INSERT_H

#include "compiler/quantize/Scales.h"
#include "compiler/quantize/Weights.h"

namespace nnc::quantize {

/// Writes a plan into the IR. Each value is followed by a qnn.quantize and a
/// qnn.dequantize, and weights and biases become dequantized constants of
/// integers; nnc-qnn-fuse turns these into integer layers. `precision` says how
/// weights become integers.
void insertQuantizations(const Plan &plan,
                         const llvm::DenseMap<mlir::Value, Parameters> &scales,
                         const WeightPrecision &precision);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_INSERT_H
