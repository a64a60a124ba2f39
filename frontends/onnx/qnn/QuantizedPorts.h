//===- QuantizedPorts.h - Scales of integer inputs and outputs ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H
#define NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc::onnx {

/// Adds the attribute qnn.port, with scale and zero point, to integer inputs
/// that the network dequantizes and to integer outputs that it quantizes.
/// Scales are per tensor or per index of one axis. Ops that only move elements
/// may lie between the port and the quantization.
void markQuantizedPorts(mlir::func::FuncOp main);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H
