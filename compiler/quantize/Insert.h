//===- Insert.h - Quantizations around the layers of a plan -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_INSERT_H
#define NNC_COMPILER_QUANTIZE_INSERT_H

#include "compiler/quantize/Scales.h"

namespace nnc::quantize {

/// Writes a plan into the IR. Each value is followed by a qnn.quantize and a
/// qnn.dequantize, and weights and biases become dequantized constants of
/// integers; nnc-qnn-fuse turns these into integer layers. With `perChannel`,
/// weights have a scale for each output channel.
void insertQuantizations(const Plan &plan,
                         const llvm::DenseMap<mlir::Value, Parameters> &scales,
                         bool perChannel);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_INSERT_H
