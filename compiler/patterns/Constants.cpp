//===- Constants.cpp - Reading and making constants in rewrites -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;

/// The largest number of elements of a constant that rewrites examine. The
/// constants of interest are scalars and values per channel.
static constexpr int64_t kMostElements = 1 << 16;

static std::optional<TensorData> getSmall(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getNumElements() > kMostElements ||
      type.getNumElements() == 0)
    return std::nullopt;
  return TensorData::get(value);
}

bool nnc::isReal(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type &&
         (type.getElementType().isF32() || type.getElementType().isF64());
}

std::optional<double> nnc::getUniformValue(Value value) {
  // Large repetitions of one number are not folded.
  while (isa_and_nonnull<nn::ExpandOp, nn::ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  // A constant of one value, of any size, is stored as a single element.
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  std::optional<TensorData> data;
  if (dense && dense.isSplat() && dense.getNumElements() > 0)
    data = TensorData::get(
        dense.resizeSplat(RankedTensorType::get(1, dense.getElementType())));
  else
    data = getSmall(value);
  if (!data)
    return std::nullopt;
  double first = data->getReal(0);
  for (int64_t i = 1; i < data->getNumElements(); ++i)
    if (data->getReal(i) != first)
      return std::nullopt;
  return first;
}

std::optional<double> nnc::getUniformReal(Value value) {
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return std::nullopt;
  return getUniformValue(value);
}

std::optional<int64_t> nnc::getVaryingAxis(Value value, RankedTensorType type) {
  auto own = cast<RankedTensorType>(value.getType());
  int64_t lead = type.getRank() - own.getRank(), varying = -1;
  if (lead < 0)
    return std::nullopt;
  for (int64_t axis = 0; axis < own.getRank(); ++axis) {
    if (own.getDimSize(axis) == 1)
      continue;
    if (varying >= 0 || own.getDimSize(axis) != type.getDimSize(lead + axis))
      return std::nullopt;
    varying = lead + axis;
  }
  return varying;
}

std::optional<SmallVector<double>>
nnc::getChannelValues(Value value, RankedTensorType type, int64_t axis) {
  if (std::optional<double> uniform = getUniformReal(value))
    if (cast<RankedTensorType>(value.getType()).getRank() <= type.getRank())
      return SmallVector<double>{*uniform};
  if (!isa<FloatType>(type.getElementType()) || !value.getDefiningOp() ||
      getVaryingAxis(value, type) != axis)
    return std::nullopt;
  std::optional<TensorData> data = getSmall(value);
  if (!data)
    return std::nullopt;
  SmallVector<double> values;
  for (int64_t i = 0; i < data->getNumElements(); ++i)
    values.push_back(data->getReal(i));
  return values;
}

Value nnc::createConstant(OpBuilder &builder, Location location,
                          const TensorData &data, StringRef name) {
  return builder.create<nn::ConstantOp>(location, data.toAttribute(name));
}

Value nnc::createChannelConstant(OpBuilder &builder, Location location,
                                 RankedTensorType type, int64_t axis,
                                 ArrayRef<double> values) {
  SmallVector<int64_t> shape;
  if (values.size() != 1 && axis == type.getRank() - 1) {
    shape.push_back(values.size());
  } else if (values.size() != 1) {
    shape.assign(type.getRank(), 1);
    shape[axis] = values.size();
  }
  Type element = type.getElementType();
  auto data = TensorData::allocate(RankedTensorType::get(shape, element));
  for (auto [i, value] : llvm::enumerate(values)) {
    if (element.isF32())
      data.getMutable<float>()[i] = static_cast<float>(value);
    else
      data.getMutable<double>()[i] = value;
  }
  return createConstant(builder, location, data,
                        nn::getModelName(location, "folded"));
}
