//===- Pool.cpp - nn.max_pool, nn.avg_pool and nn.max_pool_index ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

template <class Adaptor>
static LogicalResult inferPool(std::optional<Location> location,
                               Adaptor adaptor, SmallVectorImpl<Type> &types,
                               size_t mostAxes = 2) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  Window window{adaptor.getKernel(), adaptor.getStrides(),
                adaptor.getDilations(), adaptor.getPads()};
  if (failed(verifyWindow(location, x.getShape(), window, mostAxes)))
    return failure();
  SmallVector<int64_t> shape = {x.getDimSize(0), x.getDimSize(1)};
  size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(slideWindow(x.getDimSize(i + 2), window.kernel[i],
                                window.strides[i], window.dilations[i],
                                window.pads[i], window.pads[spatial + i],
                                adaptor.getCeilMode(), /*mayExceed=*/true));
    if (shape.back() < 0)
      return emitOptionalError(location,
                               "has a window larger than its padded "
                               "input along spatial axis ",
                               i);
  }
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

LogicalResult nn::inferMean(std::optional<Location> location,
                            std::optional<Type> accumulator, Type &type) {
  if (!accumulator)
    return success();
  auto mean = cast<RankedTensorType>(type);
  Type element = mean.getElementType();
  bool isNarrow = isa<IntegerType>(element) &&
                  element.getIntOrFloatBitWidth() > 1 &&
                  element.getIntOrFloatBitWidth() <= 32;
  if (!accumulator->isF32() || !isNarrow)
    return emitOptionalError(location, "has elements of ", element,
                             " and means of ", *accumulator,
                             "; means of integers of up to 32 bits may be f32");
  type = mean.clone(*accumulator);
  return success();
}

template <class Op>
static SmallVector<RoutineCall> getPoolCalls(Op op, StringRef family,
                                             bool countPadding) {
  ArrayRef<int64_t> pads = op.getPads();
  ShapeFields fields = getImageFields(op.getX().getType());
  addWindow(fields, {op.getKernel(), op.getStrides(), op.getDilations(), pads});
  addPair(fields, "pb", "pr", pads.drop_front(pads.size() / 2), 0);
  addOutput(fields, op.getY().getType());
  fields.add("count_include_pad", countPadding);
  return {{family.str(), fields.get(), {0}}};
}

/// Folds a pooling whose window is a single element and whose strides are 1 to
/// its input.
template <class Op> static OpFoldResult foldPool(Op op) {
  auto isOne = [](int64_t size) { return size == 1; };
  auto isZero = [](int64_t size) { return size == 0; };
  bool same = op.getX().getType() == op.getY().getType() &&
              llvm::all_of(op.getKernel(), isOne) &&
              llvm::all_of(op.getStrides(), isOne) &&
              llvm::all_of(op.getPads(), isZero);
  return same ? OpFoldResult(op.getX()) : OpFoldResult();
}

template <class Op> static Work getPoolWork(Op op) {
  Work work = bytesOnly(op);
  int64_t taps = 1;
  for (int64_t size : op.getKernel())
    taps *= size;
  work.operations = op.getY().getType().getNumElements() * taps;
  return work;
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferPool(location, adaptor, types);
}
OpFoldResult MaxPoolOp::fold(FoldAdaptor) { return foldPool(*this); }
bool MaxPoolOp::isLayoutTolerant() { return true; }

std::optional<int64_t> MaxPoolOp::getChannelAxis() { return 1; }
AxisUse MaxPoolOp::getAxisUse(int64_t axis) {
  return getWindowUse(
      *this, {getKernel(), getStrides(), getDilations(), getPads()}, axis);
}
void MaxPoolOp::setAxisPadding(int64_t axis, int64_t before, int64_t after) {
  setPads(withPadding(getPads(), axis - 2, before, after));
}

SmallVector<RoutineCall> MaxPoolOp::getRoutineCalls() {
  return getPoolCalls(*this, "max_pool2d", false);
}
Work MaxPoolOp::getWork() { return getPoolWork(*this); }

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(inferPool(location, adaptor, types)))
    return failure();
  auto x = cast<RankedTensorType>(types.back());
  bool isRounded = adaptor.getAccumulator() &&
                   adaptor.getAccumulator()->isSignlessInteger(32) &&
                   isa<IntegerType>(x.getElementType()) &&
                   x.getElementTypeBitWidth() <= 16;
  if (!isRounded)
    return inferMean(location, adaptor.getAccumulator(), types.back());
  types.back() = x.clone(*adaptor.getAccumulator());
  return success();
}
Type AvgPoolOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}
OpFoldResult AvgPoolOp::fold(FoldAdaptor) { return foldPool(*this); }
bool AvgPoolOp::isLayoutTolerant() { return true; }

std::optional<int64_t> AvgPoolOp::getChannelAxis() { return 1; }
AxisUse AvgPoolOp::getAxisUse(int64_t axis) {
  return getWindowUse(
      *this, {getKernel(), getStrides(), getDilations(), getPads()}, axis);
}
void AvgPoolOp::setAxisPadding(int64_t axis, int64_t before, int64_t after) {
  setPads(withPadding(getPads(), axis - 2, before, after));
}

SmallVector<RoutineCall> AvgPoolOp::getRoutineCalls() {
  return getPoolCalls(*this, "avg_pool2d", getCountIncludePad());
}
Work AvgPoolOp::getWork() { return getPoolWork(*this); }

//===----------------------------------------------------------------------===//
// nn.max_pool_index
//===----------------------------------------------------------------------===//

LogicalResult MaxPoolIndexOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (failed(inferPool(location, adaptor, types, /*mostAxes=*/3)))
    return failure();
  types.back() =
      cast<RankedTensorType>(types.back()).clone(IntegerType::get(context, 64));
  return success();
}
SmallVector<RoutineCall> MaxPoolIndexOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  RankedTensorType x = getX().getType();
  fields.add("planes", x.getDimSize(0) * x.getDimSize(1));
  // Adds the fields of the axes d, h and w, of which the first may be missing.
  auto add = [&](StringRef before, ArrayRef<int64_t> values, int64_t missing) {
    for (auto [i, axis] : llvm::enumerate(StringRef("dhw"))) {
      size_t absent = 3 - values.size();
      std::string name = before.str() + axis;
      fields.add(name, i < absent ? missing : values[i - absent]);
    }
  };
  add("", x.getShape().drop_front(2), 1);
  add("k", getKernel(), 1);
  add("s", getStrides(), 1);
  add("d", getDilations(), 1);
  ArrayRef<int64_t> pads = getPads();
  pads = pads.take_front(pads.size() / 2);
  static constexpr StringLiteral names[] = {"pf", "pt", "pl"};
  for (size_t i = 0; i < 3; ++i)
    fields.add(names[i], i + pads.size() < 3 ? 0 : pads[i + pads.size() - 3]);
  add("o", getY().getType().getShape().drop_front(2), 1);
  fields.add("column_major", static_cast<int64_t>(getColumnMajor()));
  return {{"max_pool_index", fields.get(), {0}}};
}
Work MaxPoolIndexOp::getWork() { return getPoolWork(*this); }
