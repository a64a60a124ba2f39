//===- CarrierTypes.cpp - Types narrower than what nnc computes with ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/CarrierTypes.h"

#include "dialects/nn/Nn.h"
#include "frontends/onnx/schema/Types.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

static bool isSmallInteger(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && (integer.getWidth() == 2 || integer.getWidth() == 4);
}

bool nnc::onnx::hasCarrier(Type element) {
  return nn::isHalf(element) || isSmallInteger(element) ||
         !getSmallFormat(element).empty() ||
         element == getStringType(element.getContext());
}

Type nnc::onnx::getCarrier(Type element) {
  if (nn::isHalf(element))
    return Float32Type::get(element.getContext());
  return getStoredType(element);
}

Type nnc::onnx::getStoredType(Type element) {
  if (element && element == getStringType(element.getContext()))
    return IntegerType::get(element.getContext(), 64);
  if (element && !getSmallFormat(element).empty())
    return IntegerType::get(element.getContext(), 8, IntegerType::Unsigned);
  if (!element || !isSmallInteger(element))
    return element;
  return IntegerType::get(element.getContext(), 8,
                          cast<IntegerType>(element).getSignedness());
}

std::string nnc::onnx::getPackedName(Type element) {
  if (!element)
    return "";
  StringRef format = getSmallFormat(element);
  if (format.empty() && !isSmallInteger(element))
    return "";
  StringRef kind = !format.empty()               ? "f"
                   : element.isUnsignedInteger() ? "u"
                                                 : "i";
  return (kind + Twine(getBits(element)) + format).str();
}

Value nnc::onnx::castFromCarrier(OpBuilder &builder, Value carrier,
                                 Type element) {
  if (!carrier)
    return {};
  auto type = cast<RankedTensorType>(carrier.getType());
  assert(type.getElementType() == getCarrier(element));
  return builder
      .create<UnrealizedConversionCastOp>(carrier.getLoc(), type.clone(element),
                                          carrier)
      .getResult(0);
}

Value nnc::onnx::getCarrier(Value value) {
  auto cast =
      value ? value.getDefiningOp<UnrealizedConversionCastOp>() : nullptr;
  return cast && isa<RankedTensorType>(value.getType()) ? cast.getOperand(0)
                                                        : value;
}

int64_t nnc::onnx::getPackedBytes(Type element, int64_t count) {
  unsigned bits = getBits(element);
  return bits == 1 ? count : llvm::divideCeil(count * bits, 8);
}

std::vector<char> nnc::onnx::unpackIntegers(unsigned bits, bool isUnsigned,
                                            ArrayRef<char> packed,
                                            int64_t count) {
  std::vector<char> elements(count);
  for (int64_t i = 0; i < count; ++i) {
    // Elements of 6 bits may begin in one byte and end in the next.
    int64_t byte = i * bits / 8;
    unsigned from = i * bits % 8, word = static_cast<uint8_t>(packed[byte]);
    if (from + bits > 8)
      word |= static_cast<uint8_t>(packed[byte + 1]) << 8;
    int value = word >> from & ((1 << bits) - 1);
    bool isNegative = !isUnsigned && value >> (bits - 1);
    elements[i] = static_cast<char>(isNegative ? value - (1 << bits) : value);
  }
  return elements;
}

AsmResourceBlob nnc::onnx::unpack(Type element, ArrayRef<char> packed,
                                  int64_t count) {
  if (!isa<FloatType>(element)) {
    auto integer = dyn_cast<IntegerType>(element);
    std::vector<char> elements = unpackIntegers(
        getBits(element), !integer || integer.isUnsigned(), packed, count);
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(elements, 1);
  }
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(count * sizeof(float), alignof(float));
  auto *to = reinterpret_cast<float *>(blob.getMutableData().data());
  const auto &semantics = cast<FloatType>(element).getFloatSemantics();
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, packed.data() + i * sizeof bits, sizeof bits);
    APFloat value(semantics, APInt(16, bits));
    bool isInexact;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &isInexact);
    to[i] = value.convertToFloat();
  }
  return blob;
}

void nnc::onnx::eraseCarrierCasts(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<UnrealizedConversionCastOp>(op) && op.use_empty())
      op.erase();
}
