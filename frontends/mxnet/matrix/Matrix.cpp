//===- Matrix.cpp - Fully connected layers and matrix products ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/matrix/Matrix.h"

#include "frontends/common/Einsum.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

Value multiply(Layer &layer, Value a, Value b, bool transposeA,
               bool transposeB) {
  return layer.create<nn::MatMulOp>(a, b, transposeA, transposeB, TypeAttr());
}

Value connect(Layer &layer, Value x, Value w, Value bias) {
  if (!x || !w)
    return {};
  if (getRank(x) < 1 || getRank(w) != 2)
    return layer.broken("has an input of shape " + toString(getShape(x)) +
                        " and a weight of shape " + toString(getShape(w)));
  SmallVector<int64_t> result(getShape(x));
  if (layer.getBool("flatten", true) && getRank(x) > 1) {
    x = layer.reshape(x, {getShape(x)[0], product(getShape(x).drop_front(1))});
    result = SmallVector<int64_t>(getShape(x));
  } else if (getRank(x) == 1) {
    x = layer.reshape(x, {1, getShape(x)[0]});
  }
  result.back() = getShape(w)[0];
  Value y = multiply(layer, x, w, false, true);
  if (bias && getShape(bias) != ArrayRef<int64_t>(getShape(w)[0]))
    return layer.broken("needs a bias of " + Twine(getShape(w)[0]) +
                        " elements, not one of shape " +
                        toString(getShape(bias)));
  if (bias)
    y = layer.add(y, bias);
  return layer.reshape(y, result);
}

Value convertFullyConnected(Layer &layer) {
  return connect(layer, layer.getInput(0), layer.getInput(1),
                 layer.getBool("no_bias", false) ? Value() : layer.getInput(2));
}

/// Converts dot: the products of the last axis of a and the first axis of b.
Value convertDot(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (getRank(a) == 0 || getRank(b) == 0)
    return layer.mul(a, b);
  int64_t rankA = getRank(a), rankB = getRank(b);
  if (layer.getBool("transpose_a", false))
    a = layer.moveAxis(a, 0, rankA - 1);
  if (layer.getBool("transpose_b", false))
    b = layer.moveAxis(b, rankB - 1, 0);
  if (!a || !b)
    return {};
  // NumPy multiplies with the last but one axis of b.
  if (layer.getOp().starts_with("_np") && rankB > 1)
    b = layer.moveAxis(b, rankB - 2, 0);
  SmallVector<int64_t> result(getShape(a).drop_back());
  llvm::append_range(result, getShape(b).drop_front());
  int64_t depth = getShape(a).back();
  if (getShape(b)[0] != depth)
    return layer.broken("multiplies tensors of shapes " +
                        toString(getShape(layer.getInput(0))) + " and " +
                        toString(getShape(layer.getInput(1))));
  a = layer.reshape(a, {product(getShape(a).drop_back()), depth});
  b = layer.reshape(b, {depth, product(getShape(b).drop_front())});
  if (result.empty() && !layer.getOp().starts_with("_np"))
    result.push_back(1);
  return layer.reshape(multiply(layer, a, b), result);
}

Value convertBatchDot(Layer &layer) {
  return multiply(layer, layer.getInput(0), layer.getInput(1),
                  layer.getBool("transpose_a", false),
                  layer.getBool("transpose_b", false));
}

/// Converts _npi_matmul: vectors are matrices of one row or one column.
Value convertMatMul(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  bool isRow = getRank(a) == 1, isColumn = getRank(b) == 1;
  if (isRow)
    a = layer.reshape(a, {1, getShape(a)[0]});
  if (isColumn)
    b = layer.reshape(b, {getShape(b)[0], 1});
  Value y = multiply(layer, a, b);
  if (!y)
    return {};
  SmallVector<int64_t> shape(getShape(y));
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return layer.reshape(y, shape);
}

Value convertEinsum(Layer &layer) {
  return frontends::computeEinsum(layer, layer.getText("subscripts"),
                                  layer.getInputs());
}

/// Returns the products of `a` and `b`, summed over pairs of their axes.
static Value contract(Layer &layer, ArrayRef<int64_t> axesA,
                      ArrayRef<int64_t> axesB) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  SmallVector<int64_t> orderA, orderB(axesB), result;
  for (int64_t axis = 0; axis < getRank(a); ++axis)
    if (!llvm::is_contained(axesA, axis)) {
      orderA.push_back(axis);
      result.push_back(getShape(a)[axis]);
    }
  int64_t rows = product(result), depth = 1;
  llvm::append_range(orderA, axesA);
  for (auto [i, j] : llvm::zip_equal(axesA, axesB)) {
    if (getShape(a)[i] != getShape(b)[j])
      return layer.broken("sums products over axes of " +
                          Twine(getShape(a)[i]) + " and " +
                          Twine(getShape(b)[j]) + " elements");
    depth *= getShape(a)[i];
  }
  for (int64_t axis = 0; axis < getRank(b); ++axis)
    if (!llvm::is_contained(axesB, axis)) {
      orderB.push_back(axis);
      result.push_back(getShape(b)[axis]);
    }
  int64_t columns = getNumElements(b) / std::max<int64_t>(depth, 1);
  a = layer.reshape(layer.transpose(a, orderA), {rows, depth});
  b = layer.reshape(layer.transpose(b, orderB), {depth, columns});
  return layer.reshape(multiply(layer, a, b), result);
}

Value convertTensorDot(Layer &layer) {
  auto a = layer.getInts("a_axes_summed").value_or(SmallVector<int64_t>()),
       b = layer.getInts("b_axes_summed").value_or(SmallVector<int64_t>());
  if (!layer.normalizeAxes(a, getRank(layer.getInput(0))) ||
      !layer.normalizeAxes(b, getRank(layer.getInput(1))))
    return {};
  if (a.size() != b.size())
    return layer.broken("sums over " + Twine(a.size()) + " and " +
                        Twine(b.size()) + " axes");
  return contract(layer, a, b);
}

/// Converts tensordot over the last axes of a and the first ones of b.
Value convertTensorDotOfLast(Layer &layer) {
  int64_t rank = getRank(layer.getInput(0)), axes = layer.getInt("axes", 2);
  if (axes < 0 || axes > rank || axes > getRank(layer.getInput(1)))
    return layer.broken("sums over " + Twine(axes) + " axes");
  return contract(layer, ArrayRef(iota(rank)).take_back(axes), iota(axes));
}

/// Converts polyval, whose first input has the coefficients, from that of the
/// highest power.
Value convertPolynomial(Layer &layer) {
  Value p = layer.getInput(0), x = layer.getInput(1), y;
  if (getRank(p) != 1 || getShape(p)[0] == 0)
    return layer.broken("has coefficients of shape " + toString(getShape(p)));
  if (getShape(p)[0] > 256)
    return layer.fail(ImportStatus::limit, "has more than 256 coefficients");
  for (int64_t i = 0; i < getShape(p)[0]; ++i) {
    Value term = layer.reshape(layer.slice(p, 0, i, 1), {});
    y = i == 0 ? layer.expand(term, getShape(x))
               : layer.add(layer.mul(y, x), term);
  }
  return y;
}

/// Converts _linalg_gemm2: alpha times the product of matrices.
Value convertGemm2(Layer &layer) {
  if (layer.getInt("axis", -2) != -2)
    return layer.unsupported("has rows along axis " +
                             Twine(layer.getInt("axis", -2)) +
                             "; nnc handles -2");
  Value y = convertBatchDot(layer);
  double alpha = layer.getReal("alpha", 1);
  return alpha == 1 ? y : layer.mul(y, layer.scalar(alpha, y));
}

/// Converts _linalg_syrk: alpha times the product
/// of a matrix and its transpose.
Value convertSyrk(Layer &layer) {
  bool isTransposed = layer.getBool("transpose", false);
  Value y = multiply(layer, layer.getInput(0), layer.getInput(0), isTransposed,
                     !isTransposed);
  double alpha = layer.getReal("alpha", 1);
  return alpha == 1 ? y : layer.mul(y, layer.scalar(alpha, y));
}

} // namespace nnc::mxnet
