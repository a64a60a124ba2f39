//===- Attention.cpp - Interleaved products of attention ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// GluonNLP's transformers keep queries, keys and values of all heads in one
// tensor: steps x batch x (heads * parts * units), where the parts of a head
// follow each other.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/matrix/Matrix.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns part `part` of `parts` parts of each head, (batch * heads) x steps x
/// units; null after an error.
static Value takePart(Layer &layer, Value x, int64_t part, int64_t parts) {
  int64_t heads = layer.getInt("heads", 0);
  if (getRank(x) != 3 || heads < 1 || heads > INT32_MAX ||
      getShape(x)[2] % (heads * parts) != 0)
    return layer.broken("has " + Twine(heads) +
                        " heads for an input of shape " +
                        toString(getShape(x)));
  int64_t steps = getShape(x)[0], batch = getShape(x)[1],
          units = getShape(x)[2] / heads / parts;
  x = layer.reshape(x, {steps, batch, heads, parts, units});
  x = layer.slice(x, 3, part, 1);
  x = layer.reshape(x, {steps, batch, heads, units});
  x = layer.transpose(x, {1, 2, 0, 3});
  return layer.reshape(x, {batch * heads, steps, units});
}

/// Returns the products of queries and keys, divided by the root of the number
/// of units.
static Value score(Layer &layer, Value queries, Value keys) {
  if (!queries || !keys)
    return {};
  double scale = 1 / std::sqrt(double(getShape(queries)[2]));
  queries = layer.mul(queries, layer.scalar(scale, queries));
  return multiply(layer, queries, keys, false, true);
}

/// Returns the sums of values by their weights, steps x batch x (heads *
/// units).
static Value sumValues(Layer &layer, Value weights, Value values) {
  int64_t heads = layer.getInt("heads", 0);
  Value y = multiply(layer, weights, values);
  if (!y || getRank(y) != 3)
    return {};
  int64_t batch = getShape(y)[0] / heads, steps = getShape(y)[1],
          units = getShape(y)[2];
  y = layer.reshape(y, {batch, heads, steps, units});
  y = layer.transpose(y, {2, 0, 1, 3});
  return layer.reshape(y, {steps, batch, heads * units});
}

Value convertSelfAttentionScores(Layer &layer) {
  Value x = layer.getInput(0);
  return score(layer, takePart(layer, x, 0, 3), takePart(layer, x, 1, 3));
}

Value convertSelfAttentionValues(Layer &layer) {
  return sumValues(layer, layer.getInput(1),
                   takePart(layer, layer.getInput(0), 2, 3));
}

Value convertCrossAttentionScores(Layer &layer) {
  return score(layer, takePart(layer, layer.getInput(0), 0, 1),
               takePart(layer, layer.getInput(1), 0, 2));
}

Value convertCrossAttentionValues(Layer &layer) {
  return sumValues(layer, layer.getInput(1),
                   takePart(layer, layer.getInput(0), 1, 2));
}

/// Converts _contrib_div_sqrt_dim: x divided by the root of the size of its
/// last axis.
Value convertDivSqrtDim(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) == 0)
    return layer.broken("needs an input with axes");
  return layer.createElementwise(
      "div", {x, layer.scalar(std::sqrt(double(getShape(x).back())), x)});
}

} // namespace nnc::mxnet
