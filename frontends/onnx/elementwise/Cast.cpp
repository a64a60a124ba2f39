//===- Cast.cpp - Numbers and bits as another type ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns the rounding mode from the attributes of a cast, or nullopt after an
/// error.
static std::optional<SmallRounding> getRounding(Node &node) {
  SmallRounding rounding;
  rounding.saturates = node.getInt("saturate", 1) != 0;
  StringRef mode = node.getString("round_mode");
  if (mode == "nearest")
    rounding.e8m0 = 0.5;
  else if (mode == "down")
    rounding.e8m0 = 0;
  else if (!mode.empty() && mode != "up") {
    node.broken("has the round_mode '" + mode +
                "'; ONNX knows 'up', 'down' and 'nearest'");
    return std::nullopt;
  }
  return rounding;
}

/// Returns operand 0 cast to `element`. A cast to the operand's own type needs
/// no rounding.
static Value castFrom(Node &node, Type element) {
  Value x = node.getOperand(0);
  Type own = node.getModelType(0);
  if (element == own)
    return node.asModelType(x, element);
  auto rounding = getRounding(node);
  if (!rounding)
    return {};
  return node.castToModelType(node.asNumbers(x, own), element, *rounding);
}

/// Returns ONNX's type that attribute `to` names.
static int32_t getTargetType(const Node &node) {
  const auto *to = node.find("to");
  // Opset 1 to 5 wrote the type's name.
  if (node.getOp() == "Cast" && node.getVersion() < 6)
    return parseDataType(to->s());
  return static_cast<int32_t>(to->i());
}

/// Returns the type that attribute `to` names, or null and a report.
static Type getTarget(Node &node) {
  int32_t dataType = getTargetType(node);
  Type element = getElementType(node.getBuilder().getContext(), dataType);
  if (!element)
    node.unsupported("casts to " + getDataTypeName(dataType) +
                     ", which nnc does not handle");
  return element;
}

Value convertCast(Node &node) {
  if (ArrayAttr texts = node.getTexts(0)) {
    if (getTargetType(node) != ::onnx::TensorProto::STRING)
      return node.unsupported("casts strings to numbers, which nnc does not "
                              "handle; export the model with integers");
    return node.asStrings(node.getOperand(0), texts);
  }
  Type element = getTarget(node);
  return element ? castFrom(node, element) : Value();
}

Value convertCastLike(Node &node) {
  return castFrom(node, node.getModelType(1));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Returns the format of `half`, a type of 16-bit floats, as a small float.
static NamedAttribute getHalfFormat(Builder &builder, Type half) {
  return builder.getNamedAttr(
      "format", builder.getStringAttr(half.isBF16() ? "e8m7" : "e5m10"));
}

/// Returns the bits of `x`, a carrier of values of type `element`, as integers.
static Value getBitsOf(Node &node, Value x, Type element) {
  Builder &builder = node.getBuilder();
  if (nn::isHalf(element))
    return node.castTo(
        node.createElementwise(
            "encode_float", x,
            {getHalfFormat(builder, element),
             builder.getNamedAttr("saturate", builder.getBoolAttr(false))}),
        builder.getIntegerType(16, /*isSigned=*/false));
  if (isa<FloatType>(element))
    return node.createElementwise("bit_cast", x);
  return element.isInteger(1)
             ? node.castTo(x, builder.getIntegerType(8, /*isSigned=*/false))
             : x;
}

/// Returns the carrier of values of type `element` that have the bits of the
/// integers `x`.
static Value makeOfBits(Node &node, Value x, Type element) {
  Builder &builder = node.getBuilder();
  if (nn::isHalf(element)) {
    x = node.castTo(x, builder.getIntegerType(16, /*isSigned=*/false));
    return node.createElementwise("decode_float",
                                  node.castTo(x, builder.getF32Type()),
                                  getHalfFormat(builder, element));
  }
  if (isa<FloatType>(element)) {
    x = node.castTo(x, builder.getIntegerType(getBits(element)));
    return node.createElementwise("bit_cast", x);
  }
  // The upper bits of a small float's code must be zero.
  x = node.castTo(x, getCarrier(element));
  if (getSmallFormat(element).empty() || getBits(element) == 8)
    return x;
  Value mask = node.splat((1 << getBits(element)) - 1, getElement(x));
  return node.createElementwise("bit_and", {x, mask});
}

/// Converts BitCast. Both element types must have the same number of bits; a
/// bool has 8. A signaling NaN of 16 bits becomes a quiet one when its carrier
/// is loaded.
Value convertBitCast(Node &node) {
  Type to = getTarget(node), from = node.getModelType(0);
  if (!to || !from)
    return {};
  auto countBits = [](Type type) {
    return type.isInteger(1) ? 8 : getBits(type);
  };
  if (countBits(to) != countBits(from))
    return node.broken("makes elements of " + Twine(countBits(to)) +
                       " bits of elements of " + Twine(countBits(from)) +
                       "; both types must be of one size");
  Value x = node.getOperand(0);
  if (to == from)
    return node.asModelType(x, to);
  x = getBitsOf(node, x, from);
  if (auto integer = dyn_cast<IntegerType>(to))
    return node.castToModelType(x, integer);
  return node.asModelType(makeOfBits(node, x, to), to);
}

} // namespace nnc::onnx
