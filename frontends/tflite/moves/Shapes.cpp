//===- Shapes.cpp - Reshapes, and shapes as values ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns `x` if the result has the same quantization as the operator's first
/// input, otherwise null after an error. TFLite requires this of operators that
/// only move elements.
Value keepScale(Layer &layer, Value x) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!in || !out ||
      (in.scales == out.scales && in.zeroPoints == out.zeroPoints))
    return x;
  return layer.unsupported("has an input and a result with different scales or "
                           "zero points, which TFLite does not define");
}

/// Returns the sizes of the result that the model states.
static Sizes getDeclaredShape(Layer &layer) {
  const fb::Tensor *tensor = layer.getOutputTensor();
  return tensor ? Sizes(getList(tensor->shape())) : Sizes();
}

Value convertReshape(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  Sizes shape;
  if (layer.hasInput(1)) {
    auto given = layer.readInts(layer.getInput(1), "sizes");
    if (!given)
      return {};
    shape = *given;
  } else if (layer.getOutputTensor()) {
    // Old models have the shape in their options, where it is equal to the
    // result's shape.
    shape = getDeclaredShape(layer);
  }
  int64_t known = 1, *open = nullptr;
  for (int64_t &size : shape) {
    if (size >= 0)
      known *= size;
    else if (size != -1 || open)
      return layer.broken("has a shape of " + toString(shape));
    else
      open = &size;
  }
  if (open)
    *open = known ? getNumElements(x) / known : 0;
  if (product(shape) != getNumElements(x))
    return layer.broken("reshapes a tensor of shape " + toString(getShape(x)) +
                        " to " + toString(shape));
  return keepScale(layer, layer.reshape(x, shape));
}

/// Converts DENSIFY to its operand, because the import of constants has
/// expanded sparse weights (Sparse.h).
Value convertDensify(Layer &layer) {
  return keepScale(layer, layer.getInput(0));
}

Value convertSqueeze(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::SqueezeOptions>(fb::Options::Squeeze);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  Sizes axes(getList(options->squeeze_dims()));
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  Sizes shape;
  for (auto [i, size] : llvm::enumerate(getShape(x))) {
    bool isNamed = axes.empty() ? size == 1 : llvm::is_contained(axes, i);
    if (isNamed && size != 1)
      return layer.broken("squeezes axis " + Twine(i) + " of shape " +
                          toString(getShape(x)));
    if (!isNamed)
      shape.push_back(size);
  }
  return layer.reshape(x, shape);
}

Value convertExpandDims(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x) + 1) : std::nullopt;
  if (!axis)
    return {};
  Sizes shape(getShape(x));
  shape.insert(shape.begin() + *axis, 1);
  return layer.reshape(x, shape);
}

Value convertTranspose(Layer &layer) {
  Value x = layer.getInput(0);
  auto order = layer.readInts(layer.getInput(1), "an order of axes");
  if (!order || !x || !layer.normalizeAxes(*order, getRank(x)))
    return {};
  if (int64_t(order->size()) != getRank(x))
    return layer.broken("has an order of " + Twine(order->size()) +
                        " axes for " + Twine(getRank(x)));
  return keepScale(layer, layer.transpose(x, *order));
}

Value convertShape(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  return layer.castTo(layer.constant(getShape(x)), layer.getOutputElement());
}

Value convertRank(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(double(getRank(x)), layer.getOutputElement())
           : Value();
}

Value convertZerosLike(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(0.0, getElement(x), getShape(x)) : Value();
}

} // namespace nnc::tflite
