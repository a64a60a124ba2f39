//===- Types.cpp - Element types of PyTorch -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Types.h"

#include "dialects/nn/layouts/Layout.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

/// The numbers and names of dtypes in programs.
static constexpr std::pair<int64_t, StringLiteral> kNames[] = {
    {1, "uint8"},
    {2, "int8"},
    {3, "int16"},
    {4, "int32"},
    {5, "int64"},
    {6, "float16"},
    {7, "float32"},
    {8, "float64"},
    {9, "complex32"},
    {10, "complex64"},
    {11, "complex128"},
    {12, "bool"},
    {13, "bfloat16"},
    {28, "uint16"},
    {29, "float8_e4m3fn"},
    {30, "float8_e5m2"},
    {31, "float8_e4m3fnuz"},
    {32, "float8_e5m2fnuz"},
    {33, "float8_e8m0fnu"},
    {34, "uint32"},
    {35, "uint64"}};

Type nnc::torch::getStoredType(MLIRContext *context, int64_t dtype) {
  Builder builder(context);
  switch (dtype) {
  case 1:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case 2:
    return builder.getI8Type();
  case 3:
    return builder.getI16Type();
  case 4:
    return builder.getI32Type();
  case 5:
    return builder.getI64Type();
  case 6:
    return builder.getF16Type();
  case 7:
    return builder.getF32Type();
  case 8:
    return builder.getF64Type();
  case 12:
    return builder.getI1Type();
  case 13:
    return builder.getBF16Type();
  case 28:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case 34:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case 35:
    return builder.getIntegerType(64, /*isSigned=*/false);
  default:
    return {};
  }
}

Type nnc::torch::getComputedType(Type stored) {
  return stored && nn::isHalf(stored)
             ? Builder(stored.getContext()).getF32Type()
             : stored;
}

std::string nnc::torch::getTypeName(int64_t dtype) {
  for (const auto &[number, name] : kNames)
    if (number == dtype)
      return ("torch." + name).str();
  return "number " + std::to_string(dtype);
}

std::string nnc::torch::getTypeName(Type element) {
  for (const auto &[number, name] : kNames)
    if (element && getStoredType(element.getContext(), number) == element)
      return getTypeName(number);
  return "unknown";
}

NumberKind nnc::torch::getNumberKind(Type element) {
  if (isa<FloatType>(element))
    return NumberKind::real;
  return element.isInteger(1) ? NumberKind::boolean : NumberKind::integer;
}

Type nnc::torch::promote(Type a, Type b) {
  NumberKind kindA = getNumberKind(a), kindB = getNumberKind(b);
  if (kindA != kindB)
    return kindA > kindB ? a : b;
  unsigned widthA = a.getIntOrFloatBitWidth(),
           widthB = b.getIntOrFloatBitWidth();
  if (a == b || kindA != NumberKind::integer)
    return widthA >= widthB ? a : b;
  bool isUnsignedA = a.isUnsignedInteger(), isUnsignedB = b.isUnsignedInteger();
  if (isUnsignedA == isUnsignedB)
    return widthA >= widthB ? a : b;
  // A signed type that holds both.
  unsigned wide =
      isUnsignedA ? std::max(2 * widthA, widthB) : std::max(2 * widthB, widthA);
  return IntegerType::get(a.getContext(), std::min(wide, 64U));
}

Type nnc::torch::getDefaultType(MLIRContext *context, NumberKind kind) {
  Builder builder(context);
  return kind == NumberKind::real      ? Type(builder.getF32Type())
         : kind == NumberKind::integer ? Type(builder.getI64Type())
                                       : Type(builder.getI1Type());
}
