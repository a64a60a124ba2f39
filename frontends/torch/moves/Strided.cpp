//===- Strided.cpp - Parts of tensors in regular patterns -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Positions.h"
#include "frontends/torch/moves/Indices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the elements of `x`, flat, at places that are `strides` apart along
/// the axes of `shape`, from `offset` on.
static Value takeStrided(Node &node, Value x, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> strides, int64_t offset) {
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    int64_t most;
    if (size < 0 || stride < 0 ||
        llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, most) ||
        llvm::AddOverflow(last, most, last))
      return node.broken("has negative or too large sizes or strides");
  }
  if (!node.checkSize(RankedTensorType::get(shape, getElement(x))))
    return {};
  if (offset < 0 || (last >= getNumElements(x) && product(shape) > 0))
    return node.broken("reads beyond its operand");
  Value positions =
      node.splat(static_cast<double>(offset), node.getBuilder().getI64Type(),
                 SmallVector<int64_t>(shape.size(), 1));
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      positions = node.createElementwise(
          "add", {positions,
                  makeSteps(node, size, strides[axis], axis, shape.size())});
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}),
                                   positions, int64_t(0));
}

/// Returns the part of `x` that as_strided makes, of a tensor whose elements
/// follow each other.
static Value viewStrided(Node &node, Value x) {
  SmallVector<int64_t> shape = node.getInts("size"),
                       strides = node.getInts("stride");
  if (!x || shape.size() != strides.size())
    return x ? node.broken("has other numbers of sizes and strides") : Value();
  int64_t offset = node.getInt("storage_offset", 0), expected = 1;
  bool isWhole = offset == 0 && product(shape) == getNumElements(x);
  for (size_t i = shape.size(); i-- > 0; expected *= shape[i])
    isWhole &= shape[i] == 1 || strides[i] == expected;
  return isWhole ? node.reshape(x, shape)
                 : takeStrided(node, x, shape, strides, offset);
}

Value convertAsStrided(Node &node) {
  return viewStrided(node, node.getTensor("self"));
}

/// Returns the windows of `x` along an axis, which become a last axis.
static Value viewWindows(Node &node, Value x) {
  auto axis = node.getAxis("dimension", getRank(x));
  int64_t size = node.getInt("size"), step = node.getInt("step");
  if (!x || !axis || getRank(x) == 0)
    return {};
  SmallVector<int64_t> shape(getShape(x)), strides;
  if (size < 0 || step <= 0 || size > shape[*axis])
    return node.broken("has windows of size " + Twine(size) + ", " +
                       Twine(step) + " apart");
  int64_t count = (shape[*axis] - size) / step + 1;
  // The gathered axis becomes two: windows and their elements.
  SmallVector<int64_t> places;
  if (!node.checkSize(
          RankedTensorType::get({count, size}, node.getBuilder().getI64Type())))
    return {};
  for (int64_t window : iota(count))
    for (int64_t i : iota(size))
      places.push_back(window * step + i);
  Value y = node.create<nn::GatherOp>(
      x, node.reshape(node.constant(places), {count, size}), *axis);
  SmallVector<int64_t> order = iota(shape.size() + 1);
  order.erase(order.begin() + *axis + 1);
  order.push_back(*axis + 1);
  return y ? node.transpose(y, order) : y;
}

Value convertUnfold(Node &node) {
  return viewWindows(node, node.getTensor("self"));
}

/// Converts diag_embed: a matrix whose diagonal is the last axis.
Value convertDiagEmbed(Node &node) {
  Value x = node.getTensor("self");
  int64_t offset = node.getInt(node.has("diagonal") ? "diagonal" : "offset"),
          rank = getRank(x);
  if (!x || rank == 0)
    return x ? node.broken("needs a vector") : x;
  auto a = node.getAxis("dim1", rank + 1, -2),
       b = node.getAxis("dim2", rank + 1, -1);
  if (!a || !b)
    return {};
  if (*a == *b)
    return node.broken("puts the matrices along one axis");
  int64_t count = getShape(x).back(), more = std::abs(offset);
  if (more > 1 << 20)
    return node.unsupported("has an offset of " + Twine(offset));
  int64_t size = count + more;
  // Row i of the matrix has element i at column i + offset, and zeros.
  SmallVector<int64_t> rows = iota(size), columns = iota(size);
  Value row = node.reshape(node.constant(rows), {size, 1});
  Value isOn = node.createElementwise(
      "equal", {node.reshape(node.constant(columns), {1, size}),
                node.createBinary("add", row, static_cast<double>(offset))});
  SmallVector<int64_t> pads(2 * rank, 0);
  pads[offset < 0 ? rank - 1 : 2 * rank - 1] = more;
  if (more)
    x = node.create<nn::PadOp>(nn::PadMode::constant, x,
                               ArrayRef<int64_t>(pads), llvm::APFloat(0.0));
  if (!x)
    return {};
  Value y = node.createElementwise(
      "select", {isOn, node.unsqueeze(x, rank), node.splat(0, getElement(x))});
  // The result has the rows along axis `a` and the columns along axis `b`.
  SmallVector<int64_t> order;
  for (int64_t axis = 0, next = 0; axis <= rank; ++axis)
    order.push_back(axis == *a ? rank - 1 : axis == *b ? rank : next++);
  return y ? node.transpose(y, order) : y;
}

/// Returns the diagonal of the matrices along two axes of `x` as a last axis.
static Value viewDiagonal(Node &node, Value x) {
  int64_t rank = getRank(x);
  auto a = node.getAxis("dim1", rank, 0), b = node.getAxis("dim2", rank, 1);
  int64_t offset = node.getInt(node.has("diagonal") ? "diagonal" : "offset");
  if (!x || !a || !b || rank < 2 || *a == *b)
    return x && a && b ? node.broken("needs two axes") : Value();
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rows = shape[*a], columns = shape[*b];
  int64_t top = offset < 0 ? -offset : 0, left = offset > 0 ? offset : 0;
  int64_t count = std::max<int64_t>(
      std::min(rows - std::min(top, rows), columns - std::min(left, columns)),
      0);
  SmallVector<int64_t> sizes, strides;
  for (int64_t axis : iota(rank))
    if (axis != *a && axis != *b) {
      sizes.push_back(shape[axis]);
      strides.push_back(getStride(shape, axis));
    }
  sizes.push_back(count);
  strides.push_back(getStride(shape, *a) + getStride(shape, *b));
  return takeStrided(
      node, x, sizes, strides,
      count ? top * getStride(shape, *a) + left * getStride(shape, *b) : 0);
}

Value convertDiagonal(Node &node) {
  return viewDiagonal(node, node.getTensor("self"));
}

/// Converts trace: the sum of the diagonal of a matrix.
Value convertTrace(Node &node) {
  Value x = viewDiagonal(node, node.getTensor("self"));
  Type type = getComputedType(node.getStatedType());
  return x && type ? node.create<nn::ReduceOp>(
                         nn::ReduceKind::sum, node.castTo(x, type),
                         ArrayRef<int64_t>(0), /*keepdims=*/false)
                   : Value();
}

/// Converts diag: the diagonal of a matrix, or a matrix with a vector on it.
Value convertDiag(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  return getRank(x) == 1 ? convertDiagEmbed(node) : convertDiagonal(node);
}

//===----------------------------------------------------------------------===//
// Writing into patterns
//===----------------------------------------------------------------------===//

/// Returns the view of `x` that as_strided, diagonal, unfold or an expansion
/// makes; null after an error.
static Value viewPattern(Node &node, Value x) {
  StringRef op = node.getOp();
  if (op.starts_with("as_strided"))
    return viewStrided(node, x);
  if (op.starts_with("unfold"))
    return viewWindows(node, x);
  if (op.starts_with("expand"))
    return node.expand(x, *node.getStatedShape());
  return viewDiagonal(node, x);
}

Value writePattern(Node &node, Value x, Value values) {
  if (!x || !values)
    return {};
  if (node.getOp().starts_with("expand") && !node.getStatedShape())
    return node.unsupported("has a shape that depends on data");
  int64_t count = getNumElements(x);
  auto type =
      RankedTensorType::get(getShape(x), node.getBuilder().getI64Type());
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  Value places = node.reshape(node.constant(iota(count)), getShape(x));
  return scatterFlat(node, nn::ScatterKind::replace, x,
                     viewPattern(node, places), values);
}

/// Converts diagonal_scatter and as_strided_scatter.
Value convertPatternScatter(Node &node) {
  Value x = node.getTensor("self"), values = node.getTensor("src");
  return x && values ? writePattern(node, x, node.castTo(values, getElement(x)))
                     : Value();
}

/// Converts fill_diagonal_, which fills the elements at which all indices are
/// equal. With `wrap` the diagonal of a tall matrix begins again below its end.
Value convertFillDiagonal(Node &node) {
  Value x = node.getTensor("self");
  auto number = node.getScalar("fill_value");
  if (!x || !number)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2 || (shape.size() > 2 && !llvm::all_equal(shape)))
    return node.broken("needs a matrix or axes of one size");
  int64_t step = 0;
  for (int64_t axis : iota(shape.size()))
    step += product(shape.drop_front(axis + 1));
  int64_t end = getNumElements(x);
  if (shape.size() == 2 && !node.getBool("wrap"))
    end = std::min(end, shape[1] * shape[1]);
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < end; i += step)
    places.push_back(i);
  Value value = node.makeScalar(*number, getElement(x));
  return scatterFlat(node, nn::ScatterKind::replace, x, node.constant(places),
                     value);
}

} // namespace nnc::torch
