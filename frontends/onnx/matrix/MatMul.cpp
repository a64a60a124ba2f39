//===- MatMul.cpp - MatMul, Gemm and Einsum -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Einsum.h"
#include "frontends/onnx/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Converts MatMul. A vector on the left is treated as a row and a vector on
/// the right as a column; the result lacks the added axis.
Value convertMatMul(Node &node) {
  Value a = node.getOperand(0), b = node.getOperand(1);
  bool isRow = getRank(a) == 1, isColumn = getRank(b) == 1;
  if (getRank(a) == 0 || getRank(b) == 0)
    return node.broken("multiplies a scalar");
  if (isRow)
    a = node.reshape(a, {1, getShape(a)[0]});
  if (isColumn)
    b = node.reshape(b, {getShape(b)[0], 1});
  Value y = node.create<nn::MatMulOp>(a, b, false, false, TypeAttr());
  SmallVector<int64_t> shape(getShape(y));
  if (isColumn && y)
    shape.pop_back();
  if (isRow && y)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return node.reshape(y, shape);
}

/// Returns x * factor, or x itself if the factor is 1.
static Value scale(Node &node, Value x, double factor) {
  if (!x || factor == 1)
    return x;
  if (!isa<FloatType>(getElement(x)) && factor != std::trunc(factor))
    return node.unsupported("scales integers by " + toString(factor));
  return node.createElementwise("mul", {x, node.splat(factor, getElement(x))});
}

Value convertGemm(Node &node) {
  Value a = node.getOperand(0), b = node.getOperand(1), c = node.getOperand(2);
  if (getRank(a) != 2 || getRank(b) != 2)
    return node.broken("needs matrices, not operands of shapes " +
                       toString(getShape(a)) + " and " + toString(getShape(b)));
  Value y = node.create<nn::MatMulOp>(a, b, node.getBool("transA"),
                                      node.getBool("transB"), TypeAttr());
  y = scale(node, y, node.getFloat("alpha"));
  double beta = node.getFloat("beta");
  if (!c || !y || beta == 0)
    return y;
  Value sum = node.createElementwise("add", {y, scale(node, c, beta)});
  if (sum && getShape(sum) != getShape(y))
    return node.broken("adds a tensor of shape " + toString(getShape(c)) +
                       " to a product of shape " + toString(getShape(y)));
  return sum;
}

Value convertEinsum(Node &node) {
  SmallVector<Value> operands;
  for (size_t i = 0; i < node.getNumOperands(); ++i)
    operands.push_back(node.getOperand(i));
  return computeEinsum(node, node.getString("equation"), operands);
}

Value convertDet(Node &node) {
  return node.create<nn::DetOp>(node.getOperand(0));
}

} // namespace nnc::onnx
