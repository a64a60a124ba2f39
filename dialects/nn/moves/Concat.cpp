//===- Concat.cpp - nn.concat ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

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
    if (getPlain(x).getElementType() != first.getElementType())
      return emitOptionalError(location,
                               "joins tensors of different element types");
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

AxisUse ConcatOp::getAxisUse(int64_t axis) {
  if (axis == static_cast<int64_t>(getAxis()))
    return {};
  return {AxisKind::elements, SmallVector<int64_t>(getXs().size(), axis)};
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
  SmallVector<int64_t> widths;
  SmallVector<unsigned> operands;
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (getLayout(part) != getLayout(result) ||
        part.getDimSize(getAxis()) % block != 0)
      return {};
    SmallVector<int64_t> dims = getPhysicalShape(part);
    calls.push_back(
        makeCopy(getContext(), dims, getStrides(dims), target, 0, offset, i));
    offset += dims[dim] * target[dim];
    widths.push_back(dims[dim] * target[dim]);
    operands.push_back(i);
  }
  if (!(*this)->hasAttr(kInOneCallAttr))
    return calls;
  ShapeFields fields(getContext());
  const int64_t rows = ShapedType::getNumElements(
      ArrayRef(getPhysicalShape(result)).take_front(dim));
  fields.add("rows", rows).add("pitch", offset).add("widths", widths);
  return {{"join", fields.get(), operands}};
}
Work ConcatOp::getWork() { return bytesOnly(*this); }
