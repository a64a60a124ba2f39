//===- WeightScales.h - Scales and zero points of weights -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_WEIGHTSCALES_H
#define NNC_FRONTENDS_ONNX_COMPRESS_WEIGHTSCALES_H

#include "compiler/compression/WeightScales.h"
#include "frontends/onnx/quantize/GraphIndex.h"

namespace nnc::onnx {

using compression::WeightScales;

/// Reads the scales and zero points of operand `operand`, an integer constant
/// of shape `dims`, of a DequantizeLinear, QLinearConv, QLinearMatMul,
/// ConvInteger or MatMulInteger. ConvInteger and MatMulInteger have no scales;
/// 1 is used. Returns the reason why such weights cannot be compressed, or "".
std::string readScales(const GraphIndex &index, const ::onnx::NodeProto &node,
                       int operand, const std::vector<int64_t> &dims,
                       WeightScales &result);

/// Returns true if the elements of a tensor are 8-bit integers.
bool isOfBytes(const ::onnx::TensorProto &tensor);
/// Returns the elements of a tensor of 8-bit integers without external data.
std::vector<int> getIntegers(const ::onnx::TensorProto &tensor);
/// Replaces the elements of a tensor of 8-bit integers by `values`, which its
/// type can hold.
void setIntegers(::onnx::TensorProto &tensor, llvm::ArrayRef<int> values);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_WEIGHTSCALES_H
