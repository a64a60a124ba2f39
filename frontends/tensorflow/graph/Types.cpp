//===- Types.cpp - TensorFlow's element types and shapes ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Types.h"

#include "dialects/nn/Nn.h"
#include "frontends/common/Elements.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;
using namespace nnc::tensorflow;

namespace {
struct NamedType {
  pb::DataType type;
  const char *name;
};
} // namespace

static constexpr NamedType kTypes[] = {
    {pb::DT_FLOAT, "float32"},   {pb::DT_DOUBLE, "float64"},
    {pb::DT_INT32, "int32"},     {pb::DT_UINT8, "uint8"},
    {pb::DT_INT16, "int16"},     {pb::DT_INT8, "int8"},
    {pb::DT_STRING, "string"},   {pb::DT_COMPLEX64, "complex64"},
    {pb::DT_INT64, "int64"},     {pb::DT_BOOL, "bool"},
    {pb::DT_QINT8, "qint8"},     {pb::DT_QUINT8, "quint8"},
    {pb::DT_QINT32, "qint32"},   {pb::DT_BFLOAT16, "bfloat16"},
    {pb::DT_QINT16, "qint16"},   {pb::DT_QUINT16, "quint16"},
    {pb::DT_UINT16, "uint16"},   {pb::DT_COMPLEX128, "complex128"},
    {pb::DT_HALF, "float16"},    {pb::DT_RESOURCE, "resource"},
    {pb::DT_VARIANT, "variant"}, {pb::DT_UINT32, "uint32"},
    {pb::DT_UINT64, "uint64"},
};

Type nnc::tensorflow::getElementType(MLIRContext *context, pb::DataType type) {
  Builder builder(context);
  auto integer = [&](unsigned width, bool isSigned = true) -> Type {
    return IntegerType::get(context, width,
                            isSigned ? IntegerType::Signless
                                     : IntegerType::Unsigned);
  };
  switch (static_cast<int>(type)) {
  case pb::DT_FLOAT:
    return builder.getF32Type();
  case pb::DT_DOUBLE:
    return builder.getF64Type();
  case pb::DT_HALF:
    return builder.getF16Type();
  case pb::DT_BFLOAT16:
    return builder.getBF16Type();
  case pb::DT_BOOL:
    return integer(1);
  case pb::DT_INT8:
    return integer(8);
  case pb::DT_UINT8:
    return integer(8, false);
  case pb::DT_INT16:
    return integer(16);
  case pb::DT_UINT16:
    return integer(16, false);
  case pb::DT_INT32:
    return integer(32);
  case pb::DT_UINT32:
    return integer(32, false);
  case pb::DT_INT64:
    return integer(64);
  case pb::DT_UINT64:
    return integer(64, false);
  default:
    return {};
  }
}

Type nnc::tensorflow::getComputedType(Type stored) {
  return stored && nn::isHalf(stored) ? Float32Type::get(stored.getContext())
                                      : stored;
}

ElementsAttr nnc::tensorflow::makeComputed(RankedTensorType type,
                                           StringRef name,
                                           AsmResourceBlob blob) {
  Type stored = type.getElementType(), computed = getComputedType(stored);
  if (computed == stored)
    return makeElements(type, name, std::move(blob));
  return makeElements(type.clone(computed), name,
                      widenHalves(blob.getData(), stored.isBF16()));
}

std::string nnc::tensorflow::getTypeName(pb::DataType type) {
  for (const NamedType &each : kTypes)
    if (each.type == type)
      return each.name;
  return "number " + std::to_string(static_cast<int>(type));
}

std::string nnc::tensorflow::getTypeName(Type element) {
  for (const NamedType &each : kTypes)
    if (element && getElementType(element.getContext(), each.type) == element)
      return each.name;
  return "unknown";
}

std::optional<llvm::SmallVector<int64_t>>
nnc::tensorflow::readShape(const pb::TensorShapeProto &shape) {
  if (shape.unknown_rank())
    return std::nullopt;
  llvm::SmallVector<int64_t> sizes;
  for (const auto &dim : shape.dim())
    sizes.push_back(dim.size() < 0 ? -1 : dim.size());
  return sizes;
}
