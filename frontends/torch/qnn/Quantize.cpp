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

//===----------------------------------------------------------------------===//
// Scales that the network computes
//===----------------------------------------------------------------------===//

namespace {
/// A scale, its reciprocal and a zero point that the network computes, as
/// scalars of f32. PyTorch computes the reciprocal in f64.
struct DynamicScale {
  Value scale, inverse, zeroPoint;
};
} // namespace

/// Returns the scale and the zero point of a node whose scale is a tensor that
/// is not known when compiling; nullopt for other nodes.
static std::optional<DynamicScale> getDynamicScale(Node &node) {
  if (!node.getOp().starts_with("quantized_decomposed.quantize_per_tensor") &&
      !node.getOp().starts_with("quantized_decomposed.dequantize_per_tensor"))
    return std::nullopt;
  Node::Operand scale = node.getOperand("scale"),
                zeroPoint = node.getOperand("zero_point");
  if (!scale.tensor || !zeroPoint.tensor || readElements(scale.tensor) ||
      getNumElements(scale.tensor) != 1 ||
      getNumElements(zeroPoint.tensor) != 1)
    return std::nullopt;
  Type real = node.getBuilder().getF32Type();
  Value inverse = node.createElementwise(
      "reciprocal",
      {node.castTo(scale.tensor, node.getBuilder().getF64Type())});
  auto toScalar = [&](Value x) {
    return node.reshape(node.castTo(x, real), {});
  };
  return DynamicScale{toScalar(scale.tensor), toScalar(inverse),
                      toScalar(zeroPoint.tensor)};
}

/// Returns the elements of the argument `input`, quantized to the range of the
/// node and stored as `storage`.
static Value quantizeDynamically(Node &node, const DynamicScale &given,
                                 Type storage) {
  Value x =
      node.castTo(node.getTensor("input"), node.getBuilder().getF32Type());
  Value steps = node.createElementwise(
      "round", {node.createElementwise("mul", {x, given.inverse})});
  Value y = node.createElementwise("add", {steps, given.zeroPoint});
  y = node.createBinary(
      "min",
      node.createBinary("max", y,
                        static_cast<double>(node.getInt("quant_min"))),
      static_cast<double>(node.getInt("quant_max")));
  return y && storage ? node.castTo(y, storage) : Value();
}

/// Converts choose_qparams and choose_qparams_symmetric: the scale and the zero
/// point that let the range of a type hold all elements of a tensor.
Value convertChooseScale(Node &node) {
  Type real = node.getBuilder().getF32Type();
  Value x = node.castTo(node.getTensor("input"), real);
  auto low = static_cast<double>(node.getInt("quant_min")),
       high = static_cast<double>(node.getInt("quant_max"));
  bool isSymmetric = node.getOp().contains("symmetric");
  if (!x || !(low < high))
    return x ? node.broken("has an empty range") : x;
  auto getEnd = [&](nn::ReduceKind kind, StringRef op) {
    return node.createBinary(
        op,
        node.create<nn::ReduceOp>(kind, x, ArrayRef<int64_t>(iota(getRank(x))),
                                  /*keepdims=*/false),
        0);
  };
  Value least = getEnd(nn::ReduceKind::min, "min"),
        most = getEnd(nn::ReduceKind::max, "max");
  if (isSymmetric)
    most = node.createElementwise(
        "max", {node.createElementwise("neg", {least}), most});
  Value range =
      isSymmetric ? most : node.createElementwise("sub", {most, least});
  Value scale = node.createBinary(
      "max",
      node.createBinary("div", range,
                        isSymmetric ? (high - low) / 2 : high - low),
      node.getFloat("eps"));
  Value zeroPoint;
  if (isSymmetric) {
    bool isUnsigned = low >= 0;
    zeroPoint = node.splat(isUnsigned ? 128 : 0, real);
  } else if (scale) {
    Value steps = node.createElementwise(
        "round", {node.createElementwise("div", {least, scale})});
    zeroPoint = node.createElementwise("sub", {node.splat(low, real), steps});
    zeroPoint = node.createBinary(
        "min", node.createBinary("max", zeroPoint, low), high);
  }
  auto finish = [&](Value value, Type element) {
    return value ? node.reshape(node.castTo(value, element), {1}) : Value();
  };
  node.setResult(1, finish(zeroPoint, node.getBuilder().getI64Type()));
  return finish(scale, node.getBuilder().getF64Type());
}

//===----------------------------------------------------------------------===//
// Quantized types
//===----------------------------------------------------------------------===//

/// Returns an input of the program, quantized to the one scale of `type`. It is
/// multiplied by the reciprocal of the scale, as PyTorch does: the quotient of
/// a number halfway between two integers may round to the other one.
static Value quantizeInput(Node &node, Value x, RankedTensorType type) {
  qnn::Parameters parameters = qnn::getParameters(type);
  // A scale that is a number of the program is a double there.
  double scale = node.getOperand("scale").number ? node.getFloat("scale")
                                                 : parameters.scales[0];
  auto inverse = static_cast<float>(1 / scale);
  parameters.scales[0] = 1;
  auto integer = cast<IntegerType>(qnn::getStorageType(type).getElementType());
  Value steps = node.createBinary("mul", x, static_cast<double>(inverse));
  Value y = steps ? node.createAs<qnn::QuantizeOp>(
                        qnn::makeType(type.getShape(), integer, parameters),
                        qnn::Rounding::half_even, steps)
                  : steps;
  return y ? node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), y)
           : y;
}

/// Converts quantize_per_tensor and quantize_per_channel.
Value convertQuantize(Node &node) {
  Value x = node.getTensor("input");
  Type storage = node.getDtype("dtype");
  if (!x)
    return {};
  if (auto given = getDynamicScale(node))
    return quantizeDynamically(node, *given, storage);
  RankedTensorType type = getType(node, getShape(x), storage);
  if (!type)
    return {};
  x = node.castTo(x, node.getBuilder().getF32Type());
  if (isa_and_present<BlockArgument>(x) &&
      qnn::getParameters(type).scales.size() == 1)
    return quantizeInput(node, x, type);
  Value y = node.createAs<qnn::QuantizeOp>(type, qnn::Rounding::half_even, x);
  return y ? node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), y)
           : y;
}

/// Converts dequantize_per_tensor and dequantize_per_channel.
Value convertDequantize(Node &node) {
  Value x = node.getTensor("input");
  if (!x)
    return {};
  if (auto given = getDynamicScale(node))
    return node.createElementwise(
        "mul", {node.createElementwise(
                    "sub", {node.castTo(x, node.getBuilder().getF32Type()),
                            given->zeroPoint}),
                given->scale});
  RankedTensorType type = getType(node, getShape(x), getElement(x));
  if (!type)
    return {};
  Value quantized = node.createAs<qnn::ReinterpretOp>(type, x);
  Type real = node.getBuilder().getF32Type();
  return quantized ? node.createAs<qnn::DequantizeOp>(
                         RankedTensorType::get(getShape(x), real), quantized)
                   : quantized;
}

/// Converts the operators fake_quantize_*, which quantize and dequantize.
Value convertFakeQuantize(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  if (auto enabled = node.getOptionalTensor("fake_quant_enabled")) {
    auto known = node.readInts(enabled, "whether it quantizes");
    if (!known || known->empty())
      return {};
    if (known->front() == 0)
      return x;
  }
  int64_t low = node.getInt("quant_min"), high = node.getInt("quant_max");
  unsigned width = low >= -128 && high <= 255 && high - low <= 255 ? 8
                   : low >= -32768 && high <= 65535                ? 16
                                                                   : 32;
  if (low < 0 && high > (int64_t(1) << (width - 1)) - 1)
    return node.unsupported("has the range " + Twine(low) + " to " +
                            Twine(high) +
                            "; nnc handles those of integers of 8 to 32 bits");
  RankedTensorType type =
      getType(node, getShape(x),
              IntegerType::get(node.getBuilder().getContext(), width,
                               low < 0 ? IntegerType::Signless
                                       : IntegerType::Unsigned));
  if (!type)
    return {};
  Type real = node.getBuilder().getF32Type();
  Value y = node.createAs<qnn::QuantizeOp>(type, qnn::Rounding::half_even,
                                           node.castTo(x, real));
  return y ? node.castTo(node.createAs<qnn::DequantizeOp>(
                             RankedTensorType::get(getShape(x), real), y),
                         getElement(x))
           : y;
}

} // namespace nnc::torch
