//===- QuantizedPorts.h - What integers of inputs and outputs stand for ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H
#define NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc::onnx {

/// Gives qnn.port to arguments of integers that the network dequantizes, and to
/// results of integers that it quantizes, where these have one scale and zero
/// point, or one of each for every index of an axis. Between may be what only
/// moves elements.
void markQuantizedPorts(mlir::func::FuncOp main);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QNN_QUANTIZEDPORTS_H
