//===- Conv.cpp - Convolutions and transposed convolutions ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static constexpr size_t kMostConvAxes = 3;

//===----------------------------------------------------------------------===//
// nn.conv
//===----------------------------------------------------------------------===//

LogicalResult nn::inferConv(std::optional<Location> location,
                            RankedTensorType x, RankedTensorType w,
                            ArrayRef<int64_t> strides,
                            ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads,
                            int64_t groups, SmallVectorImpl<int64_t> &shape) {
  if (x.getRank() != w.getRank())
    return emitOptionalError(location, "needs a weight of the input's rank, ",
                             x.getRank(), ", not ", w.getRank());
  if (x.getRank() < 3)
    return emitOptionalError(location, "needs 1 to 3 spatial axes");
  Window window{w.getShape().drop_front(2), strides, dilations, pads};
  if (failed(verifyWindow(location, x.getShape(), window, kMostConvAxes)))
    return failure();
  int64_t channels = x.getDimSize(1);
  if (groups < 1 || channels != w.getDimSize(1) * groups ||
      w.getDimSize(0) % groups != 0)
    return emitOptionalError(location, "has ", channels, " input channels and ",
                             groups, " groups, which a weight of ",
                             w.getDimSize(0), " x ", w.getDimSize(1),
                             " channels does not fit");
  shape.assign({x.getDimSize(0), w.getDimSize(0)});
  size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(slideWindow(
        x.getDimSize(i + 2), window.kernel[i], window.strides[i],
        window.dilations[i], window.pads[i], window.pads[spatial + i], false));
    if (shape.back() < 0)
      return emitOptionalError(location,
                               "has a kernel larger than its padded "
                               "input along spatial axis ",
                               i);
  }
  return success();
}

/// Returns true if `type` is an integer type that holds `value`.
static bool fitsIn(int64_t value, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 32)
    return false;
  int64_t range = int64_t(1) << integer.getWidth();
  return integer.isUnsigned() ? value >= 0 && value < range
                              : value >= -range / 2 && value < range / 2;
}

LogicalResult nn::verifyFill(std::optional<Location> location,
                             RankedTensorType x, int64_t fill) {
  if (fill == 0 || fitsIn(fill, x.getElementType()))
    return success();
  return emitOptionalError(
      location, "pads ", x.getElementType(), " with ", fill,
      "; only integers with an accumulator are padded with other numbers of "
      "their type than 0");
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   w = getTensorType(adaptor.getW());
  SmallVector<int64_t> shape;
  if (failed(inferConv(location, x, w, adaptor.getStrides(),
                       adaptor.getDilations(), adaptor.getPads(),
                       adaptor.getGroups(), shape)))
    return failure();
  Type element = adaptor.getAccumulator().value_or(Type());
  const bool roundsInput = element && isHalf(element) &&
                           w.getElementType() == element &&
                           x.getElementType().isF32();
  if (!roundsInput &&
      failed(inferAccumulator(location, x.getElementType(), w.getElementType(),
                              adaptor.getAccumulator(), element)))
    return failure();
  if (failed(verifyFill(location, x, adaptor.getFill())))
    return failure();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

Type ConvOp::getAccumulatorType() { return getAccumulator().value_or(Type()); }

bool ConvOp::roundOperand(int64_t operand) {
  if (operand != 0)
    return false;
  setAccumulator(getW().getType().getElementType());
  return true;
}

bool ConvOp::isPointwise() {
  auto isOne = [](int64_t value) { return value == 1; };
  auto isZero = [](int64_t value) { return value == 0; };
  return llvm::all_of(getStrides(), isOne) && llvm::all_of(getPads(), isZero) &&
         llvm::all_of(getW().getType().getShape().drop_front(2), isOne);
}

bool ConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ConvOp::getChannelAxis() { return 1; }

AxisUse ConvOp::getAxisUse(int64_t axis) {
  return getWindowUse(*this,
                      {getW().getType().getShape().drop_front(2), getStrides(),
                       getDilations(), getPads()},
                      axis);
}

void ConvOp::setAxisPadding(int64_t axis, int64_t before, int64_t after) {
  setPads(withPadding(getPads(), axis - 2, before, after));
}

SmallVector<RoutineCall> ConvOp::getRoutineCalls() {
  ShapeFields fields = getConvFields(*this);
  fields.add("groups", getGroups()).add("fill", getFill());
  return {{"conv2d", fields.get(), {0, 1}}};
}

Work ConvOp::getWork() {
  Work work = bytesOnly(*this);
  int64_t taps =
      getW().getType().getNumElements() / getW().getType().getDimSize(0);
  work.multiplyAdds = getY().getType().getNumElements() * taps;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.conv_transpose
//===----------------------------------------------------------------------===//

LogicalResult ConvTransposeOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   w = getTensorType(adaptor.getW());
  if (x.getRank() != w.getRank() || x.getRank() < 3)
    return emitOptionalError(location, "needs input and weight of rank 3 to 5");
  Window window{w.getShape().drop_front(2), adaptor.getStrides(),
                adaptor.getDilations(), adaptor.getPads()};
  size_t spatial = window.kernel.size();
  ArrayRef<int64_t> more = adaptor.getOutputPadding();
  if (failed(verifyWindow(location, x.getShape(), window, kMostConvAxes)))
    return failure();
  if (more.size() != spatial)
    return emitOptionalError(location, "needs output_padding of ", spatial,
                             " values");
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || x.getDimSize(1) != w.getDimSize(0) ||
      w.getDimSize(0) % groups != 0)
    return emitOptionalError(location, "has ", x.getDimSize(1),
                             " input channels in ", groups,
                             " groups, the weight ", w.getDimSize(0));
  SmallVector<int64_t> shape = {x.getDimSize(0), w.getDimSize(1) * groups};
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back((x.getDimSize(i + 2) - 1) * window.strides[i] +
                    (window.kernel[i] - 1) * window.dilations[i] + 1 + more[i] -
                    window.pads[i] - window.pads[spatial + i]);
    if (shape.back() < 1)
      return emitOptionalError(location, "has no output along spatial axis ",
                               i);
  }
  Type sums;
  if (failed(inferAccumulator(location, x.getElementType(), w.getElementType(),
                              adaptor.getAccumulator(), sums)))
    return failure();
  types.push_back(RankedTensorType::get(shape, sums));
  return success();
}

Type ConvTransposeOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}

bool ConvTransposeOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ConvTransposeOp::getChannelAxis() { return 1; }

AxisUse ConvTransposeOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ConvTransposeOp::getRoutineCalls() {
  ShapeFields fields = getConvFields(*this);
  fields.add("groups", getGroups());
  return {{"conv_transpose2d", fields.get(), {0, 1}}};
}

Work ConvTransposeOp::getWork() {
  Work work = bytesOnly(*this);
  int64_t taps =
      getW().getType().getNumElements() / getW().getType().getDimSize(0);
  work.multiplyAdds = getX().getType().getNumElements() * taps;
  return work;
}
