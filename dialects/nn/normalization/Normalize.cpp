//===- Normalize.cpp - Softmax, normalisations and reductions -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

ShapeFields nn::getRunFields(RankedTensorType x, int64_t begin, int64_t end) {
  ShapeFields fields(x.getContext());
  fields.add("outer", product(x.getShape().take_front(begin)));
  fields.add("size", product(x.getShape().slice(begin, end - begin)));
  fields.add("inner", product(x.getShape().drop_front(end)));
  return fields;
}

LogicalResult nn::checkAxis(std::optional<Location> location, int64_t axis,
                            int64_t rank) {
  if (axis < 0 || axis >= rank)
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", rank);
  return success();
}

//===----------------------------------------------------------------------===//
// nn.softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  types.push_back(x);
  return checkAxis(location, adaptor.getAxis(), x.getRank());
}
bool SoftmaxOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
}

SmallVector<RoutineCall> SoftmaxOp::getRoutineCalls() {
  int64_t axis = getAxis();
  ShapeFields fields = getRunFields(getX().getType(), axis, axis + 1);
  fields.add("log", static_cast<int64_t>(getLog()));
  return {{"softmax", fields.get(), {0}}};
}
Work SoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.integer_softmax
//===----------------------------------------------------------------------===//

LogicalResult IntegerSoftmaxOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType(),
                   table = getExponentials().getType();
  Type to = y.getElementType();
  if (x.getRank() < 1 || x.getShape() != y.getShape() ||
      x.getElementTypeBitWidth() != 8 ||
      (to.getIntOrFloatBitWidth() != 8 && !to.isSignlessInteger(16)))
    return emitOpError("needs integers of 8 bits, and a result of that shape "
                       "of integers of 8 bits or of i16");
  if (table.getRank() != 1 || table.getNumElements() < 1 ||
      !table.getElementType().isSignlessInteger(32))
    return emitOpError("needs a vector of exponentials of type i32, the first "
                       "for a difference of 0");
  return success();
}
bool IntegerSoftmaxOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getPlain(getX()).getRank() > 1;
}

SmallVector<RoutineCall> IntegerSoftmaxOp::getRoutineCalls() {
  RankedTensorType x = getX().getType();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().drop_back()));
  fields.add("size", x.getShape().back());
  fields.add("entries", getExponentials().getType().getNumElements());
  return {{"integer_softmax", fields.get(), {0, 1}}};
}
Work IntegerSoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.table_softmax
//===----------------------------------------------------------------------===//

LogicalResult TableSoftmaxOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getRank() < 1 || !x.getElementType().isSignlessInteger(16) ||
      x.getShape().back() < 1 || x.getShape().back() >= 1 << 16)
    return emitOptionalError(location, "needs rows of 1 to 65535 i16, not a ",
                             x);
  for (Value table : {adaptor.getExponentials(), adaptor.getReciprocals()})
    if (getPlain(table) != RankedTensorType::get(513, x.getElementType()))
      return emitOptionalError(location, "needs two tables of 513 i16, not a ",
                               getPlain(table));
  if (auto shift = static_cast<int64_t>(adaptor.getShift());
      shift < -31 || shift > 30)
    return emitOptionalError(location, "shifts by ", shift,
                             " bits; the shift may be from -31 to 30");
  types.push_back(x);
  return success();
}
bool TableSoftmaxOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getPlain(getX()).getRank() > 1;
}

SmallVector<RoutineCall> TableSoftmaxOp::getRoutineCalls() {
  RankedTensorType x = getPlain(getX());
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().drop_back()));
  fields.add("size", x.getShape().back());
  fields.add("multiplier", getMultiplier()).add("shift", getShift());
  fields.add("single", static_cast<int64_t>(getSingle()));
  return {{"table_softmax", fields.get(), {0, 1, 2}}};
}
Work TableSoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getPlain(getX()).getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.layer_norm
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (failed(checkAxis(location, adaptor.getAxis(), x.getRank())))
    return failure();
  int64_t size = product(x.getShape().drop_front(adaptor.getAxis()));
  for (Value value : {adaptor.getScale(), adaptor.getBias()})
    if (getPlain(value).getNumElements() != size)
      return emitOptionalError(location, "needs scale and bias of ", size,
                               " elements");
  types.push_back(x);
  if (!adaptor.getAccumulator() && !isa<FloatType>(x.getElementType()))
    return emitOptionalError(location, "normalises ", x.getElementType(),
                             " without an accumulator; add accumulator = f32");
  return inferMean(location, adaptor.getAccumulator(), types.back());
}
Type LayerNormOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}
/// The vector routines of floats take no epilogue.
std::optional<int64_t> LayerNormOp::getChannelAxis() {
  int64_t last = getX().getType().getRank() - 1;
  if (!getAccumulator() || static_cast<int64_t>(getAxis()) != last)
    return std::nullopt;
  return last;
}
bool LayerNormOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
}

SmallVector<RoutineCall> LayerNormOp::getRoutineCalls() {
  RankedTensorType x = getX().getType();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().take_front(getAxis())));
  fields.add("size", product(x.getShape().drop_front(getAxis())));
  fields.addReal("epsilon", getEpsilon().convertToDouble());
  return {{"layer_norm", fields.get(), {0, 1, 2}}};
}
Work LayerNormOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 8 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.batch_norm
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getRank() < 2)
    return emitOptionalError(location, "needs an input of rank 2 or more");
  for (Value value : adaptor.getOperands().drop_front())
    if (getPlain(value).getShape() != ArrayRef(x.getDimSize(1)))
      return emitOptionalError(location,
                               "needs one value of each statistic "
                               "for each of ",
                               x.getDimSize(1), " channels");
  types.push_back(x);
  return success();
}

//===----------------------------------------------------------------------===//
// nn.reduce
//===----------------------------------------------------------------------===//

/// Returns `shape` without `axes`, or with size 1 for them if `keep` is set.
static SmallVector<int64_t> removeAxes(ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> axes, bool keep) {
  SmallVector<int64_t> result;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      result.push_back(dim);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (int64_t axis : axes)
    if (failed(checkAxis(location, axis, x.getRank())))
      return failure();
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i - 1] >= axes[i])
      return emitOptionalError(location, "needs its axes in rising order");
  types.push_back(RankedTensorType::get(
      removeAxes(x.getShape(), axes, adaptor.getKeepdims()),
      x.getElementType()));
  return success();
}
/// Returns the half-open range from the first to the last axis of size > 1
/// among `axes`; it is empty if all are of size 1.
static std::pair<int64_t, int64_t> getRun(RankedTensorType x,
                                          ArrayRef<int64_t> axes) {
  int64_t begin = -1, end = -1;
  for (int64_t axis : axes)
    if (x.getDimSize(axis) != 1) {
      begin = begin < 0 ? axis : begin;
      end = axis + 1;
    }
  return begin < 0 ? std::pair<int64_t, int64_t>(0, 0) : std::pair(begin, end);
}

bool ReduceOp::hasNeighbouringAxes() {
  RankedTensorType x = getX().getType();
  auto [begin, end] = getRun(x, getAxes());
  for (int64_t axis = begin; axis < end; ++axis)
    if (x.getDimSize(axis) != 1 && !llvm::is_contained(getAxes(), axis))
      return false;
  return true;
}
bool ReduceOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && !llvm::is_contained(getAxes(), 0);
}

SmallVector<RoutineCall> ReduceOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
ReduceOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                            RankedTensorType result) {
  RankedTensorType x = inputs.front();
  auto [begin, end] = getRun(x, getAxes());
  SmallVector<int64_t> dims = getPhysicalShape(x);
  if (LayoutAttr layout = getLayout(x)) {
    // The reduced axes must be whole and neighbours when other axes are
    // blocked, and the padding of those must become zeros again.
    bool logarithm = getKind() == ReduceKind::log_sum ||
                     getKind() == ReduceKind::log_sum_exp;
    if (getLayout(result) != layout || (logarithm && isPadded(x)))
      return {};
    SmallVector<unsigned> axes = layout.getOuterAxes();
    for (int64_t axis = begin; axis < end; ++axis)
      if (axes[axis] != axis || layout.getBlockSize(axis) != 1)
        return {};
  } else if (getLayout(result)) {
    return {};
  }
  auto physical = RankedTensorType::get(dims, x.getElementType());
  return {{("reduce_" + stringifyReduceKind(getKind())).str(),
           getRunFields(physical, begin, end).get(),
           {0}}};
}
Work ReduceOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.argmax, nn.argmin
//===----------------------------------------------------------------------===//

template <class Adaptor>
static LogicalResult inferArg(MLIRContext *context,
                              std::optional<Location> location, Adaptor adaptor,
                              SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  types.push_back(RankedTensorType::get(
      removeAxes(x.getShape(), axis, adaptor.getKeepdims()),
      IntegerType::get(context, 64)));
  return success();
}

template <class Op>
static SmallVector<RoutineCall> getArgCalls(Op op, StringRef family) {
  int64_t axis = op.getAxis();
  ShapeFields fields = getRunFields(op.getX().getType(), axis, axis + 1);
  fields.add("select_last", static_cast<int64_t>(op.getSelectLast()));
  return {{family.str(), fields.get(), {0}}};
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg(context, location, adaptor, types);
}
bool ArgMaxOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
}

SmallVector<RoutineCall> ArgMaxOp::getRoutineCalls() {
  return getArgCalls(*this, "argmax");
}
Work ArgMaxOp::getWork() { return bytesOnly(*this); }

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg(context, location, adaptor, types);
}
bool ArgMinOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
}

SmallVector<RoutineCall> ArgMinOp::getRoutineCalls() {
  return getArgCalls(*this, "argmin");
}
Work ArgMinOp::getWork() { return bytesOnly(*this); }
