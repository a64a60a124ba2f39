//===- Random.cpp - RandomNormal, RandomUniform, Multinomial --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A compiled model holds no state that its caller does not own, and gives the
// same outputs for the same inputs. Therefore its random numbers are constants
// that are drawn at compile time (frontends/common/RandomNumbers.h). Their key
// is the node's `seed` and the name of its result, so that two nodes draw
// different numbers. A model that needs new numbers in each run has to take
// them as an input.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/RandomNumbers.h"
#include "frontends/onnx/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns the key of the random numbers of a node.
static std::string getRandomKey(Node &node) {
  std::string key = node.getResultName(0);
  if (node.hasAttribute("seed")) {
    auto seed = static_cast<float>(node.getFloat("seed"));
    key.append(reinterpret_cast<const char *>(&seed), sizeof(seed));
  }
  return key;
}

/// Returns a constant of `shape` whose elements are the results of `draw`.
static Value makeRandom(Node &node, ArrayRef<int64_t> shape, Type element,
                        llvm::function_ref<double(RandomNumbers &)> draw) {
  if (!element || !isa<FloatType>(element))
    return node.unsupported("draws elements that are no floats");
  Type stored = element.isF64() ? element : node.getBuilder().getF32Type();
  auto type = RankedTensorType::get(shape, stored);
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  RandomNumbers generator(getRandomKey(node));
  SmallVector<double> values;
  SmallVector<float> floats;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (element.isF64())
      values.push_back(draw(generator));
    else
      floats.push_back(static_cast<float>(draw(generator)));
  DenseElementsAttr elements =
      element.isF64() ? DenseElementsAttr::get(type, ArrayRef<double>(values))
                      : DenseElementsAttr::get(type, ArrayRef<float>(floats));
  return node.castToModelType(node.constant(elements), element);
}

/// Returns the type that the node's dtype names, or else that of its operand.
static Type getType(Node &node) {
  if (!node.hasAttribute("dtype"))
    return node.getModelType(0);
  return getElementType(node.getBuilder().getContext(),
                        static_cast<int32_t>(node.getInt("dtype")));
}

static Value makeRandom(Node &node, ArrayRef<int64_t> shape, bool isNormal) {
  for (int64_t size : shape)
    if (size < 0 || size > kMaxDim)
      return node.broken("asks for shape " + toString(shape));
  double from = isNormal ? node.getFloat("mean") : node.getFloat("low"),
         scale =
             isNormal ? node.getFloat("scale") : node.getFloat("high") - from;
  return makeRandom(node, shape, getType(node), [&](RandomNumbers &generator) {
    return from + scale * (isNormal ? generator.drawNormal()
                                    : generator.drawUniform());
  });
}

Value convertRandomNormal(Node &node) {
  return makeRandom(node, *node.getInts("shape"), /*isNormal=*/true);
}
Value convertRandomUniform(Node &node) {
  return makeRandom(node, *node.getInts("shape"), /*isNormal=*/false);
}
Value convertRandomNormalLike(Node &node) {
  return makeRandom(node, getShape(node.getOperand(0)), /*isNormal=*/true);
}
Value convertRandomUniformLike(Node &node) {
  return makeRandom(node, getShape(node.getOperand(0)), /*isNormal=*/false);
}

/// Converts Multinomial: a sample is the number of classes whose cumulative
/// probability is at most a uniform number. The operand holds logarithms.
Value convertMultinomial(Node &node) {
  Value x = node.getOperand(0);
  int64_t count = node.getInt("sample_size", 1);
  if (getRank(x) != 2 || getShape(x)[1] < 1 || count < 1 || count > kMaxDim)
    return node.broken("draws " + Twine(count) +
                       " samples from logarithms of "
                       "shape " +
                       toString(getShape(x)));
  Type type = getElementType(node.getBuilder().getContext(),
                             static_cast<int32_t>(node.getInt("dtype", 6)));
  if (!type || !isa<IntegerType>(type))
    return node.unsupported("gives samples that are no integers");
  int64_t batch = getShape(x)[0], classes = getShape(x)[1];
  Value sums = node.create<nn::CumSumOp>(
      node.create<nn::SoftmaxOp>(x, int64_t(1), false), int64_t(1), false,
      false);
  Value drawn = makeRandom(
      node, {batch, count, 1}, getElement(x),
      [](RandomNumbers &generator) { return generator.drawUniform(); });
  Value isBelow = node.createElementwise(
      "less_equal", {node.reshape(sums, {batch, 1, classes}), drawn});
  Type wide = node.getBuilder().getI32Type();
  Value picked =
      node.create<nn::ReduceOp>(nn::ReduceKind::sum, node.castTo(isBelow, wide),
                                ArrayRef<int64_t>(2), false);
  // The cumulative probability of the last class may be slightly less than 1.
  picked = node.createElementwise(
      "min", {picked, node.splat(static_cast<double>(classes - 1), wide)});
  return node.castTo(picked, type);
}

} // namespace nnc::onnx
