//===- Elements.cpp - Constants of a model --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Elements.h"

#include "dialects/nn/tensors/Resource.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

//===----------------------------------------------------------------------===//
// Attributes over bytes
//===----------------------------------------------------------------------===//

/// Replaces all bytes other than 0 by 1, because a C++ bool is 0 or 1.
static AsmResourceBlob normalizeBools(AsmResourceBlob blob) {
  ArrayRef<char> bytes = blob.getData();
  if (llvm::all_of(bytes, [](char byte) { return byte == 0 || byte == 1; }))
    return blob;
  AsmResourceBlob copy =
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 1);
  for (char &byte : copy.getMutableData())
    byte = byte != 0;
  return copy;
}

ElementsAttr nnc::frontends::makeElements(RankedTensorType type, StringRef name,
                                          AsmResourceBlob blob) {
  bool isBool = type.getElementType().isInteger(1);
  if (isBool)
    blob = normalizeBools(std::move(blob));
  ArrayRef<char> bytes = blob.getData();
  if (type.getNumElements() > kMaxInlineElements)
    return nn::createResource(type, name, std::move(blob));
  if (!isBool)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> bools(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, bools);
}

AsmResourceBlob nnc::frontends::widenHalves(ArrayRef<char> halves,
                                            bool isBrain) {
  size_t count = halves.size() / 2;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(4 * count, 4);
  const llvm::fltSemantics &narrow =
      isBrain ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, halves.data() + 2 * i, 2);
    float value;
    if (isBrain) {
      uint32_t wide = uint32_t(bits) << 16;
      std::memcpy(&value, &wide, 4);
    } else {
      value = llvm::APFloat(narrow, llvm::APInt(16, bits)).convertToFloat();
    }
    std::memcpy(blob.getMutableData().data() + 4 * i, &value, 4);
  }
  return blob;
}

//===----------------------------------------------------------------------===//
// Between attributes and numbers
//===----------------------------------------------------------------------===//

/// Calls `function` with a value of the C++ type that holds `element` in
/// memory. Returns false if `Elements` cannot hold the type.
template <class Function>
static bool dispatch(Type element, Function function) {
  if (element.isF32())
    return function(float()), true;
  if (element.isF64())
    return function(double()), true;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return false;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return function(uint8_t()), true;
  case 8:
    return isUnsigned ? function(uint8_t()) : function(int8_t()), true;
  case 16:
    return isUnsigned ? function(uint16_t()) : function(int16_t()), true;
  case 32:
    return isUnsigned ? function(uint32_t()) : function(int32_t()), true;
  case 64:
    // Half of the values of an unsigned 64-bit type do not fit in an int64_t.
    return isUnsigned ? false : (function(int64_t()), true);
  default:
    return false;
  }
}

bool nnc::frontends::isReadable(Type element) {
  return dispatch(element, [](auto) {});
}

static bool isSmall(RankedTensorType type, int64_t most) {
  return type.getNumElements() <= most && isReadable(type.getElementType());
}

std::optional<Elements> nnc::frontends::readElements(const TensorData &data,
                                                     int64_t most) {
  RankedTensorType type = data.getType();
  if (!isSmall(type, most))
    return std::nullopt;
  Elements result{type, {}, {}};
  dispatch(type.getElementType(), [&](auto like) {
    // Blobs need not be aligned.
    using T = decltype(like);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      T value;
      std::memcpy(&value, data.getBytes().data() + i * sizeof(T), sizeof(T));
      if (result.isReal())
        result.reals.push_back(value);
      else
        result.ints.push_back(value);
    }
  });
  return result;
}

std::optional<Elements> nnc::frontends::readElements(ElementsAttr attribute,
                                                     int64_t most) {
  auto type = dyn_cast<RankedTensorType>(attribute.getShapedType());
  if (!type || !isSmall(type, most))
    return std::nullopt;
  std::optional<TensorData> data = TensorData::get(attribute);
  return data ? readElements(*data, most) : std::nullopt;
}

std::optional<Elements> nnc::frontends::readElements(Value value,
                                                     int64_t most) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  return constant ? readElements(constant.getValue(), most) : std::nullopt;
}

ElementsAttr nnc::frontends::makeAttribute(const Elements &elements) {
  ElementsAttr result;
  dispatch(elements.type.getElementType(), [&](auto like) {
    using T = decltype(like);
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
        elements.type.getNumElements() * sizeof(T), alignof(T));
    auto *to = reinterpret_cast<T *>(blob.getMutableData().data());
    for (int64_t i = 0; i < elements.type.getNumElements(); ++i)
      to[i] = elements.isReal() ? static_cast<T>(elements.reals[i])
                                : static_cast<T>(elements.ints[i]);
    result = makeElements(elements.type, "folded", std::move(blob));
  });
  return result;
}
