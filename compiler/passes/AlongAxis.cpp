//===- AlongAxis.cpp - Ops that treat an axis element by element ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/AlongAxis.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using namespace nnc;

RankedTensorType nnc::getRankedType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

RankedTensorType nnc::withSize(RankedTensorType type, int64_t axis,
                               int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

bool nnc::hasScalesAlong(RankedTensorType type, int64_t axis) {
  auto quantized =
      dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  return quantized && quantized.getQuantizedDimension() == axis;
}

bool nnc::isElementwise(Operation *op) {
  return isa<nn::ElementwiseOpInterface, qnn::QuantizeOp, qnn::DequantizeOp,
             qnn::RequantizeOp, qnn::ReinterpretOp>(op);
}

int64_t nnc::getBroadcastAxis(Operation *op, unsigned operand, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  return type
             ? axis - getRankedType(op->getResult(0)).getRank() + type.getRank()
             : -1;
}

std::optional<AxisWindows> nnc::getWindows(Operation *op, int64_t axis) {
  if (axis < 2)
    return std::nullopt;
  int64_t i = axis - 2, kernel = 0;
  if (isa<nn::ConvOp, qnn::ConvOp>(op))
    kernel = getRankedType(op->getOperand(1)).getDimSize(axis);
  else if (isa<nn::MaxPoolOp, nn::AvgPoolOp>(op))
    kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel")[i];
  else
    return std::nullopt;
  auto strides = op->getAttrOfType<DenseI64ArrayAttr>("strides");
  auto dilations = op->getAttrOfType<DenseI64ArrayAttr>("dilations");
  auto pads = op->getAttrOfType<DenseI64ArrayAttr>("pads");
  return AxisWindows{kernel, strides[i], dilations[i], pads[i],
                     pads[i + strides.size()]};
}

/// Returns the axis of `to`, a reshaped `from`, that corresponds to `axis` of
/// `from`: it has the same size, and the axes before it have as many elements.
/// Returns -1 if there is none.
static int64_t findAxis(RankedTensorType from, RankedTensorType to,
                        int64_t axis) {
  int64_t before = ShapedType::getNumElements(from.getShape().take_front(axis));
  for (int64_t i = 0, product = 1; i < to.getRank(); ++i) {
    if (product == before && to.getDimSize(i) == from.getDimSize(axis))
      return i;
    product *= to.getDimSize(i);
  }
  return -1;
}

int64_t nnc::followAxis(Operation *op, int64_t axis) {
  RankedTensorType x = getRankedType(op->getOperand(0));
  if (auto transpose = dyn_cast<nn::TransposeOp>(op))
    return llvm::find(transpose.getPermutation(), axis) -
           transpose.getPermutation().begin();
  if (isa<nn::ReshapeOp>(op))
    return findAxis(x, getRankedType(op->getResult(0)), axis);
  if (auto softmax = dyn_cast<nn::SoftmaxOp>(op))
    return int64_t(softmax.getAxis()) == axis ? -1 : axis;
  if (isa<nn::IntegerSoftmaxOp>(op))
    return axis == x.getRank() - 1 ? -1 : axis;
  if (auto norm = dyn_cast<nn::LayerNormOp>(op))
    return axis < int64_t(norm.getAxis()) ? axis : -1;
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    if (llvm::is_contained(reduce.getAxes(), axis))
      return -1;
    return reduce.getKeepdims()
               ? axis
               : axis - llvm::count_if(reduce.getAxes(),
                                       [&](int64_t a) { return a < axis; });
  }
  if (auto pad = dyn_cast<nn::PadOp>(op))
    return pad.getPads()[axis] || pad.getPads()[axis + x.getRank()] ? -1 : axis;
  if (isa<nn::MatMulOp, qnn::MatMulOp>(op)) {
    auto matmul = dyn_cast<nn::MatMulOp>(op);
    RankedTensorType b = getRankedType(op->getOperand(1));
    bool isRow = axis == x.getRank() - 2, isBatch = axis < x.getRank() - 2;
    if ((matmul && matmul.getTransposeA()) || !(isRow || isBatch) ||
        b.getRank() != 2)
      return -1;
    return axis;
  }
  return -1;
}

bool nnc::takesAll(Operation *op, int64_t axis) {
  auto slice = dyn_cast<nn::SliceOp>(op);
  return slice && slice.getStarts()[axis] == 0 && slice.getSteps()[axis] == 1 &&
         slice.getSizes()[axis] ==
             getRankedType(slice.getOperand()).getDimSize(axis);
}
