//===- Linalg.cpp - Inverses, factors, norms and powers of matrices -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"
#include "frontends/torch/reduction/Reduce.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// The largest matrix whose inverse or factor is computed: the elimination is a
/// sequence of ops for each column.
static constexpr int64_t kMostColumns = 64;

/// Returns the floats of an argument, matrices in the last two axes; null after
/// an error. `isSquare` tells that they have to be square and not too large.
static Value getMatrices(Node &node, StringRef name, bool isSquare) {
  Value x = node.toReal(node.getTensor(name));
  if (!x)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2 || (isSquare && shape.back() != shape[shape.size() - 2]))
    return node.broken("has the argument '" + name + "' of shape " +
                       toString(shape) + ", which are no " +
                       (isSquare ? "square " : "") + "matrices");
  if (isSquare && shape.back() > kMostColumns)
    return node.unsupported("has matrices of " + Twine(shape.back()) +
                            " columns; nnc handles up to " +
                            Twine(kMostColumns));
  return x;
}

static Value subtract(Node &node, Value a, Value b) {
  return node.createElementwise("sub", {a, b});
}
static Value multiplyEach(Node &node, Value a, Value b) {
  return node.createElementwise("mul", {a, b});
}
static Value matMul(Node &node, Value a, Value b, bool transposeB = false) {
  return node.create<nn::MatMulOp>(a, b, /*transpose_a=*/false, transposeB,
                                   TypeAttr());
}

/// Returns a constant of 1s where `i` is `at` along axis 1 of three, else 0s,
/// as truth values.
static Value isRowAt(Node &node, int64_t rows, Value at) {
  Value i = node.reshape(node.constant(iota(rows)), {1, rows, 1});
  return node.createElementwise("equal", {i, at});
}

/// Returns the solutions of a x = b for batches of square matrices `a`, batch x
/// n x n, and of `b`, batch x n x m: Gauss-Jordan elimination with the largest
/// pivot of each column.
static Value solveSystem(Node &node, Value a, Value b) {
  if (!a || !b)
    return {};
  int64_t n = getShape(a)[1], m = getShape(b)[2];
  Type element = getElement(a), integer = node.getBuilder().getI64Type();
  SmallVector<Value> both = {a, b};
  Value x = node.create<nn::ConcatOp>(ValueRange(both), int64_t(2));
  for (int64_t k = 0; x && k < n; ++k) {
    Value zero = node.splat(0, element);
    Value column = node.slice(x, 2, k, 1);
    // The row of the pivot, of those from k on.
    Value sizes =
        node.createElementwise("abs", {node.slice(column, 1, k, n - k)});
    Value place = node.create<nn::ArgMaxOp>(sizes, int64_t(1),
                                            /*keepdims=*/true,
                                            /*select_last=*/false);
    place = node.createBinary("add", node.castTo(place, integer),
                              static_cast<double>(k));
    if (!place)
      return {};
    Value isPivot = isRowAt(node, n, place),
          isHere =
              isRowAt(node, n, node.splat(static_cast<double>(k), integer));
    auto pick = [&](Value from) {
      Value only = node.createElementwise("select", {isPivot, from, zero});
      return reduce(node, nn::ReduceKind::sum, only, {1}, /*keepsAxes=*/true);
    };
    Value pivotRow = pick(x), row = node.slice(x, 1, k, 1);
    Value scaled = node.createElementwise(
        "div", {pivotRow, node.slice(pivotRow, 2, k, 1)});
    // The row at k moves to the place of the pivot's.
    Value swapped = node.createElementwise("select", {isPivot, row, x});
    Value rest =
        subtract(node, swapped,
                 multiplyEach(node, node.slice(swapped, 2, k, 1), scaled));
    x = node.createElementwise("select", {isHere, scaled, rest});
  }
  return node.slice(x, 2, n, m);
}

/// Returns `x` as batch x rows x columns.
static Value flattenBatch(Node &node, Value x) {
  if (!x)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  return node.reshape(x, {product(shape.drop_back(2)), rows, columns});
}

/// Converts linalg_inv, inverse and linalg_inv_ex.
Value convertInverse(Node &node) {
  Value a = getMatrices(node, node.has("A") ? "A" : "self", /*isSquare=*/true);
  if (!a)
    return {};
  SmallVector<int64_t> shape(getShape(a));
  if (node.getNumResults() > 1) // no matrix is reported as singular
    node.setResult(1, node.splat(0, node.getBuilder().getI32Type(),
                                 ArrayRef(shape).drop_back(2)));
  a = flattenBatch(node, a);
  if (!a)
    return {};
  int64_t n = shape.back();
  Value eye = node.castTo(
      node.createElementwise("equal",
                             {node.reshape(node.constant(iota(n)), {1, n, 1}),
                              node.reshape(node.constant(iota(n)), {1, 1, n})}),
      getElement(a));
  return node.reshape(solveSystem(node, a, node.expand(eye, getShape(a))),
                      shape);
}

/// Returns `x` with its last two axes exchanged.
static Value swapLast(Node &node, Value x) {
  if (!x)
    return {};
  SmallVector<int64_t> order = iota(getRank(x));
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return node.transpose(x, order);
}

/// Returns `solve(a, b)` of batches of matrices `a` and `b`, which broadcast,
/// as batch x n x n and batch x n x m.
static Value solveBatches(Node &node, Value a, Value b,
                          llvm::function_ref<Value(Value, Value)> solve) {
  if (!a || !b)
    return {};
  if (getRank(b) < 2 || getShape(b)[getRank(b) - 2] != getShape(a).back())
    return node.broken("has operands of shapes " + toString(getShape(a)) +
                       " and " + toString(getShape(b)));
  auto batch =
      nn::broadcastShapes({getShape(a).drop_back(2), getShape(b).drop_back(2)});
  if (!batch)
    return node.broken("has batches of shapes that do not fit");
  SmallVector<int64_t> wideA(batch->begin(), batch->end()), wideB(wideA);
  wideA.append({getShape(a).back(), getShape(a).back()});
  wideB.append({getShape(b)[getRank(b) - 2], getShape(b).back()});
  return node.reshape(solve(flattenBatch(node, node.expand(a, wideA)),
                            flattenBatch(node, node.expand(b, wideB))),
                      wideB);
}

/// Returns the solutions of a x = b for triangular matrices: row by row, from
/// the first one if they are `isLower`, otherwise from the last one.
static Value substitute(Node &node, Value a, Value b, bool isLower,
                        bool hasUnits) {
  if (!a || !b)
    return {};
  int64_t n = getShape(a)[1];
  Value solved; // rows that follow each other
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = isLower ? i : n - 1 - i, first = isLower ? 0 : k + 1;
    Value row = node.slice(b, 1, k, 1), line = node.slice(a, 1, k, 1);
    if (solved)
      row = subtract(node, row,
                     matMul(node, node.slice(line, 2, first, i), solved));
    if (!hasUnits)
      row = node.createElementwise("div", {row, node.slice(line, 2, k, 1)});
    SmallVector<Value> rows = {isLower ? solved : row, isLower ? row : solved};
    solved =
        solved ? node.create<nn::ConcatOp>(ValueRange(rows), int64_t(1)) : row;
    if (!solved)
      return {};
  }
  return solved;
}

/// Converts linalg_solve_triangular.
Value convertSolveTriangular(Node &node) {
  Value a = getMatrices(node, "self", /*isSquare=*/true),
        b = node.toReal(node.getTensor("B"));
  if (!a || !b)
    return {};
  bool isLower = !node.getBool("upper"),
       hasUnits = node.getBool("unitriangular"),
       isLeft = node.getBool("left", true);
  // X A = B are the transposed equations.
  if (!isLeft) {
    a = swapLast(node, a);
    b = getRank(b) < 2 ? b : swapLast(node, b);
    isLower = !isLower;
  }
  Value x = solveBatches(node, a, b, [&](Value matrices, Value right) {
    return substitute(node, matrices, right, isLower, hasUnits);
  });
  return isLeft ? x : swapLast(node, x);
}

/// Converts cholesky_solve: the solutions for a matrix whose factor is given.
Value convertCholeskySolve(Node &node) {
  Value b = node.toReal(node.getTensor("self")),
        factor = getMatrices(node, "input2", /*isSquare=*/true);
  if (!b || !factor)
    return {};
  if (node.getBool("upper"))
    factor = swapLast(node, factor);
  return solveBatches(node, factor, b, [&](Value a, Value right) {
    Value y = substitute(node, a, right, /*isLower=*/true, false);
    return substitute(node, swapLast(node, a), y, /*isLower=*/false, false);
  });
}

/// Converts linalg_solve: the solutions of A X = B, or with `left` false of
/// X A = B. A vector B is a column.
Value convertSolve(Node &node) {
  Value a = getMatrices(node, "A", /*isSquare=*/true),
        b = node.toReal(node.getTensor("B"));
  if (!a || !b)
    return {};
  bool isLeft = node.getBool("left", true);
  // PyTorch takes B as vectors if its shape is that of A without the last axis.
  bool isVector = getRank(b) == 1 || (getRank(b) + 1 == getRank(a) &&
                                      getShape(b) == getShape(a).drop_back());
  if (isVector)
    b = node.unsqueeze(b, getRank(b));
  if (!isLeft) {
    a = swapLast(node, a);
    b = swapLast(node, b);
  }
  Value x = solveBatches(node, a, b, [&](Value matrices, Value right) {
    return solveSystem(node, matrices, right);
  });
  if (!isLeft)
    x = swapLast(node, x);
  return x && isVector ? node.reshape(x, getShape(x).drop_back()) : x;
}

/// Converts linalg_slogdet: the sign of the determinant and the logarithm of
/// its absolute value.
Value convertLogDet(Node &node) {
  Value x = node.toReal(node.getTensor(node.has("A") ? "A" : "self"));
  if (!x || getRank(x) < 2)
    return x ? node.broken("needs matrices") : x;
  Value determinant = node.create<nn::DetOp>(x);
  Value logs = node.createElementwise(
      "log", {node.createElementwise("abs", {determinant})});
  node.setResult(1, logs);
  return node.createElementwise("sign", {determinant});
}

/// Converts linalg_cholesky and linalg_cholesky_ex: the triangular factor of
/// positive definite matrices, column by column.
Value convertCholesky(Node &node) {
  Value a = getMatrices(node, "self", /*isSquare=*/true);
  if (!a)
    return {};
  SmallVector<int64_t> shape(getShape(a));
  if (node.getNumResults() > 1)
    node.setResult(1, node.splat(0, node.getBuilder().getI32Type(),
                                 ArrayRef(shape).drop_back(2)));
  a = flattenBatch(node, a);
  int64_t n = shape.back();
  Value factor;
  for (int64_t k = 0; a && k < n; ++k) {
    Value column = node.slice(a, 2, k, 1);
    if (factor)
      column = subtract(node, column,
                        matMul(node, factor, node.slice(factor, 1, k, 1),
                               /*transposeB=*/true));
    Value pivot = node.createElementwise("sqrt", {node.slice(column, 1, k, 1)});
    column = node.createElementwise("div", {column, pivot});
    if (!column)
      return {};
    Value isBelow = node.createElementwise(
        "greater_equal",
        {node.reshape(node.constant(iota(n)), {1, n, 1}),
         node.splat(static_cast<double>(k), node.getBuilder().getI64Type())});
    column = node.createElementwise(
        "select", {isBelow, column, node.splat(0, getElement(a))});
    SmallVector<Value> columns = {factor, column};
    factor = factor ? node.create<nn::ConcatOp>(ValueRange(columns), int64_t(2))
                    : column;
  }
  if (factor && node.getBool("upper"))
    factor = node.transpose(factor, {0, 2, 1});
  return factor ? node.reshape(factor, shape) : factor;
}

Value convertDet(Node &node) {
  Value x = node.toReal(node.getTensor(node.has("A") ? "A" : "self"));
  if (!x || getRank(x) < 2)
    return x ? node.broken("needs matrices") : x;
  return node.create<nn::DetOp>(x);
}

/// Converts logdet, which is NaN where the determinant is negative.
Value convertLogOfDet(Node &node) {
  return node.createElementwise("log", {convertDet(node)});
}

/// Converts linalg_matrix_power: the product of a matrix with itself.
Value convertMatrixPower(Node &node) {
  int64_t power = node.getInt("n");
  Value x = node.toReal(node.getTensor("self"));
  if (!x || getRank(x) < 2 || power < 1 || power > (1 << 20))
    return x ? node.unsupported("has the power " + Twine(power) +
                                "; nnc handles positive ones")
             : x;
  // Squares, and the product of those that the bits of the power select.
  Value result;
  for (Value square = x; power != 0; power >>= 1) {
    if (power & 1)
      result = result ? matMul(node, result, square) : square;
    if (power > 1)
      square = matMul(node, square, square);
  }
  return result;
}

/// Converts linalg_cross, the products of vectors of three elements.
Value convertCross(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("other");
  auto shape = nn::broadcastShapes({getShape(a), getShape(b)});
  if (!a || !b || !shape)
    return a && b ? node.broken("has operands of shapes that do not fit")
                  : Value();
  SmallVector<int64_t> common(shape->begin(), shape->end());
  int64_t rank = common.size();
  int64_t otherwise = -1;
  // Without an axis, `cross` takes the first one of three elements.
  if (!node.getOp().starts_with("linalg") && !node.has("dim"))
    otherwise = llvm::find(common, 3) - common.begin();
  auto axis = node.getAxis("dim", rank, otherwise);
  if (!axis)
    return {};
  if (rank == 0 || common[*axis] != 3)
    return node.broken("needs vectors of three elements");
  a = node.expand(a, common);
  b = node.expand(b, common);
  // Elements 1, 2, 0 and 2, 0, 1 of the vectors.
  auto turn = [&](Value x, int64_t by) {
    SmallVector<Value> parts = {node.slice(x, *axis, by, 3 - by),
                                node.slice(x, *axis, 0, by)};
    return node.create<nn::ConcatOp>(ValueRange(parts), *axis);
  };
  return subtract(node, multiplyEach(node, turn(a, 1), turn(b, 2)),
                  multiplyEach(node, turn(a, 2), turn(b, 1)));
}

/// Converts inner: the sums of products along the last axes of both tensors.
Value convertInner(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("other");
  if (!a || !b)
    return {};
  if (getRank(a) == 0 || getRank(b) == 0)
    return multiplyEach(node, a, b);
  int64_t size = getShape(a).back();
  SmallVector<int64_t> shape(getShape(a).drop_back());
  shape.append(getShape(b).drop_back().begin(), getShape(b).drop_back().end());
  int64_t rows = product(getShape(a).drop_back()),
          columns = product(getShape(b).drop_back());
  if (size != getShape(b).back())
    return node.broken("has last axes of different sizes");
  return node.reshape(matMul(node, node.reshape(a, {rows, size}),
                             node.reshape(b, {columns, size}),
                             /*transposeB=*/true),
                      shape);
}

/// Converts addr: a matrix plus the outer product of two vectors.
Value convertAddr(Node &node) {
  Value x = node.getTensor("self"), a = node.getTensor("vec1"),
        b = node.getTensor("vec2");
  if (!x || !a || !b || getRank(a) != 1 || getRank(b) != 1)
    return x && a && b ? node.broken("needs two vectors") : Value();
  Value outer = multiplyEach(node, node.unsqueeze(a, 1), b);
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  if (alpha != 1)
    outer = node.createBinary("mul", outer, alpha);
  if (beta == 0)
    return outer;
  if (beta != 1)
    x = node.createBinary("mul", x, beta);
  return node.createElementwise("add", {outer, x});
}

/// Converts linalg_matrix_norm, and linalg_norm of matrices: the Frobenius norm
/// and the largest or smallest sum of a row or column.
Value convertMatrixNorm(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  SmallVector<int64_t> axes = node.getInts("dim", {-2, -1});
  if (!x || axes.size() != 2 || !node.normalizeAxes(axes, getRank(x)))
    return x && axes.size() != 2 ? node.broken("needs two axes") : Value();
  bool keeps = node.getBool("keepdim");
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  double order = 2;
  bool isFrobenius = node.getOp().ends_with("str") || !node.has("ord") ||
                     node.getOp().ends_with("str_ord");
  if (isFrobenius && node.getString("ord", "fro") != "fro")
    return node.unsupported("has the norm '" + node.getString("ord") +
                            "', which needs singular values");
  if (isFrobenius)
    return reduce(node, nn::ReduceKind::l2, x, sorted, keeps);
  order = node.getFloat("ord");
  if (std::abs(order) != 1 && !std::isinf(order))
    return node.unsupported("has the norm " + frontends::toString(order) +
                            ", which needs singular values");
  // Columns are summed for 1, and rows for infinity.
  int64_t summed = axes[std::isinf(order) ? 1 : 0],
          other = axes[std::isinf(order) ? 0 : 1];
  Value sums = reduce(node, nn::ReduceKind::l1, x, {summed}, true);
  Value y = reduce(node, order > 0 ? nn::ReduceKind::max : nn::ReduceKind::min,
                   sums, {other}, true);
  if (!y || keeps)
    return y;
  SmallVector<int64_t> shape;
  for (int64_t axis : iota(getRank(x)))
    if (!llvm::is_contained(axes, axis))
      shape.push_back(getShape(x)[axis]);
  return node.reshape(y, shape);
}

/// Converts linalg_norm: of vectors, of matrices, or of all elements.
Value convertLinalgNorm(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  if (!x)
    return {};
  size_t axes = node.has("dim") ? node.getInts("dim").size() : getRank(x);
  bool isFlat = !node.has("dim") && !node.has("ord");
  if (axes == 2 && !isFlat && node.has("ord"))
    return convertMatrixNorm(node);
  auto along = node.getAxes("dim", getRank(x));
  if (!along)
    return {};
  return computeNorm(node, x, node.getFloat("ord", 2), *along,
                     node.getBool("keepdim"));
}

} // namespace nnc::torch
