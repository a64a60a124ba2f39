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

int64_t nnc::onnx::getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

MatrixForm::MatrixForm(Axes sizes, Axes order, int rowAxes)
    : sizes(sizes), order(order) {
  for (int i = 0; i < 4; ++i)
    (i < rowAxes ? rows : columns) *= sizes[order[i]];
}

/// Returns the operator on real numbers that one on integers stands for, and
/// which of its operands, -1 for other ones.
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

bool MatrixForm::canBeWeights(const NodeProto &node, int operand) {
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

std::optional<MatrixForm> MatrixForm::get(const NodeProto &node, int operand,
                                          ArrayRef<int64_t> dims) {
  if (!canBeWeights(node, operand) || getProduct(dims) == 0)
    return std::nullopt;
  llvm::StringRef op = node.op_type();
  std::tie(op, operand) = getRealOperand(op, operand);
  auto byRows = [&](int64_t rows, int64_t columns) {
    return MatrixForm({rows, columns, 1, 1}, {0, 1, 2, 3}, 1);
  };
  if (op == "Conv" && dims.size() >= 3)
    return MatrixForm({dims[0], dims[1], getProduct(dims.drop_front(2)), 1},
                      {0, 2, 1, 3}, 1);
  if (op == "ConvTranspose" && dims.size() >= 3) {
    int64_t groups = getInt(node, "group", 1);
    if (groups < 1 || dims[0] % groups != 0)
      return std::nullopt;
    return MatrixForm(
        {groups, dims[0] / groups, dims[1], getProduct(dims.drop_front(2))},
        {0, 2, 3, 1}, 2);
  }
  bool isRecurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  if (isRecurrent && dims.size() == 3)
    return byRows(dims[0] * dims[1], dims[2]);
  if ((op != "Gemm" && op != "MatMul") || dims.empty())
    return std::nullopt;
  if (dims.size() == 1)
    return byRows(1, dims[0]);
  // The last axis of the left operand is summed over, and the one before it of
  // the right operand; a Gemm may exchange them.
  bool isTurned = getInt(node, operand == 0 ? "transA" : "transB", 0) != 0;
  if ((operand == 0) != isTurned)
    return byRows(getProduct(dims.drop_back()), dims.back());
  return MatrixForm(
      {getProduct(dims.drop_back(2)), dims[dims.size() - 2], dims.back(), 1},
      {0, 2, 1, 3}, 2);
}

template <class F> void MatrixForm::forEachElement(F visit) const {
  Axes strides;
  int64_t stride = 1;
  for (int i = 3; i >= 0; --i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  auto getSize = [&](int i) { return sizes[order[i]]; };
  auto getStride = [&](int i) { return strides[order[i]]; };
  size_t place = 0;
  for (int64_t a = 0; a < getSize(0); ++a)
    for (int64_t b = 0; b < getSize(1); ++b)
      for (int64_t c = 0; c < getSize(2); ++c)
        for (int64_t d = 0; d < getSize(3); ++d)
          visit(place++, a * getStride(0) + b * getStride(1) +
                             c * getStride(2) + d * getStride(3));
}

std::vector<float> MatrixForm::toMatrix(ArrayRef<float> weights) const {
  std::vector<float> matrix(weights.size());
  forEachElement(
      [&](size_t place, size_t element) { matrix[place] = weights[element]; });
  return matrix;
}

std::vector<float> MatrixForm::fromMatrix(ArrayRef<float> matrix) const {
  std::vector<float> weights(matrix.size());
  forEachElement(
      [&](size_t place, size_t element) { weights[element] = matrix[place]; });
  return weights;
}
