//===- Builtin.cpp - C functions of nnc for operators ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/options/Builtin.h"

#include "dialects/nn/custom/Custom.h"
#include "runtime/nnc_boxes.h"
#include "runtime/nnc_detection.h"
#include "runtime/nnc_signal_fft_f32.h"
#include "runtime/nnc_signal_fft_i16.h"
#include "runtime/nnc_signal_fft_i32.h"
#include "runtime/nnc_signal_frames.h"
#include "runtime/nnc_signal_spectrum.h"

#include <cstring>
#include <deque>

using namespace mlir;
using namespace nnc;

/// The functions, by name.
static constexpr std::pair<llvm::StringLiteral, nnc_function *> kFunctions[] = {
#define NNC_BUILTIN(name) {#name, name},
#include "compiler/tools/driver/options/builtins.inc"
};

bool tools::isBuiltinHeader(llvm::StringRef name) {
  return name == "nnc_boxes.h" || name == "nnc_detection.h" ||
         (name.starts_with("nnc_signal") && name.ends_with(".h"));
}

static nnc_function *findFunction(nn::CustomOp custom) {
  for (const auto &[name, function] : kFunctions)
    if (name == custom.getFunction())
      return function;
  return nullptr;
}

bool tools::isBuiltin(nn::CustomOp custom) {
  return isBuiltinHeader(custom.getHeader()) && findFunction(custom);
}

static enum nnc_type getTypeNumber(Type type) {
  if (type.isF32())
    return NNC_TYPE_F32;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return NNC_TYPE_BOOL;
  case 8:
    return isUnsigned ? NNC_TYPE_U8 : NNC_TYPE_I8;
  case 16:
    return isUnsigned ? NNC_TYPE_U16 : NNC_TYPE_I16;
  case 32:
    return isUnsigned ? NNC_TYPE_U32 : NNC_TYPE_I32;
  default:
    return isUnsigned ? NNC_TYPE_U64 : NNC_TYPE_I64;
  }
}

namespace {
/// The descriptions of tensors that a function gets, and the memory they point
/// to.
struct Descriptions {
  std::deque<SmallVector<int32_t>> dims;

  std::vector<nnc_tensor_info> describe(ArrayAttr tensors) {
    std::vector<nnc_tensor_info> infos;
    for (auto tensor : tensors.getAsRange<nn::DescribedAttr>()) {
      RankedTensorType type = tensor.getType();
      auto &own =
          dims.emplace_back(type.getShape().begin(), type.getShape().end());
      infos.push_back(
          {getTypeNumber(type.getElementType()), int(type.getRank()),
           own.data(), int32_t(type.getNumElements()),
           int(tensor.getScales().size()),
           tensor.getScales().asArrayRef().data(),
           tensor.getZeroPoints().asArrayRef().data(), int(tensor.getAxis())});
    }
    return infos;
  }
};
} // namespace

TensorData tools::evaluateBuiltin(nn::CustomOp custom,
                                  ArrayRef<TensorData> operands) {
  Descriptions descriptions;
  std::vector<nnc_tensor_info> reads = descriptions.describe(custom.getReads());
  std::vector<nnc_tensor_info> writes =
      descriptions.describe(custom.getWrites());
  std::vector<nnc_attribute> attributes;
  for (NamedAttribute attribute : custom.getModelAttributes()) {
    const char *name = attribute.getName().data();
    if (auto ints = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      attributes.push_back(
          {name, int(ints.size()), ints.asArrayRef().data(), nullptr, nullptr});
    else if (auto reals = dyn_cast<DenseF32ArrayAttr>(attribute.getValue()))
      attributes.push_back({name, int(reals.size()), nullptr,
                            reals.asArrayRef().data(), nullptr});
  }
  // The memory is an array of floats so that it is aligned.
  std::vector<float> scratch(custom.getScratch() / sizeof(float) + 1);
  nnc_operator op = {
      int(reads.size()),      reads.data(),      int(writes.size()),
      writes.data(),          nullptr,           0,
      int(attributes.size()), attributes.data(), custom.getScratch()};
  TensorData result = TensorData::allocate(custom.getY().getType());
  // All bytes are cleared, so that those between results are equal in each run.
  std::memset(result.getMutableBytes(), 0, result.getBytes().size());
  SmallVector<const void *> inputs;
  for (const TensorData &operand : operands)
    inputs.push_back(operand.getBytes().data());
  SmallVector<void *> outputs;
  SmallVector<int64_t> offsets = nn::getOffsets(custom.getWrites());
  for (int64_t offset : ArrayRef(offsets).drop_back())
    outputs.push_back(result.getMutableBytes() + offset);
  findFunction(custom)(&op, inputs.data(), outputs.data(), scratch.data());
  return result;
}
