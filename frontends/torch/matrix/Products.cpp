//===- Products.cpp - Products of matrices and vectors -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Einsum.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the product of two tensors by the rules of torch.matmul: a vector on
/// the left is a row, one on the right is a column, and the result lacks the
/// axis that was added.
static Value multiply(Node &node, Value a, Value b) {
  if (!a || !b)
    return {};
  bool isRow = getRank(a) == 1, isColumn = getRank(b) == 1;
  if (getRank(a) == 0 || getRank(b) == 0)
    return node.broken("multiplies a scalar");
  if (isRow)
    a = node.unsqueeze(a, 0);
  if (isColumn)
    b = node.unsqueeze(b, 1);
  Value y = node.create<nn::MatMulOp>(a, b, false, false, TypeAttr());
  if (!y || (!isRow && !isColumn))
    return y;
  SmallVector<int64_t> shape(getShape(y));
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return node.reshape(y, shape);
}

/// Returns x * factor, or x itself if the factor is 1.
static Value scale(Node &node, Value x, double factor) {
  return factor == 1 ? x : node.createBinary("mul", x, factor);
}

/// Returns beta * self + alpha * product, of the node's arguments. PyTorch does
/// not read `self` if beta is 0.
static Value addScaled(Node &node, Value product) {
  product = scale(node, product, node.getFloat("alpha", 1));
  double beta = node.getFloat("beta", 1);
  if (beta == 0 || !product)
    return product;
  Value sum = node.createElementwise(
      "add", {product, scale(node, node.getTensor("self"), beta)});
  if (sum && getShape(sum) != getShape(product))
    return node.broken("adds a tensor of shape " +
                       toString(getShape(node.getTensor("self"))) +
                       " to a product of shape " + toString(getShape(product)));
  return sum;
}

/// Returns true if the operands have `rankA` and `rankB` axes; otherwise
/// reports an error.
static bool checkRanks(Node &node, Value a, Value b, int64_t rankA,
                       int64_t rankB) {
  if (!a || !b)
    return false;
  if (getRank(a) == rankA && getRank(b) == rankB)
    return true;
  node.broken("has operands of shapes " + toString(getShape(a)) + " and " +
              toString(getShape(b)));
  return false;
}

/// Returns the product of two arguments, which have `rankA` and `rankB` axes.
static Value multiplyRanked(Node &node, StringRef left, StringRef right,
                            int64_t rankA, int64_t rankB) {
  Value a = node.getTensor(left), b = node.getTensor(right);
  return checkRanks(node, a, b, rankA, rankB) ? multiply(node, a, b) : Value();
}

Value convertMatMul(Node &node) {
  return multiply(node, node.getTensor("self"), node.getTensor("other"));
}
Value convertMm(Node &node) {
  return multiplyRanked(node, "self", "mat2", 2, 2);
}
Value convertBmm(Node &node) {
  return multiplyRanked(node, "self", "mat2", 3, 3);
}
Value convertMv(Node &node) {
  return multiplyRanked(node, "self", "vec", 2, 1);
}
Value convertDot(Node &node) {
  return multiplyRanked(node, "self", node.has("tensor") ? "tensor" : "other",
                        1, 1);
}
Value convertAddMm(Node &node) {
  return addScaled(node, multiplyRanked(node, "mat1", "mat2", 2, 2));
}
Value convertAddMv(Node &node) {
  return addScaled(node, multiplyRanked(node, "mat", "vec", 2, 1));
}
Value convertBAddBmm(Node &node) {
  return addScaled(node, multiplyRanked(node, "batch1", "batch2", 3, 3));
}

/// Converts addbmm, which sums the products of a batch: the product of matrices
/// whose common axis is that of the batch and of the factors.
Value convertAddBmm(Node &node) {
  Value a = node.getTensor("batch1"), b = node.getTensor("batch2");
  if (!checkRanks(node, a, b, 3, 3))
    return {};
  return addScaled(node, computeEinsum(node, "bij,bjk->ik", {a, b}));
}

/// Converts linear: the product with the transposed weight, plus a bias.
Value convertLinear(Node &node) {
  Value x = node.getTensor("input"), w = node.getTensor("weight"),
        bias = node.getOptionalTensor("bias");
  if (!x || !w)
    return {};
  if (getRank(x) == 0 || getRank(w) < 1 || getRank(w) > 2)
    return node.broken("has an input of shape " + toString(getShape(x)) +
                       " and a weight of shape " + toString(getShape(w)));
  if (getRank(w) == 1) {
    Value y = multiply(node, x, w);
    return bias ? node.createElementwise("add", {y, bias}) : y;
  }
  bool isRow = getRank(x) == 1;
  if (isRow)
    x = node.unsqueeze(x, 0);
  Value y = node.create<nn::MatMulOp>(x, w, /*transpose_a=*/false,
                                      /*transpose_b=*/true, TypeAttr());
  if (bias)
    y = node.createElementwise("add", {y, bias});
  return y && isRow ? node.reshape(y, getShape(y).drop_front()) : y;
}

Value convertOuter(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("vec2");
  if (!checkRanks(node, a, b, 1, 1))
    return {};
  Type element = node.promote({{a}, {b}});
  return node.createElementwise(
      "mul",
      {node.unsqueeze(node.castTo(a, element), 1), node.castTo(b, element)});
}

/// Converts linalg_vecdot: the sum of products along an axis.
Value convertVecDot(Node &node) {
  Value product =
      node.createElementwise("mul", {node.getTensor("x"), node.getTensor("y")});
  auto axis = node.getAxis("dim", getRank(product), -1);
  if (!product || !axis)
    return {};
  return node.create<nn::ReduceOp>(nn::ReduceKind::sum, product,
                                   ArrayRef<int64_t>(*axis), false);
}

/// Converts chain_matmul and linalg_multi_dot.
Value convertChainMatMul(Node &node) {
  bool isMulti = node.has("tensors"); // which may begin and end with a vector
  SmallVector<Value> matrices =
      node.getTensors(isMulti ? "tensors" : "matrices");
  if (matrices.empty())
    return {};
  Value y = matrices[0];
  for (Value next : ArrayRef(matrices).drop_front()) {
    if (!isMulti && !checkRanks(node, y, next, 2, 2))
      return {};
    y = multiply(node, y, next);
  }
  return y;
}

Value convertEinsum(Node &node) {
  SmallVector<Value> operands = node.getTensors("tensors");
  if (operands.empty() || llvm::is_contained(operands, Value()))
    return {};
  return computeEinsum(node, node.getString("equation"), operands);
}

/// Converts tensordot: sums over pairs of axes of both tensors.
Value convertTensorDot(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("other");
  SmallVector<int64_t> first = node.getInts("dims_self"),
                       second = node.getInts("dims_other");
  if (!a || !b || !node.normalizeAxes(first, getRank(a)) ||
      !node.normalizeAxes(second, getRank(b)))
    return {};
  if (first.size() != second.size() || getRank(a) + getRank(b) > 52)
    return node.broken("sums " + Twine(first.size()) + " axes of one and " +
                       Twine(second.size()) + " axes of the other tensor");
  // A letter for each axis; axes that are summed share one.
  std::string left, right, result;
  char next = 'a';
  auto letter = [&] { return next == 'z' ? (next = 'A', 'z') : next++; };
  for (int64_t i = 0; i < getRank(a); ++i)
    left += letter();
  for (int64_t i = 0; i < getRank(b); ++i) {
    const auto *found = llvm::find(second, i);
    right +=
        found == second.end() ? letter() : left[first[found - second.begin()]];
  }
  for (char c : left + right)
    if (left.find(c) == std::string::npos || right.find(c) == std::string::npos)
      result += c;
  std::string equation = left;
  equation.append(",").append(right).append("->").append(result);
  return computeEinsum(node, equation, {a, b});
}

/// Converts bilinear: x1 . w[k] . x2 for each k, plus a bias.
Value convertBilinear(Node &node) {
  Value y = computeEinsum(node, "...i,kij,...j->...k",
                          {node.getTensor("input1"), node.getTensor("weight"),
                           node.getTensor("input2")});
  Value bias = node.getOptionalTensor("bias");
  return bias ? node.createElementwise("add", {y, bias}) : y;
}

/// Converts _int_mm: the product of matrices of 8-bit integers, with sums of 32
/// bits.
Value convertIntegerProduct(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("mat2");
  if (!checkRanks(node, a, b, 2, 2))
    return {};
  for (Value operand : {a, b})
    if (!getElement(operand).isInteger(8))
      return node.unsupported("multiplies elements of type " +
                              getTypeName(getElement(operand)) +
                              "; nnc handles integers of 8 bits");
  return node.create<nn::MatMulOp>(
      a, b, false, false, TypeAttr::get(node.getBuilder().getI32Type()));
}

/// Converts _trilinear: the product of three tensors, each of which lacks some
/// of the axes of all, summed along axes.
Value convertTrilinear(Node &node) {
  SmallVector<Value> operands = {node.getTensor("i1"), node.getTensor("i2"),
                                 node.getTensor("i3")};
  SmallVector<int64_t> lacking[] = {node.getInts("expand1"),
                                    node.getInts("expand2"),
                                    node.getInts("expand3")},
                       summed = node.getInts("sumdim");
  if (llvm::is_contained(operands, Value()) || node.hasFailed())
    return {};
  int64_t rank = getRank(operands[0]) + static_cast<int64_t>(lacking[0].size());
  std::string equation, result;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (getRank(operand) + int64_t(lacking[i].size()) != rank || rank > 26)
      return node.broken("has operands of different ranks");
    equation += i == 0 ? "" : ",";
    for (int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(lacking[i], axis))
        equation += static_cast<char>('a' + axis);
  }
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(summed, axis))
      result += static_cast<char>('a' + axis);
  for (char label : result)
    if (equation.find(label) == std::string::npos)
      return node.broken("has an axis that no operand has");
  return computeEinsum(node, equation + "->" + result, operands);
}

/// Converts kron: the products of all pairs of elements, axis by axis.
Value convertKron(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("other");
  if (!a || !b)
    return {};
  int64_t rank = std::max(getRank(a), getRank(b));
  SmallVector<int64_t> shapeA(rank - getRank(a), 1),
      shapeB(rank - getRank(b), 1), wideA, wideB, shape;
  llvm::append_range(shapeA, getShape(a));
  llvm::append_range(shapeB, getShape(b));
  for (auto [sizeA, sizeB] : llvm::zip(shapeA, shapeB)) {
    wideA.append({sizeA, 1});
    wideB.append({1, sizeB});
    shape.push_back(sizeA * sizeB);
  }
  Type element = node.promote({{a}, {b}});
  Value y = node.createElementwise(
      "mul", {node.reshape(node.castTo(a, element), wideA),
              node.reshape(node.castTo(b, element), wideB)});
  return node.reshape(y, shape);
}

} // namespace nnc::torch
