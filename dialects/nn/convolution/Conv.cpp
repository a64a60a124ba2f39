//===- Conv.cpp - Convolutions --------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult nn::verifyWindow(std::optional<Location> location,
                               ArrayRef<int64_t> input, const Window &window,
                               size_t mostAxes) {
  if (input.size() < 3 || input.size() > mostAxes + 2)
    return emitOptionalError(location, "needs 1 to ", mostAxes,
                             " spatial axes, not ",
                             static_cast<int64_t>(input.size()) - 2);
  size_t spatial = input.size() - 2;
  if (window.kernel.size() != spatial || window.strides.size() != spatial ||
      window.dilations.size() != spatial || window.pads.size() != 2 * spatial)
    return emitOptionalError(location,
                             "needs kernel, strides and dilations of ", spatial,
                             " values and pads of ", 2 * spatial);
  auto atLeast = [](ArrayRef<int64_t> values, int64_t least) {
    return llvm::all_of(values, [&](int64_t v) { return v >= least; });
  };
  if (!atLeast(window.kernel, 1) || !atLeast(window.strides, 1) ||
      !atLeast(window.dilations, 1) || !atLeast(window.pads, 0))
    return emitOptionalError(location, "needs positive kernel, strides and "
                                       "dilations and no negative pads");
  return success();
}

int64_t nn::slideWindow(int64_t input, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t before, int64_t after,
                        bool ceilMode, bool mayExceed) {
  int64_t room = input + before + after - ((kernel - 1) * dilation + 1);
  // Where no window fits, onnxruntime's quotient is rounded towards zero.
  if (room < 0)
    return mayExceed ? std::max<int64_t>(room / stride + 1, -1) : -1;
  int64_t steps = room / stride;
  // An additional window of ceil_mode must start inside the input or the left
  // padding.
  if (ceilMode && room % stride != 0 && (steps + 1) * stride < input + before)
    ++steps;
  return steps + 1;
}

void nn::addPair(ShapeFields &fields, StringRef height, StringRef width,
                 ArrayRef<int64_t> values, int64_t missing) {
  fields.add(height, values.size() > 1 ? values[values.size() - 2] : missing);
  fields.add(width, values.back());
}

ShapeFields nn::getImageFields(RankedTensorType x) {
  ShapeFields fields(x.getContext());
  fields.add("n", x.getDimSize(0)).add("c", x.getDimSize(1));
  addPair(fields, "h", "w", x.getShape().drop_front(2), 1);
  return fields;
}

void nn::addWindow(ShapeFields &fields, const Window &window) {
  addPair(fields, "kh", "kw", window.kernel, 1);
  addPair(fields, "sh", "sw", window.strides, 1);
  addPair(fields, "dh", "dw", window.dilations, 1);
  addPair(fields, "pt", "pl", window.pads.take_front(window.pads.size() / 2),
          0);
}

void nn::addOutput(ShapeFields &fields, RankedTensorType y) {
  addPair(fields, "oh", "ow", y.getShape().drop_front(2), 1);
}

/// The most spatial axes of convolutions.
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
  Type element;
  if (failed(inferAccumulator(location, x.getElementType(), w.getElementType(),
                              adaptor.getAccumulator(), element)))
    return failure();
  if (failed(verifyFill(location, x, adaptor.getFill())))
    return failure();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

Type ConvOp::getAccumulatorType() { return getAccumulator().value_or(Type()); }

bool ConvOp::isPointwise() {
  auto isOne = [](int64_t value) { return value == 1; };
  auto isZero = [](int64_t value) { return value == 0; };
  return llvm::all_of(getStrides(), isOne) && llvm::all_of(getPads(), isZero) &&
         llvm::all_of(getW().getType().getShape().drop_front(2), isOne);
}

bool ConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ConvOp::getChannelAxis() { return 1; }

/// Returns the fields from n to ow of a convolution, which all families of
/// convolutions with a window have. Of one over three axes they are those of a
/// tap along the first.
template <class Op> static ShapeFields getConvFields(Op op) {
  RankedTensorType y = op.getY().getType();
  ShapeFields fields = getImageFields(op.getX().getType());
  fields.add("k", y.getDimSize(1));
  addWindow(fields, {op.getW().getType().getShape().drop_front(2),
                     op.getStrides(), op.getDilations(), op.getPads()});
  addOutput(fields, y);
  return fields;
}

bool ConvOp::keepsSamples(ArrayRef<bool> split) { return isFirstSplit(split); }

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

bool SeparableConvOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split);
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

bool ExpandedConvOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split);
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

/// The scale and the bias of each channel stay floats: converting them gains
/// nothing.
bool ScaledConvOp::takesHalf(int64_t operand) {
  return operand == 0 || operand == 3;
}

bool ScaledConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> ScaledConvOp::getChannelAxis() { return 1; }

bool ScaledConvOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split);
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

bool ConvTransposeOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split);
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
