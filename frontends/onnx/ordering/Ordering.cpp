//===- Ordering.cpp - TopK, CumSum, CumProd and Hardmax -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Converts TopK: nn.top_k computes the indices, and a gather selects the
/// values.
Value convertTopK(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis", -1), getRank(x));
  std::optional<SmallVector<int64_t>> count;
  if (node.getOperand(1))
    count = node.getConstantInts(1, "numbers of elements");
  else
    count = SmallVector<int64_t>{node.getInt("k")};
  if (!axis || !count)
    return {};
  bool isLargest = !node.hasAttribute("largest") || node.getBool("largest");
  const Lengths &lengths = node.getImporter().getLengths();
  int64_t size = getShape(x)[*axis];
  // If the data-dependent count may exceed the number of elements in an import,
  // all elements are sorted, and the first ones are taken at run time.
  LengthExpression wanted =
      node.getOperand(1) ? node.readLength(1) : LengthExpression();
  auto length = wanted.getLength();
  bool isOfAll = length && !node.getImporter().isInBody() &&
                 lengths.describe(x, *axis).getConstant() &&
                 lengths.getSizes()[*length].most <= size &&
                 node.getRoom(*length) > size;
  if (isOfAll)
    count = SmallVector<int64_t>{size};
  if (count->size() != 1 || (*count)[0] < 0 || (*count)[0] > size)
    return node.broken("wants " + toString(*count) + " of " + Twine(size) +
                       " elements");
  Value indices = node.create<nn::TopKOp>(x, *axis, (*count)[0], isLargest);
  if (isOfAll)
    indices = node.create<nn::GatherOp>(indices, node.countTo(*length), *axis);
  node.getImporter().noteDim(indices, *axis, wanted);
  node.setResult(1, indices);
  SmallVector<int64_t> shape(getShape(x));
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}),
                                   locateElements(node, shape, indices, *axis),
                                   0);
}

template <class Op> static Value convertScan(Node &node) {
  Value x = node.getOperand(0);
  int64_t rank = getRank(x);
  return computeAlongOperand(node, 1, rank, iota(rank), [&](int64_t axis) {
    return node.create<Op>(x, axis, node.getBool("exclusive"),
                           node.getBool("reverse"));
  });
}

Value convertCumSum(Node &node) { return convertScan<nn::CumSumOp>(node); }
Value convertCumProd(Node &node) { return convertScan<nn::CumProdOp>(node); }

/// Converts Hardmax: 1 at the first of the largest elements, else 0. Before
/// opset 13 all axes from `axis` on are one.
Value convertHardmax(Node &node) {
  Value x = node.getOperand(0);
  SmallVector<int64_t> given(getShape(x));
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  int64_t along = *axis;
  if (node.getVersion() < 13) {
    x = node.reshape(x, {product(ArrayRef(given).take_front(along)),
                         product(ArrayRef(given).drop_front(along))});
    along = 1;
  }
  if (getShape(x)[along] == 0)
    return x;
  Type type = getElement(x);
  Value index = node.create<nn::ArgMaxOp>(x, along, /*keepdims=*/true,
                                          /*select_last=*/false);
  Value places = makeSteps(node, getShape(x)[along], 1, along, getRank(x));
  Value isLargest = node.createElementwise("equal", {index, places});
  return node.reshape(
      node.createElementwise(
          "select", {isLargest, node.splat(1, type), node.splat(0, type)}),
      given);
}

} // namespace nnc::onnx
