//===- Quantize.h - Types of quantized tensors ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QNN_QUANTIZE_H
#define NNC_FRONTENDS_ONNX_QNN_QUANTIZE_H

#include "dialects/qnn/Qnn.h"
#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// Returns true if all scales are finite. Otherwise reports an error that says
/// where a scale that is not finite comes from.
bool checkFinite(Node &node, llvm::ArrayRef<double> scales);

/// Returns rounded numbers as the nearest integers of `storage` or its carrier.
/// A NaN, such as 0 times the inverse of a scale of 0, becomes the least
/// integer as in onnxruntime.
mlir::Value saturate(Node &node, mlir::Value x, mlir::IntegerType storage);

/// Returns the type of quantized tensors of shape `shape` that are stored as
/// `storage`, with one scale and zero point or one of each for every index of
/// `axis`. Returns null after an error if the scales or zero points are not
/// valid.
mlir::RankedTensorType
makeQuantizedType(Node &node, llvm::ArrayRef<int64_t> shape,
                  mlir::IntegerType storage, llvm::ArrayRef<double> scales,
                  llvm::ArrayRef<int64_t> zeroPoints, int64_t axis);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QNN_QUANTIZE_H
