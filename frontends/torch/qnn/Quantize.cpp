//===- Quantize.cpp - Operators of quantized programs ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The flow "PT2E" of PyTorch and torchao leaves operators of the namespace
// quantized_decomposed around those of floats. They become quantized types, of
// which the compiler makes layers of 8-bit integers, as it does for ONNX.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include "dialects/qnn/Qnn.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// The most scales that a quantized type has: those of the channels of a
/// vocabulary.
static constexpr int64_t kMostScales = int64_t(1) << 18;

/// Returns the scales and zero points as numbers; empty after an error. They
/// are arguments that are numbers or constants.
static SmallVector<double> readScales(Node &node) {
  SmallVector<double> scales;
  bool isList = node.has("scales");
  StringRef name = isList ? "scales" : "scale";
  Node::Operand given = node.getOperand(name);
  if (given.number) {
    scales.push_back(node.getFloat(name));
  } else if (given.tensor && isa<FloatType>(getElement(given.tensor))) {
    auto known = readElements(given.tensor, kMostScales);
    if (known)
      scales.assign(known->reals.begin(), known->reals.end());
    else
      node.needsKnown(given.tensor,
                      "at most " + Twine(kMostScales) + " scales");
  } else if (auto known = node.readReals(given.tensor, "scales")) {
    scales = *known;
  }
  for (double &scale : scales) {
    // Scales are f32 where they are used.
    scale = static_cast<double>(static_cast<float>(scale));
    if (std::isfinite(scale) && scale > 0)
      continue;
    node.unsupported("has a scale of " + frontends::toString(scale) +
                     "; nnc handles numbers above 0");
    return {};
  }
  return scales;
}

static std::optional<SmallVector<int64_t>> readZeroPoints(Node &node,
                                                          size_t count) {
  StringRef name = node.has("zero_points") ? "zero_points" : "zero_point";
  if (!node.has(name))
    return SmallVector<int64_t>(count, 0);
  Node::Operand given = node.getOperand(name);
  if (given.number)
    return SmallVector<int64_t>(count, node.getInt(name));
  Value tensor = given.tensor;
  if (tensor && isa<FloatType>(getElement(tensor)))
    tensor = node.castTo(tensor, node.getBuilder().getI64Type());
  auto known = tensor ? readElements(tensor, kMostScales) : std::nullopt;
  if (known && !known->isReal())
    return known->ints;
  return node.readInts(tensor, "zero points");
}

/// Returns the quantized type of tensors of shape `shape` with the scales, zero
/// points and range of the node, which are stored as `storage`; null after an
/// error.
static RankedTensorType getType(Node &node, ArrayRef<int64_t> shape,
                                Type storage) {
  auto integer = dyn_cast_or_null<IntegerType>(storage);
  if (!integer || integer.getWidth() < 8 || integer.getWidth() > 32) {
    node.unsupported("has quantized elements of type " + getTypeName(storage) +
                     "; nnc handles integers of 8 to 32 bits");
    return {};
  }
  SmallVector<double> scales = readScales(node);
  if (scales.empty())
    return {};
  auto zeroPoints = readZeroPoints(node, scales.size());
  if (!zeroPoints)
    return {};
  int64_t axis = 0;
  if (node.has("axis")) {
    auto given = node.normalizeAxis(node.getInt("axis"), shape.size());
    if (!given)
      return {};
    axis = *given;
  }
  if (zeroPoints->size() != scales.size() ||
      (scales.size() > 1 &&
       (shape.empty() || shape[axis] != int64_t(scales.size())))) {
    node.broken("has " + Twine(scales.size()) + " scales and " +
                Twine(zeroPoints->size()) + " zero points");
    return {};
  }
  qnn::Parameters parameters = qnn::getParameters(
      qnn::makeType(shape, integer, scales, *zeroPoints, axis));
  int64_t low = node.getInt("quant_min", parameters.min),
          high = node.getInt("quant_max", parameters.max);
  if (low >= high || low < parameters.min || high > parameters.max) {
    node.broken("has the range " + Twine(low) + " to " + Twine(high) +
                ", which its type does not hold");
    return {};
  }
  for (int64_t zeroPoint : *zeroPoints)
    if (zeroPoint < parameters.min || zeroPoint > parameters.max) {
      node.unsupported("has a zero point of " + Twine(zeroPoint) +
                       ", which its type does not hold");
      return {};
    }
  parameters.min = low;
  parameters.max = high;
  return qnn::makeType(shape, integer, parameters);
}

/// Converts quantize_per_tensor and quantize_per_channel.
Value convertQuantize(Node &node) {
  Value x = node.getTensor("input");
  Type storage = node.getDtype("dtype");
  if (!x)
    return {};
  RankedTensorType type = getType(node, getShape(x), storage);
  if (!type)
    return {};
  Value y = node.createAs<qnn::QuantizeOp>(
      type, qnn::Rounding::half_even,
      node.castTo(x, node.getBuilder().getF32Type()));
  return y ? node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), y)
           : y;
}

/// Converts dequantize_per_tensor and dequantize_per_channel.
Value convertDequantize(Node &node) {
  Value x = node.getTensor("input");
  if (!x)
    return {};
  RankedTensorType type = getType(node, getShape(x), getElement(x));
  if (!type)
    return {};
  Value quantized = node.createAs<qnn::ReinterpretOp>(type, x);
  Type real = node.getBuilder().getF32Type();
  return quantized ? node.createAs<qnn::DequantizeOp>(
                         RankedTensorType::get(getShape(x), real), quantized)
                   : quantized;
}

} // namespace nnc::torch
