//===- FusedConv.cpp - Several convolutions or products as one op ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.separable_conv
//===----------------------------------------------------------------------===//

LogicalResult SeparableConvOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   w = getTensorType(adaptor.getW()),
                   bias = getTensorType(adaptor.getBias()),
                   v = getTensorType(adaptor.getV());
  SmallVector<int64_t> shape;
  if (failed(inferConv(location, x, w, adaptor.getStrides(),
                       adaptor.getDilations(), adaptor.getPads(),
                       x.getRank() < 2 ? 1 : x.getDimSize(1), shape)))
    return failure();
  SmallVector<int64_t> channels(x.getRank(), 1), filters = channels;
  channels[1] = filters[1] = x.getDimSize(1);
  filters[0] = v.getRank() ? v.getDimSize(0) : 1;
  if (w.getDimSize(0) != channels[1] || bias.getShape() != ArrayRef(channels) ||
      v.getShape() != ArrayRef(filters))
    return emitOptionalError(
        location, "needs one filter and one bias for each of ", channels[1],
        " channels, and then filters of one pixel of them all; has ", w, ", ",
        bias, " and ", v);
  shape[1] = filters[0];
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

bool SeparableConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> SeparableConvOp::getChannelAxis() { return 1; }

/// Adds the fields of the activation between the two parts of a layer.
template <class Op> static void addActivation(ShapeFields &fields, Op op) {
  fields.add("activation", static_cast<int64_t>(op.getActivation()));
  fields.addReal("low", op.getLow().convertToDouble());
  fields.addReal("high", op.getHigh().convertToDouble());
}

AxisUse SeparableConvOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> SeparableConvOp::getRoutineCalls() {
  ShapeFields fields = getConvFields(*this);
  addActivation(fields, *this);
  return {{"separable_conv2d", fields.get(), {0, 1, 2, 3}}};
}

Work SeparableConvOp::getWork() {
  RankedTensorType w = getW().getType(), y = getY().getType();
  Work work = bytesOnly(*this);
  int64_t pixels = y.getNumElements() / y.getDimSize(1);
  work.multiplyAdds =
      pixels * (w.getNumElements() + getV().getType().getNumElements());
  work.operations = 2 * pixels * w.getDimSize(0);
  return work;
}

//===----------------------------------------------------------------------===//
// nn.expanded_conv
//===----------------------------------------------------------------------===//

LogicalResult ExpandedConvOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   v = getTensorType(adaptor.getV()),
                   bias = getTensorType(adaptor.getBias()),
                   w = getTensorType(adaptor.getW());
  SmallVector<int64_t> filters(x.getRank(), 1), channels = filters;
  if (x.getRank() > 1)
    filters[1] = x.getDimSize(1);
  if (v.getRank() > 1)
    filters[0] = channels[1] = v.getDimSize(0);
  if (x.getRank() < 3 || v.getShape() != ArrayRef(filters) ||
      bias.getShape() != ArrayRef(channels))
    return emitOptionalError(
        location, "needs filters of one pixel of all channels of ", x,
        ", and one bias for each; has ", v, " and ", bias);
  SmallVector<int64_t> between(x.getShape()), shape;
  between[1] = filters[0];
  if (failed(inferConv(location, x.clone(between), w, adaptor.getStrides(),
                       adaptor.getDilations(), adaptor.getPads(), between[1],
                       shape)))
    return failure();
  if (w.getDimSize(0) != between[1])
    return emitOptionalError(location, "needs one filter for each of ",
                             between[1], " channels, then; has ", w);
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

bool ExpandedConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ExpandedConvOp::getChannelAxis() { return 1; }

AxisUse ExpandedConvOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ExpandedConvOp::getRoutineCalls() {
  ShapeFields fields = getConvFields(*this);
  addActivation(fields, *this);
  return {{"expanded_conv2d", fields.get(), {0, 1, 2, 3}}};
}

Work ExpandedConvOp::getWork() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  int64_t pixels = x.getNumElements() / x.getDimSize(1);
  int64_t outputs = y.getNumElements() / y.getDimSize(1);
  Work work = bytesOnly(*this);
  work.multiplyAdds = pixels * getV().getType().getNumElements() +
                      outputs * getW().getType().getNumElements();
  work.operations = 2 * pixels * y.getDimSize(1);
  return work;
}

//===----------------------------------------------------------------------===//
// nn.scaled_conv
//===----------------------------------------------------------------------===//

LogicalResult ScaledConvOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   scale = getTensorType(adaptor.getScale()),
                   bias = getTensorType(adaptor.getBias()),
                   v = getTensorType(adaptor.getV());
  if (x.getRank() != 3 && x.getRank() != 4)
    return emitOptionalError(location, "needs 1 or 2 spatial axes, not ",
                             x.getRank() - 2);
  SmallVector<int64_t> channels(x.getRank(), 1), filters = channels;
  channels[1] = filters[1] = x.getDimSize(1);
  filters[0] = v.getRank() ? v.getDimSize(0) : 1;
  if (scale.getShape() != ArrayRef(channels) ||
      bias.getShape() != ArrayRef(channels) ||
      v.getShape() != ArrayRef(filters))
    return emitOptionalError(
        location, "needs one scale and one bias for each of ", channels[1],
        " channels, and filters of one pixel of them all; has ", scale, ", ",
        bias, " and ", v);
  SmallVector<int64_t> shape(x.getShape());
  shape[1] = filters[0];
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

/// The scale and the bias of each channel remain 32-bit floats: converting them
/// to 16 bits gains nothing.
bool ScaledConvOp::takesHalf(int64_t operand) {
  return operand == 0 || operand == 3;
}

bool ScaledConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ScaledConvOp::getChannelAxis() { return 1; }

AxisUse ScaledConvOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ScaledConvOp::getRoutineCalls() {
  ShapeFields fields = getImageFields(getX().getType());
  fields.add("k", getV().getType().getDimSize(0));
  addActivation(fields, *this);
  return {{"scaled_conv2d", fields.get(), {0, 1, 2, 3}}};
}

Work ScaledConvOp::getWork() {
  RankedTensorType x = getX().getType();
  Work work = bytesOnly(*this);
  work.multiplyAdds = x.getNumElements() * (getV().getType().getDimSize(0) + 1);
  work.operations = x.getNumElements();
  return work;
}
