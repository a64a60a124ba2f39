//===- Pieces.cpp - nn.concat, nn.slice, nn.pad, nn.gather ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getXs().empty())
    return emitOptionalError(location, "needs an operand");
  RankedTensorType first = getPlain(adaptor.getXs().front());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value x : adaptor.getXs()) {
    SmallVector<int64_t> own(getPlain(x).getShape());
    if (own.size() != shape.size())
      return emitOptionalError(location, "joins tensors of different rank");
    int64_t size = std::exchange(own[axis], shape[axis]);
    if (own != shape)
      return emitOptionalError(location,
                               "joins shapes that differ besides axis ", axis);
    shape[axis] += size;
  }
  types.push_back(withShape(first, shape));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getXs().size() == 1 && getXs().front().getType() == getY().getType())
    return getXs().front();
  return {};
}

LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  // The parts are the operands of nested concats along the same axis, without
  // empty tensors.
  SmallVector<Value> parts;
  for (Value x : op.getXs()) {
    auto inner = x.getDefiningOp<ConcatOp>();
    if (inner && inner.getAxis() == op.getAxis() && x.hasOneUse())
      llvm::append_range(parts, inner.getXs());
    else if (getPlain(x).getNumElements() != 0)
      parts.push_back(x);
  }
  if (parts.empty() || parts == SmallVector<Value>(op.getXs()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getXsMutable().assign(parts); });
  return success();
}

SmallVector<RoutineCall> ConcatOp::getRoutineCalls() {
  SmallVector<RankedTensorType> parts;
  for (Value x : getXs())
    parts.push_back(getPlain(x));
  return getRoutineCallsOn(parts, getPlain(getY()));
}
SmallVector<RoutineCall>
ConcatOp::getRoutineCallsOn(ArrayRef<RankedTensorType> parts,
                            RankedTensorType result) {
  int64_t block = getBlockSize(result, getAxis());
  unsigned dim = getOuterDim(result, getAxis());
  SmallVector<int64_t> target = getStrides(getPhysicalShape(result));
  SmallVector<RoutineCall> calls;
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (getLayout(part) != getLayout(result) ||
        part.getDimSize(getAxis()) % block != 0)
      return {};
    SmallVector<int64_t> dims = getPhysicalShape(part);
    calls.push_back(
        makeCopy(getContext(), dims, getStrides(dims), target, 0, offset, i));
    offset += dims[dim] * target[dim];
  }
  return calls;
}
Work ConcatOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> starts = adaptor.getStarts(), sizes = adaptor.getSizes(),
                    steps = adaptor.getSteps();
  size_t rank = x.getRank();
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    return emitOptionalError(location, "needs starts, sizes and steps of ",
                             rank, " values");
  for (size_t i = 0; i < rank; ++i) {
    int64_t last = starts[i] + (sizes[i] - 1) * steps[i], dim = x.getDimSize(i);
    bool inside = starts[i] >= 0 && starts[i] < dim && last >= 0 && last < dim;
    if (sizes[i] < 0 || steps[i] == 0 || (sizes[i] > 0 && !inside))
      return emitOptionalError(location, "leaves its input along axis ", i);
  }
  types.push_back(withShape(x, sizes));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto isOne = [](int64_t step) { return step == 1; };
  bool whole =
      getX().getType() == getY().getType() && llvm::all_of(getSteps(), isOne);
  return whole ? OpFoldResult(getX()) : OpFoldResult();
}

/// Returns the slice of the single operand of `concat` that contains all of
/// `slice`, or null if there is none.
static Value sliceOfPart(SliceOp slice, ConcatOp concat,
                         PatternRewriter &rewriter) {
  int64_t axis = concat.getAxis();
  SmallVector<int64_t> starts(slice.getStarts());
  int64_t first = starts[axis],
          last = first + (slice.getSizes()[axis] - 1) * slice.getSteps()[axis];
  int64_t begin = 0;
  for (Value part : concat.getXs()) {
    int64_t end = begin + getPlain(part).getDimSize(axis);
    if (std::min(first, last) >= begin && std::max(first, last) < end) {
      starts[axis] -= begin;
      return rewriter.create<SliceOp>(slice.getLoc(), part, starts,
                                      slice.getSizes(), slice.getSteps());
    }
    begin = end;
  }
  return {};
}

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  if (op.getType().getNumElements() == 0)
    return failure();
  if (auto concat = op.getX().getDefiningOp<ConcatOp>())
    if (Value part = sliceOfPart(op, concat, rewriter)) {
      rewriter.replaceOp(op, part);
      return success();
    }
  auto inner = op.getX().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, steps;
  for (int64_t i = 0; i < op.getType().getRank(); ++i) {
    starts.push_back(inner.getStarts()[i] +
                     op.getStarts()[i] * inner.getSteps()[i]);
    steps.push_back(op.getSteps()[i] * inner.getSteps()[i]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getX(), starts, op.getSizes(),
                                       steps);
  return success();
}

SmallVector<RoutineCall> SliceOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
SliceOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                           RankedTensorType result) {
  RankedTensorType x = inputs.front();
  if (getLayout(x) != getLayout(result))
    return {};
  SmallVector<int64_t> source = getStrides(getPhysicalShape(x));
  int64_t offset = 0;
  for (int64_t axis = 0; axis < x.getRank(); ++axis) {
    int64_t start = getStarts()[axis], size = getSizes()[axis],
            step = getSteps()[axis], block = getBlockSize(x, axis);
    // The slice must consist of whole blocks; the last one may be the padded
    // block of the source.
    bool whole = start % block == 0 && step == 1 &&
                 (size % block == 0 || start + size == x.getDimSize(axis));
    if (block > 1 && !whole)
      return {};
    unsigned dim = getOuterDim(x, axis);
    offset += start / block * source[dim];
    source[dim] *= step;
  }
  SmallVector<int64_t> dims = getPhysicalShape(result);
  return {makeCopy(getContext(), dims, source, getStrides(dims), offset, 0, 0)};
}
Work SliceOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> pads = adaptor.getPads();
  if (static_cast<int64_t>(pads.size()) != 2 * x.getRank())
    return emitOptionalError(location, "needs pads of ", 2 * x.getRank(),
                             " values");
  SmallVector<int64_t> shape(x.getShape());
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += pads[i] + pads[shape.size() + i];
    if (shape[i] < 0)
      return emitOptionalError(location, "removes more than there is of axis ",
                               i);
  }
  types.push_back(withShape(x, shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool pads = llvm::any_of(getPads(), [](int64_t size) { return size != 0; });
  return pads || getX().getType() != getY().getType() ? OpFoldResult()
                                                      : OpFoldResult(getX());
}

SmallVector<RoutineCall> PadOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
PadOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                         RankedTensorType result) {
  RankedTensorType x = inputs.front();
  double value = getValue().convertToDouble();
  if (getLayout(x) != getLayout(result) || (isPadded(x) && value != 0.0))
    return {};
  SmallVector<int64_t> dims = getPhysicalShape(result), before(dims.size(), 0);
  for (int64_t axis = 0; axis < x.getRank(); ++axis) {
    int64_t first = getPads()[axis], last = getPads()[x.getRank() + axis];
    if (getBlockSize(x, axis) > 1 && (first != 0 || last != 0))
      return {};
    before[getOuterDim(x, axis)] = first;
  }
  ShapeFields fields(getContext());
  fields.add("rank", dims.size()).add("dims", dims);
  fields.add("in_dims", getPhysicalShape(x)).add("before", before);
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.addReal("value", value);
  return {{"pad", fields.get(), {0}}};
}
Work PadOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= x.getRank())
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", x.getRank());
  SmallVector<int64_t> shape(x.getShape().take_front(axis));
  llvm::append_range(shape, getPlain(adaptor.getIndices()).getShape());
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  types.push_back(withShape(x, shape));
  return success();
}
SmallVector<RoutineCall> GatherOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.take_front(getAxis())));
  fields.add("axis_size", x[getAxis()]);
  fields.add("inner", product(x.drop_front(getAxis() + 1)));
  fields.add("count", getIndices().getType().getNumElements());
  return {{"gather", fields.get(), {0, 1}}};
}
Work GatherOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}
