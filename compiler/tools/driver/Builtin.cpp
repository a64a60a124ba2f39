//===- Builtin.cpp - C functions of nnc's own for operators ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Builtin.h"

#include "dialects/nn/Custom.h"
#include "runtime/nnc_detection.h"

#include <cstring>
#include <deque>

using namespace mlir;
using namespace nnc;

bool tools::isBuiltin(nn::CustomOp custom) {
  return custom.getHeader() == "nnc_detection.h";
}

static enum nnc_type getTypeNumber(Type type) {
  if (type.isF32())
    return NNC_TYPE_F32;
  return type.isUnsignedInteger() ? NNC_TYPE_U8 : NNC_TYPE_I8;
}

namespace {
/// The descriptions that a function is given.
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
  auto ints = custom.getModelAttributes().getAs<DenseI64ArrayAttr>("ints");
  auto reals = custom.getModelAttributes().getAs<DenseF32ArrayAttr>("reals");
  nnc_attribute attributes[] = {
      {"ints", int(ints.size()), ints.asArrayRef().data(), nullptr, nullptr},
      {"reals", int(reals.size()), nullptr, reals.asArrayRef().data(),
       nullptr}};
  // The memory consists of floats, so that it is aligned.
  std::vector<float> scratch(custom.getScratch() / sizeof(float) + 1);
  nnc_operator op = {int(reads.size()),
                     reads.data(),
                     int(writes.size()),
                     writes.data(),
                     nullptr,
                     0,
                     2,
                     attributes,
                     custom.getScratch()};
  TensorData result = TensorData::allocate(custom.getY().getType());
  // Bytes between results are the same each time.
  std::memset(result.getMutableBytes(), 0, result.getBytes().size());
  SmallVector<const void *> inputs;
  for (const TensorData &operand : operands)
    inputs.push_back(operand.getBytes().data());
  SmallVector<void *> outputs;
  SmallVector<int64_t> offsets = nn::getOffsets(custom.getWrites());
  for (int64_t offset : ArrayRef(offsets).drop_back())
    outputs.push_back(result.getMutableBytes() + offset);
  nnc_detection_postprocess(&op, inputs.data(), outputs.data(), scratch.data());
  return result;
}
