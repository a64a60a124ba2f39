//===- Slice.cpp - nn.slice -----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

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
  if ((*this)->hasAttr(kVariesAttr))
    return {};
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
  if (op.getType().getNumElements() == 0 || op->hasAttr(kVariesAttr))
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

AxisUse SliceOp::getAxisUse(int64_t axis) {
  bool takesAll = getSteps()[axis] == 1 &&
                  getSizes()[axis] == getPlain(getX()).getDimSize(axis);
  return takesAll ? AxisUse::elements(*this, axis) : AxisUse();
}

void SliceOp::updateAxisSize(int64_t axis) {
  SmallVector<int64_t> sizes(getSizes());
  sizes[axis] = getPlain(getX()).getDimSize(axis);
  setSizes(sizes);
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
