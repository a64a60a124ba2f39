//===- WeightScales.h - What the integers of weights stand for --*- C++ -*-===//
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

/// Reads what operand `operand` of a DequantizeLinear, QLinearConv,
/// QLinearMatMul, ConvInteger or MatMulInteger stands for, a constant of
/// integers of shape `dims`. The last two know no scales: theirs are 1. Returns
/// why such weights cannot be compressed, or "".
std::string readScales(const GraphIndex &index, const ::onnx::NodeProto &node,
                       int operand, const std::vector<int64_t> &dims,
                       WeightScales &result);

/// Returns whether a tensor is of integers of 8 bits.
bool isOfBytes(const ::onnx::TensorProto &tensor);
/// The elements of such a tensor, which holds its own data.
std::vector<int> getIntegers(const ::onnx::TensorProto &tensor);
/// Replaces the elements of such a tensor by others that its type can hold.
void setIntegers(::onnx::TensorProto &tensor, llvm::ArrayRef<int> values);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_WEIGHTSCALES_H
