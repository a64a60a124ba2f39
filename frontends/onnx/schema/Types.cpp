//===- Types.cpp - ONNX's element types -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/schema/Types.h"

#include "mlir/IR/Builders.h"
#include "onnx/onnx_pb.h"

using namespace mlir;
using ::onnx::TensorProto;

namespace {
struct ElementKind {
  int32_t dataType;
  const char *name; ///< name in ONNX
  /// The width in bits, negative for floating point; 0 if nnc has no such type.
  int bits;
  IntegerType::SignednessSemantics signedness = IntegerType::Signless;
  const char *format = ""; ///< format of small floats, otherwise empty
};

constexpr ElementKind makeSmallFloat(int32_t dataType, const char *name,
                                     int bits, const char *format) {
  return {dataType, name, -bits, IntegerType::Signless, format};
}
} // namespace

static constexpr ElementKind kKinds[] = {
    {TensorProto::FLOAT, "float", -32},
    {TensorProto::DOUBLE, "double", -64},
    {TensorProto::FLOAT16, "float16", -16},
    {TensorProto::BOOL, "bool", 1},
    {TensorProto::INT8, "int8", 8},
    {TensorProto::INT16, "int16", 16},
    {TensorProto::INT32, "int32", 32},
    {TensorProto::INT64, "int64", 64},
    {TensorProto::INT2, "int2", 2},
    {TensorProto::INT4, "int4", 4},
    {TensorProto::UINT2, "uint2", 2, IntegerType::Unsigned},
    {TensorProto::UINT4, "uint4", 4, IntegerType::Unsigned},
    {TensorProto::UINT8, "uint8", 8, IntegerType::Unsigned},
    {TensorProto::UINT16, "uint16", 16, IntegerType::Unsigned},
    {TensorProto::UINT32, "uint32", 32, IntegerType::Unsigned},
    {TensorProto::UINT64, "uint64", 64, IntegerType::Unsigned},
    {TensorProto::BFLOAT16, "bfloat16", -16},
    makeSmallFloat(TensorProto::FLOAT8E4M3FN, "float8e4m3fn", 8, "e4m3fn"),
    makeSmallFloat(TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8,
                   "e4m3fnuz"),
    makeSmallFloat(TensorProto::FLOAT8E5M2, "float8e5m2", 8, "e5m2"),
    makeSmallFloat(TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8,
                   "e5m2fnuz"),
    makeSmallFloat(TensorProto::FLOAT8E8M0, "float8e8m0", 8, "e8m0"),
    makeSmallFloat(TensorProto::FLOAT6E2M3, "float6e2m3", 6, "e2m3"),
    makeSmallFloat(TensorProto::FLOAT6E3M2, "float6e3m2", 6, "e3m2"),
    makeSmallFloat(TensorProto::FLOAT4E2M1, "float4e2m1", 4, "e2m1"),
    {TensorProto::COMPLEX64, "complex64", 0},
    {TensorProto::COMPLEX128, "complex128", 0},
    {TensorProto::STRING, "string", 0},
};

static Type makeType(MLIRContext *context, const ElementKind &kind) {
  Builder builder(context);
  if (*kind.format)
    return OpaqueType::get(builder.getStringAttr("onnx"), kind.name);
  switch (kind.bits) {
  case 0:
    return {};
  case -16:
    return kind.dataType == TensorProto::BFLOAT16 ? Type(builder.getBF16Type())
                                                  : builder.getF16Type();
  case -32:
    return builder.getF32Type();
  case -64:
    return builder.getF64Type();
  default:
    return IntegerType::get(context, kind.bits, kind.signedness);
  }
}

Type nnc::onnx::getElementType(MLIRContext *context, int32_t dataType) {
  for (const ElementKind &kind : kKinds)
    if (kind.dataType == dataType)
      return makeType(context, kind);
  return {};
}

/// Returns the line of the table for a small float, or null.
static const ElementKind *findSmallFloat(Type element) {
  auto opaque = dyn_cast_or_null<OpaqueType>(element);
  for (const ElementKind &kind : kKinds)
    if (opaque && *kind.format && opaque.getTypeData() == kind.name)
      return &kind;
  return nullptr;
}

StringRef nnc::onnx::getSmallFormat(Type element) {
  const ElementKind *kind = findSmallFloat(element);
  return kind ? kind->format : "";
}

unsigned nnc::onnx::getBits(Type element) {
  const ElementKind *kind = findSmallFloat(element);
  return kind ? -kind->bits : element.getIntOrFloatBitWidth();
}

Type nnc::onnx::getStringType(MLIRContext *context) {
  return IndexType::get(context);
}

int32_t nnc::onnx::getDataType(Type element) {
  if (element == getStringType(element.getContext()))
    return TensorProto::STRING;
  for (const ElementKind &kind : kKinds)
    if (makeType(element.getContext(), kind) == element)
      return kind.dataType;
  return TensorProto::UNDEFINED;
}

std::string nnc::onnx::getDataTypeName(int32_t dataType) {
  for (const ElementKind &kind : kKinds)
    if (kind.dataType == dataType)
      return kind.name;
  if (TensorProto::DataType_IsValid(dataType))
    return StringRef(TensorProto::DataType_Name(
                         static_cast<TensorProto::DataType>(dataType)))
        .lower();
  return "type " + std::to_string(dataType);
}

int32_t nnc::onnx::parseDataType(StringRef name) {
  TensorProto::DataType type = TensorProto::UNDEFINED;
  TensorProto::DataType_Parse(name.str(), &type);
  return type;
}
