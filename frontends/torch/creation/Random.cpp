//===- Random.cpp - Random numbers ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A module gives the same outputs for the same inputs, so that these operators
// take numbers that are drawn at compile time
// (frontends/common/RandomNumbers.h). Their key is the name of the operator's
// result.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/common/RandomNumbers.h"
#include "frontends/torch/graph/Node.h"
#include "frontends/torch/moves/Moves.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

using Draw = llvm::function_ref<double(RandomNumbers &)>;

/// Returns a constant of `shape` and of the float type `element`, of numbers
/// that `draw` draws for the node; null after an error.
static Value drawNumbers(Node &node, ArrayRef<int64_t> shape, Type element,
                         Draw draw) {
  if (!element || !isa<FloatType>(element))
    return node.unsupported("draws elements that are no floats");
  auto type = RankedTensorType::get(shape, element);
  ArrayRef<StringRef> names = node.getResultNames();
  if (names.empty() || !node.checkSize(type, /*isMade=*/true))
    return {};
  RandomNumbers numbers(names[0]);
  SmallVector<double> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(draw(numbers));
  return makeReals(node, shape, element, values);
}

/// Returns random numbers of the shape and the type that the program states for
/// the node's result.
static Value drawResult(Node &node, Draw draw) {
  auto shape = node.getStatedShape(0);
  if (!shape)
    return node.unsupported("draws numbers for a shape that depends on data");
  return drawNumbers(node, *shape, getComputedType(node.getStatedType()), draw);
}

static double drawEven(RandomNumbers &numbers) { return numbers.drawUniform(); }

/// Returns a number of the exponential distribution of mean 1.
static double drawWaiting(RandomNumbers &numbers) {
  return -std::log(1 - numbers.drawUniform());
}

/// Converts rand, rand_like and uniform.
Value convertRandomUniform(Node &node) {
  double from = node.getFloat("from", 0), to = node.getFloat("to", 1);
  return drawResult(node, [&](RandomNumbers &numbers) {
    return from + (to - from) * numbers.drawUniform();
  });
}

/// Converts randn, randn_like and normal, whose mean and standard deviation may
/// be tensors.
Value convertRandomNormal(Node &node) {
  Value y = drawResult(
      node, [](RandomNumbers &numbers) { return numbers.drawNormal(); });
  for (auto [name, op] : {std::pair("std", "mul"), std::pair("mean", "add")})
    if (y && node.has(name))
      y = node.createElementwise(
          op, {y, node.castTo(node.getOperand(name), getElement(y))});
  return y;
}

Value convertRandomExponential(Node &node) {
  double rate = node.getFloat("lambd", 1);
  return drawResult(node, [&](RandomNumbers &numbers) {
    return drawWaiting(numbers) / rate;
  });
}

/// Converts randint and randint_like: integers from `low` to `high` - 1.
Value convertRandomIntegers(Node &node) {
  auto shape = node.getStatedShape(0);
  Type element = getComputedType(node.getStatedType());
  int64_t low = node.getInt("low", 0), high = node.getInt("high");
  if (!shape || !element || low >= high)
    return node.unsupported("draws integers from " + Twine(low) + " to " +
                            Twine(high) +
                            " for a shape or type that nnc does "
                            "not know");
  auto first = static_cast<double>(low), end = static_cast<double>(high);
  Value y = drawNumbers(node, *shape, node.getBuilder().getF64Type(),
                        [&](RandomNumbers &numbers) {
                          return std::floor(first + (end - first) *
                                                        numbers.drawUniform());
                        });
  return node.castTo(y, element);
}

/// Converts randperm, by the shuffle of Fisher and Yates.
Value convertRandomPermutation(Node &node) {
  int64_t count = node.getInt("n");
  Type element = getComputedType(node.getStatedType());
  auto type = RankedTensorType::get({std::max<int64_t>(count, 0)},
                                    node.getBuilder().getI64Type());
  if (count < 0)
    return node.broken("permutes " + Twine(count) + " numbers");
  if (!element || node.hasFailed() || node.getResultNames().empty() ||
      !node.checkSize(type, /*isMade=*/true))
    return {};
  SmallVector<int64_t> order = iota(count);
  RandomNumbers numbers(node.getResultNames()[0]);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<size_t>(numbers.drawUniform() *
                                                  static_cast<double>(i + 1))]);
  return node.castTo(node.constant(order), element);
}

/// Converts bernoulli: ones with the probability that `p` or the operand says.
Value convertBernoulli(Node &node) {
  Value x = node.getTensor("self");
  Type element = getComputedType(node.getStatedType());
  if (!x || !element)
    return {};
  Type real = node.getBuilder().getF32Type();
  Value probability = node.has("p") ? node.castTo(node.getOperand("p"), real)
                                    : node.castTo(x, real);
  Value drawn = drawNumbers(node, getShape(x), real, drawEven);
  return node.castTo(node.createElementwise("less", {drawn, probability}),
                     element);
}

/// Converts multinomial: numbers of classes that are drawn in proportion to the
/// operand's rows.
Value convertMultinomial(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  int64_t count = node.getInt("num_samples");
  if (!x)
    return {};
  int64_t rank = getRank(x);
  if (rank < 1 || rank > 2 || count < 1 || getShape(x).back() < 1)
    return node.broken("draws " + Twine(count) + " samples from shape " +
                       toString(getShape(x)));
  int64_t classes = getShape(x).back();
  if (count == 1 || !node.getBool("replacement")) {
    // The classes whose waiting times end first.
    Value times = drawNumbers(node, getShape(x), getElement(x), drawWaiting);
    if (count > classes)
      return node.broken("draws " + Twine(count) + " of " + Twine(classes) +
                         " classes without replacement");
    return node.create<nn::TopKOp>(node.createElementwise("div", {x, times}),
                                   rank - 1, count,
                                   /*largest=*/true);
  }
  // The number of classes whose probabilities add up to at most a number.
  Value sums = node.create<nn::CumSumOp>(x, rank - 1, false, false);
  SmallVector<int64_t> shape(getShape(x)), wide(shape), many(shape);
  wide.insert(wide.end() - 1, 1);
  many.back() = count;
  many.push_back(1);
  Value drawn = drawNumbers(node, many, getElement(x), drawEven);
  sums = node.reshape(sums, wide);
  if (!sums || !drawn)
    return {};
  Value all = node.slice(sums, rank, classes - 1, 1);
  Value isBelow = node.createElementwise(
      "less_equal", {sums, node.createElementwise("mul", {drawn, all})});
  Type integer = node.getBuilder().getI64Type();
  Value picked = node.create<nn::ReduceOp>(
      nn::ReduceKind::sum, node.castTo(isBelow, integer),
      ArrayRef<int64_t>(rank), /*keepdims=*/false);
  return node.createBinary("min", picked, static_cast<double>(classes - 1));
}

} // namespace nnc::torch
