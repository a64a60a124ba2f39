//===- MatrixForm.cpp - Weights of a layer as a matrix --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/MatrixForm.h"

#include "frontends/onnx/quantize/GraphIndex.h"

#include "llvm/ADT/StringSwitch.h"

#include <tuple>

using namespace nnc::onnx;
using llvm::ArrayRef;
using ::onnx::NodeProto;

/// Returns the float operator that corresponds to a quantized operator, and the
/// index of the operand in it; -1 for scales, zero points and other operands.
static std::pair<llvm::StringRef, int> getRealOperand(llvm::StringRef op,
                                                      int operand) {
  if (op == "QLinearConv")
    return {"Conv", operand == 3 ? 1 : -1};
  if (op == "QLinearMatMul")
    return {"MatMul", operand == 0 ? 0 : operand == 3 ? 1 : -1};
  if (op == "ConvInteger")
    return {"Conv", operand};
  if (op == "MatMulInteger")
    return {"MatMul", operand};
  return {op, operand};
}

bool nnc::onnx::canBeWeights(const NodeProto &node, int operand) {
  if (!node.domain().empty() || !hasInput(node, operand))
    return false;
  llvm::StringRef op = node.op_type();
  std::tie(op, operand) = getRealOperand(op, operand);
  return llvm::StringSwitch<bool>(op)
      .Cases("Conv", "ConvTranspose", operand == 1)
      .Cases("LSTM", "GRU", "RNN", operand == 1 || operand == 2)
      .Cases("Gemm", "MatMul", operand == 0 || operand == 1)
      .Default(false);
}

std::optional<MatrixForm> nnc::onnx::getMatrixForm(const NodeProto &node,
                                                   int operand,
                                                   ArrayRef<int64_t> dims) {
  if (!canBeWeights(node, operand) || getProduct(dims) == 0)
    return std::nullopt;
  llvm::StringRef op = node.op_type();
  std::tie(op, operand) = getRealOperand(op, operand);
  if (op == "Conv" && dims.size() >= 3)
    return MatrixForm::getFilters(dims);
  if (op == "ConvTranspose" && dims.size() >= 3)
    return MatrixForm::getTransposedFilters(dims, getInt(node, "group", 1));
  bool isRecurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  if (isRecurrent && dims.size() == 3)
    return MatrixForm::getRowMajor(dims);
  if ((op != "Gemm" && op != "MatMul") || dims.empty())
    return std::nullopt;
  if (dims.size() == 1)
    return MatrixForm::getRowMajor(dims);
  // A product sums over the last axis of its left operand and the
  // second-to-last axis of its right operand; a Gemm may transpose them.
  bool isTurned = getInt(node, operand == 0 ? "transA" : "transB", 0) != 0;
  return (operand == 0) != isTurned ? MatrixForm::getRowMajor(dims)
                                    : MatrixForm::getColumnMajor(dims);
}
