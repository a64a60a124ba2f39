//===- TensorData.cpp - Elements of a tensor inside the compiler ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/TensorData.h"

#include "dialects/nn/tensors/Resource.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace nnc;

/// The largest number of elements of a constant whose elements are printed in
/// the IR.
static constexpr int64_t kInlineElements = 16;

/// The alignment of owned memory in bytes, enough for any vector.
static constexpr size_t kAlignment = 64;

TensorData TensorData::allocate(RankedTensorType type) {
  TensorData data;
  data.type = nn::getLogicalType(type);
  size_t size = nn::getPhysicalBytes(data.type);
  size_t room = std::max(llvm::alignTo(size, kAlignment), kAlignment);
  void *memory = std::aligned_alloc(kAlignment, room);
  if (!memory)
    llvm::report_bad_alloc_error("no memory for a tensor");
  data.owner = std::shared_ptr<char>(static_cast<char *>(memory), std::free);
  data.bytes = {data.owner.get(), size};
  return data;
}

TensorData TensorData::borrow(RankedTensorType type, ArrayRef<char> bytes) {
  TensorData data;
  data.type = nn::getLogicalType(type);
  data.bytes = bytes;
  return data;
}

/// Calls `visit` with a value of the C++ type that holds elements of `type`.
/// Returns false if there is no such type (f16, bf16).
template <class F> static bool visitElement(Type type, F visit) {
  if (type.isF32())
    return visit(float()), true;
  if (type.isF64())
    return visit(double()), true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return visit(bool()), true;
  case 8:
    return isUnsigned ? visit(uint8_t()) : visit(int8_t()), true;
  case 16:
    return isUnsigned ? visit(uint16_t()) : visit(int16_t()), true;
  case 32:
    return isUnsigned ? visit(uint32_t()) : visit(int32_t()), true;
  case 64:
    return isUnsigned ? visit(uint64_t()) : visit(int64_t()), true;
  default:
    return false;
  }
}

TensorData TensorData::splat(RankedTensorType type, double value) {
  TensorData data = allocate(type);
  bool known = visitElement(type.getElementType(), [&](auto element) {
    using T = decltype(element);
    std::fill_n(data.getMutable<T>(), data.getNumElements(),
                static_cast<T>(value));
  });
  (void)known;
  assert(known && "no C++ type for the element type");
  return data;
}

double TensorData::getReal(int64_t index) const {
  double value = 0;
  if (visitElement(getElementType(), [&](auto element) {
        value = static_cast<double>(getAs<decltype(element)>()[index]);
      }))
    return value;
  // 16-bit floats are converted by LLVM's APFloat.
  auto bits = getAs<uint16_t>()[index];
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementType()).getFloatSemantics();
  llvm::APFloat real(semantics, llvm::APInt(16, bits));
  bool lost;
  real.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
               &lost);
  return real.convertToDouble();
}

std::optional<TensorData> TensorData::get(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getShapedType());
  if (!type)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) !=
                     nn::getPhysicalBytes(nn::getLogicalType(type)))
      return std::nullopt;
    return borrow(type, blob->getData());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return std::nullopt;
  // Splats are stored once and i1 as bits, so that both need memory of their
  // own.
  bool isBool = type.getElementType().isInteger(1);
  if (!dense.isSplat() && !isBool)
    return borrow(type, dense.getRawData());
  TensorData data = allocate(type);
  int64_t size = nn::getElementBytes(type.getElementType());
  if (isBool)
    for (auto [i, value] : llvm::enumerate(dense.getValues<bool>()))
      data.getMutableBytes()[i] = value;
  else
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      std::memcpy(data.getMutableBytes() + i * size, dense.getRawData().data(),
                  size);
  return data;
}

std::optional<TensorData> TensorData::get(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  return constant ? get(constant.getValue()) : std::nullopt;
}

TensorData TensorData::withType(RankedTensorType other) const {
  TensorData data = *this;
  data.type = nn::getLogicalType(other);
  assert(nn::getPhysicalBytes(data.type) == static_cast<int64_t>(bytes.size()));
  return data;
}

ElementsAttr TensorData::toAttribute(StringRef name) const {
  if (getNumElements() <= kInlineElements) {
    if (!getElementType().isInteger(1))
      return DenseElementsAttr::getFromRawBuffer(type, bytes);
    return DenseElementsAttr::get(type, getAs<bool>());
  }
  // Whether a constant has a single value shall not depend on its size: passes
  // write such a value into expressions.
  const size_t size = nn::getElementBytes(getElementType());
  if (bytes.drop_front(size) == bytes.drop_back(size)) {
    if (!getElementType().isInteger(1))
      return DenseElementsAttr::getFromRawBuffer(type, bytes.take_front(size));
    return DenseElementsAttr::get(type, getAs<bool>().take_front());
  }
  // The deleter's copy of `owner` keeps the memory alive.
  AsmResourceBlob blob(
      bytes, kAlignment, [owner = owner](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
  return nn::createResource(type, name, std::move(blob));
}
