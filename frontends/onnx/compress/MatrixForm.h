//===- MatrixForm.h - Weights of a node as a matrix -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_MATRIXFORM_H
#define NNC_FRONTENDS_ONNX_COMPRESS_MATRIXFORM_H

#include "compiler/compression/MatrixForm.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

using compression::getProduct;
using compression::MatrixForm;

/// Returns true if an operand of a node would count as its weights if it were a
/// constant of a suitable shape.
bool canBeWeights(const ::onnx::NodeProto &node, int operand);

/// Returns the form as a matrix of an operand of shape `dims` that would be the
/// weights of its node if it were constant. The node is a Conv, ConvTranspose,
/// Gemm, MatMul, RNN, LSTM, GRU, QLinearConv, QLinearMatMul, ConvInteger or
/// MatMulInteger. Returns nullopt for other operands and nodes.
std::optional<MatrixForm> getMatrixForm(const ::onnx::NodeProto &node,
                                        int operand,
                                        llvm::ArrayRef<int64_t> dims);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_MATRIXFORM_H
