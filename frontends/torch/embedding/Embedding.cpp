//===- Embedding.cpp - Rows of a table, and bags of them -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"
#include "frontends/torch/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// A bag of embeddings: for each bag the sum, the mean or the largest elements
/// of the rows of a table.
class Bags {
public:
  explicit Bags(Node &node) : node(node) {}
  Value convert();

private:
  enum Mode { sum, mean, max };
  bool read();
  /// Returns the number of rows of each bag if the program says that all bags
  /// have as many.
  std::optional<int64_t> findEvenSize();
  /// Returns for each bag and each row 1 if the row counts in the bag, else 0:
  /// bags x rows, or bags x size if all bags have `size` rows.
  Value count(std::optional<int64_t> size);

  Node &node;
  Mode mode = sum;
  Value weight, indices, offsets, shares;
  int64_t rows = 0, bags = 0, width = 0;
};

} // namespace

Value convertEmbedding(Node &node) {
  return node.create<nn::GatherOp>(node.getTensor("weight"),
                                   node.getTensor("indices"), 0);
}

/// Converts embedding_renorm: rows that the indices name and whose norms are
/// larger than `max_norm` are scaled to it.
Value convertEmbeddingRenorm(Node &node) {
  Value table = node.getTensor("self"), indices = node.getTensor("indices");
  if (!table || !indices)
    return {};
  double most = node.getFloat("max_norm"), p = node.getFloat("norm_type", 2);
  if (getRank(table) != 2 || (p != 1 && p != 2))
    return node.unsupported("has a table of shape " +
                            toString(getShape(table)) +
                            " and a norm of order " + frontends::toString(p) +
                            "; nnc handles the orders 1 and 2");
  Type element = getElement(table);
  Value norms = node.create<nn::ReduceOp>(
      p == 1 ? nn::ReduceKind::l1 : nn::ReduceKind::l2, table,
      ArrayRef<int64_t>(1), /*keepdims=*/true);
  if (!norms)
    return {};
  int64_t rows = getShape(table)[0];
  Value isNamed = scatterFlat(
      node, nn::ScatterKind::replace, node.splat(0, element, {rows}),
      wrapIndices(node, indices, rows), node.splat(1, element));
  Value isLong = node.createElementwise(
      "logical_and",
      {node.createElementwise("greater", {norms, node.splat(most, element)}),
       node.createElementwise("greater", {node.reshape(isNamed, {rows, 1}),
                                          node.splat(0, element)})});
  Value factor =
      node.createElementwise("div", {node.splat(most, element),
                                     node.createBinary("add", norms, 1e-7)});
  return node.createElementwise(
      "mul", {table, node.createElementwise(
                         "select", {isLong, factor, node.splat(1, element)})});
}

bool Bags::read() {
  weight = node.getTensor("weight");
  indices = node.getTensor("indices");
  offsets = node.getTensor("offsets");
  shares = node.getOptionalTensor("per_sample_weights");
  int64_t number = node.getInt("mode");
  if (!weight || !indices || !offsets)
    return false;
  if (getRank(weight) != 2 || getRank(indices) != 1 || getRank(offsets) != 1 ||
      number < 0 || number > 2) {
    node.broken("has a table of shape " + toString(getShape(weight)) +
                ", indices of shape " + toString(getShape(indices)) +
                ", offsets of shape " + toString(getShape(offsets)) +
                " and the mode " + Twine(number));
    return false;
  }
  mode = static_cast<Mode>(number);
  rows = getNumElements(indices);
  bags = getNumElements(offsets) - node.getBool("include_last_offset");
  width = getShape(weight)[1];
  return bags >= 0;
}

std::optional<int64_t> Bags::findEvenSize() {
  auto known = readElements(offsets);
  if (!known || known->isReal() || bags == 0 || rows % bags != 0)
    return std::nullopt;
  for (int64_t i = 0; i < bags; ++i)
    if (known->ints[i] != i * (rows / bags))
      return std::nullopt;
  return rows / bags;
}

Value Bags::count(std::optional<int64_t> size) {
  Type element = getElement(weight), index = node.getBuilder().getI64Type();
  Value counted;
  if (!size) {
    Value starts = node.castTo(node.slice(offsets, 0, 0, bags), index);
    Value last = node.constant(ArrayRef<int64_t>(rows));
    Value ends = bags > 1 ? node.slice(offsets, 0, 1, bags - 1) : Value();
    ends = ends ? node.create<nn::ConcatOp>(
                      ValueRange({node.castTo(ends, index), last}), 0)
                : last;
    Value places = node.constant(iota(rows));
    Value isBehind = node.createElementwise(
        "greater_equal", {places, node.unsqueeze(starts, 1)});
    Value isBefore =
        node.createElementwise("less", {places, node.unsqueeze(ends, 1)});
    counted = node.createElementwise("logical_and", {isBehind, isBefore});
  }
  int64_t padding = node.getInt("padding_idx", -1);
  if (padding >= 0) {
    Value isPadding =
        node.createBinary("equal", indices, static_cast<double>(padding));
    Value isKept = node.createElementwise("logical_not", {isPadding});
    if (size)
      isKept = node.reshape(isKept, {bags, *size});
    counted = counted ? node.createElementwise("logical_and", {counted, isKept})
                      : isKept;
  }
  if (!counted)
    return node.splat(1, element, {bags, *size});
  return node.castTo(counted, element);
}

Value Bags::convert() {
  if (!read())
    return {};
  Type element = getElement(weight);
  std::optional<int64_t> size = findEvenSize();
  Value picked = node.create<nn::GatherOp>(weight, indices, 0);
  Value counted = count(size);
  if (!picked || !counted)
    return {};
  picked = size ? node.reshape(picked, {bags, *size, width})
                : node.reshape(picked, {1, rows, width});
  SmallVector<int64_t> axis = {1};
  Value total = node.create<nn::ReduceOp>(nn::ReduceKind::sum, counted, axis,
                                          /*keepdims=*/true);
  if (mode == max) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value isCounted =
        node.createBinary("greater", node.unsqueeze(counted, 2), 0);
    Value masked = node.createElementwise(
        "select", {isCounted, picked, node.splat(-infinity, element)});
    Value y = node.create<nn::ReduceOp>(nn::ReduceKind::max, masked, axis,
                                        /*keepdims=*/false);
    Value isEmpty = node.createBinary("equal", total, 0);
    return node.createElementwise("select",
                                  {isEmpty, node.splat(0, element), y});
  }
  if (shares)
    counted = node.createElementwise(
        "mul", {counted, size ? node.reshape(shares, {bags, *size}) : shares});
  Value y =
      size ? node.reshape(node.create<nn::MatMulOp>(node.unsqueeze(counted, 1),
                                                    picked, false, false,
                                                    TypeAttr()),
                          {bags, width})
           : node.create<nn::MatMulOp>(counted,
                                       node.reshape(picked, {rows, width}),
                                       false, false, TypeAttr());
  if (mode != mean)
    return y;
  return node.createElementwise("div", {y, node.createBinary("max", total, 1)});
}

Value convertEmbeddingBag(Node &node) { return Bags(node).convert(); }

} // namespace nnc::torch
