//===- Types.cpp - Element types, literals and shapes in C ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/description/Description.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace nnc;

/// Returns the name, which tells signedness and bits: f32, i8, u64, bool.
std::string codegen::getTypeName(Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return "bool";
  if (element.isBF16())
    return "bf16";
  if (isa<FloatType>(element))
    return "f" + std::to_string(bits);
  return (element.isUnsignedInteger() ? "u" : "i") + std::to_string(bits);
}

namespace {
struct TypeNames {
  StringLiteral name, c, cpp;
};
} // namespace

static constexpr TypeNames kTypes[] = {
    {"bf16", "uint16_t", "nnc::bf16"}, {"bool", "unsigned char", "bool"},
    {"f16", "uint16_t", "nnc::f16"},   {"f32", "float", "float"},
    {"f64", "double", "double"},       {"i16", "int16_t", "int16_t"},
    {"i32", "int32_t", "int32_t"},     {"i64", "int64_t", "int64_t"},
    {"i8", "int8_t", "int8_t"},        {"u16", "uint16_t", "uint16_t"},
    {"u32", "uint32_t", "uint32_t"},   {"u64", "uint64_t", "uint64_t"},
    {"u8", "uint8_t", "uint8_t"},
};

static const TypeNames &getNames(Type element) {
  std::string name = codegen::getTypeName(element);
  for (const TypeNames &row : kTypes)
    if (row.name == name)
      return row;
  llvm_unreachable("an element type without a type in C");
}

StringRef codegen::getCppType(Type element) { return getNames(element).cpp; }
StringRef codegen::getCType(Type element) { return getNames(element).c; }

std::string codegen::getLiteral(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    // A decimal literal has a signed type, and a minus sign before it is an
    // operator. The least value of i64 and the upper half of u64 therefore
    // cannot be written as plain decimal literals.
    const APInt &number = integer.getValue();
    bool isUnsigned = integer.getType().isUnsignedInteger();
    if (!isUnsigned && number.getBitWidth() == 64 && number.isMinSignedValue())
      return "-" + std::to_string(std::numeric_limits<int64_t>::max()) + " - 1";
    SmallString<24> digits;
    number.toString(digits, 10, !isUnsigned);
    if (isUnsigned && number.getBitWidth() == 64 && number.isNegative())
      digits += "u";
    return digits.str().str();
  }
  APFloat number = cast<FloatAttr>(value).getValue();
  bool isDouble = cast<FloatAttr>(value).getType().isF64();
  if (number.isNaN())
    return isDouble ? "__builtin_nan(\"\")" : "__builtin_nanf(\"\")";
  if (number.isInfinity())
    return std::string(number.isNegative() ? "-" : "") +
           (isDouble ? "__builtin_inf()" : "__builtin_inff()");
  // Prints as many digits as are needed to read back the same value, in any
  // locale.
  SmallString<24> digits;
  number.toString(digits, /*FormatPrecision=*/0, /*FormatMaxPadding=*/4);
  std::string text = digits.str().str();
  if (text.find_first_of(".E") == std::string::npos)
    text += ".0";
  return isDouble ? text : text + "f";
}

std::string codegen::getDims(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t dim : shape)
    text += "[" + std::to_string(dim) + "]";
  return text.empty() ? "[1]" : text;
}

std::string codegen::describe(RankedTensorType type) {
  std::string text = getDims(nn::getNamedShape(type));
  if (nn::getLayout(type))
    text += " " + nn::getLayoutName(type);
  return text;
}
