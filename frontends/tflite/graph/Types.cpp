//===- Types.cpp - TFLite's element types and quantization ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/graph/Types.h"

#include "frontends/common/Limits.h"
#include "frontends/tflite/file/Load.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc::tflite;

Type nnc::tflite::getElementType(MLIRContext *context, fb::TensorType type) {
  Builder builder(context);
  auto integer = [&](unsigned width, bool isSigned = true) -> Type {
    return IntegerType::get(context, width,
                            isSigned ? IntegerType::Signless
                                     : IntegerType::Unsigned);
  };
  switch (type) {
  case fb::TensorType::FLOAT32:
    return builder.getF32Type();
  case fb::TensorType::FLOAT16:
    return builder.getF16Type();
  case fb::TensorType::BFLOAT16:
    return builder.getBF16Type();
  case fb::TensorType::FLOAT64:
    return builder.getF64Type();
  case fb::TensorType::BOOL:
    return integer(1);
  case fb::TensorType::INT2:
    return integer(2);
  case fb::TensorType::INT4:
    return integer(4);
  case fb::TensorType::UINT4:
    return integer(4, false);
  case fb::TensorType::INT8:
    return integer(8);
  case fb::TensorType::UINT8:
    return integer(8, false);
  case fb::TensorType::INT16:
    return integer(16);
  case fb::TensorType::UINT16:
    return integer(16, false);
  case fb::TensorType::INT32:
    return integer(32);
  case fb::TensorType::UINT32:
    return integer(32, false);
  case fb::TensorType::INT64:
    return integer(64);
  case fb::TensorType::UINT64:
    return integer(64, false);
  default:
    return {};
  }
}

bool nnc::tflite::isPacked(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return width > 1 && width < 8;
}

std::string nnc::tflite::getTypeName(fb::TensorType type) {
  const char *name = fb::EnumNameTensorType(type);
  return *name ? name : "number " + std::to_string(static_cast<int>(type));
}

std::string nnc::tflite::getTypeName(Type element) {
  for (fb::TensorType type : fb::EnumValuesTensorType())
    if (getElementType(element.getContext(), type) == element)
      return getTypeName(type);
  return "unknown";
}

/// Returns true if a zero point is in the range of the tensor's type, or of i32
/// if that type is wider or not an integer type.
static bool isInRange(int64_t zeroPoint, fb::TensorType type) {
  switch (type) {
  case fb::TensorType::INT8:
    return llvm::isInt<8>(zeroPoint);
  case fb::TensorType::UINT8:
    return llvm::isUInt<8>(zeroPoint);
  case fb::TensorType::INT16:
    return llvm::isInt<16>(zeroPoint);
  case fb::TensorType::UINT16:
    return llvm::isUInt<16>(zeroPoint);
  default:
    return llvm::isInt<32>(zeroPoint);
  }
}

std::string nnc::tflite::readQuantization(const fb::Tensor &tensor,
                                          Quantization &result) {
  const fb::Quantization *stated = tensor.quantization();
  ArrayRef<float> scales =
      stated ? getList(stated->scale()) : ArrayRef<float>();
  if (scales.empty())
    return "";
  ArrayRef<int64_t> zeroPoints = getList(stated->zero_point());
  if (!zeroPoints.empty() && zeroPoints.size() != scales.size() &&
      zeroPoints.size() != 1)
    return "has " + std::to_string(scales.size()) + " scales and " +
           std::to_string(zeroPoints.size()) + " zero points";
  for (float scale : scales)
    if (!(scale > 0) || !std::isfinite(scale))
      return "has a scale of " + toString(double(scale)) +
             "; needs finite scales above 0";
  for (int64_t zeroPoint : zeroPoints)
    if (!isInRange(zeroPoint, tensor.type()))
      return "has a zero point of " + std::to_string(zeroPoint) +
             ", which is no number of type " + getTypeName(tensor.type());
  result.scales.assign(scales.begin(), scales.end());
  result.zeroPoints.assign(scales.size(), 0);
  for (size_t i = 0; i < scales.size() && !zeroPoints.empty(); ++i)
    result.zeroPoints[i] = zeroPoints[zeroPoints.size() == 1 ? 0 : i];
  if (scales.size() == 1)
    return "";
  ArrayRef<int32_t> shape = getList(tensor.shape());
  int64_t axis = stated->axis();
  if (axis < 0 || axis >= int64_t(shape.size()) ||
      shape[axis] != int64_t(scales.size()))
    return "has " + std::to_string(scales.size()) + " scales along axis " +
           std::to_string(axis) + " of shape " +
           toString(SmallVector<int64_t>(shape.begin(), shape.end()));
  result.axis = axis;
  return "";
}
