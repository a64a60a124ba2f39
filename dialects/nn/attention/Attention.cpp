//===- Attention.cpp - nn.attention ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the number of rows: the size of the second-to-last axis, both if the
/// heads are columns of a matrix and if they have their own axis.
static int64_t getRows(RankedTensorType type) {
  return type.getDimSize(type.getRank() - 2);
}

/// Returns true if the rows of `type` hold `size` elements for each of `heads`
/// heads from column `start` on.
static bool hasHeads(RankedTensorType type, int64_t heads, int64_t size,
                     int64_t start) {
  if (type.getRank() == 4)
    return type.getDimSize(1) == heads && type.getDimSize(3) == size &&
           start == 0;
  return type.getRank() == 3 && start >= 0 &&
         start + heads * size <= type.getDimSize(2);
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType q = getPlain(adaptor.getQ()), k = getPlain(adaptor.getK()),
                   v = getPlain(adaptor.getV());
  int64_t heads = adaptor.getHeads(), dim = adaptor.getDim(),
          valueDim = adaptor.getValueDim();
  ArrayRef<int64_t> starts = adaptor.getStarts();
  if (heads < 1 || dim < 1 || valueDim < 1)
    return emitOptionalError(location, "has ", heads, " heads of ", dim,
                             " and ", valueDim, " elements");
  if (starts.size() != 3)
    return emitOptionalError(location, "needs a start for each of q, k and v");
  const std::tuple<RankedTensorType, int64_t, int64_t> parts[] = {
      {q, dim, starts[0]}, {k, dim, starts[1]}, {v, valueDim, starts[2]}};
  for (auto [type, size, start] : parts)
    if (!hasHeads(type, heads, size, start))
      return emitOptionalError(location, "needs ", heads, " heads of ", size,
                               " elements from column ", start, " on of ",
                               type);
  int64_t batch = q.getDimSize(0), queries = getRows(q), keys = getRows(k);
  if (k.getDimSize(0) != batch || v.getDimSize(0) != batch ||
      getRows(v) != keys)
    return emitOptionalError(location, "needs one batch, and a value for each "
                                       "key");
  if (adaptor.getMask()) {
    RankedTensorType mask = getPlain(adaptor.getMask());
    SmallVector<int64_t> scores = {batch, heads, queries, keys};
    if (mask.getRank() != 4 || mask.getDimSize(3) != keys ||
        broadcastShapes({mask.getShape(), scores}) != scores)
      return emitOptionalError(location, "needs a mask that broadcasts to ",
                               withShape(q, scores), " and has all keys");
  }
  for (Value operand : adaptor.getOperands()) {
    Type element = getPlain(operand).getElementType();
    bool isFloatMask = operand == adaptor.getMask() && element.isF32() &&
                       isHalf(q.getElementType());
    if (element != q.getElementType() && !isFloatMask)
      return emitOptionalError(location, "needs operands of one element type");
  }
  types.push_back(withShape(q, {batch, queries, heads * valueDim}));
  return success();
}

/// The mask is not read as halves, because it often holds the lowest float.
bool AttentionOp::takesHalf(int64_t operand) { return operand < 3; }

/// Returns the strides of `type` in elements from one batch, head and row to
/// the next.
static SmallVector<int64_t> getRowStrides(RankedTensorType type, int64_t size) {
  SmallVector<int64_t> strides = getStrides(type.getShape());
  if (type.getRank() == 4)
    return {strides[0], strides[1], strides[2]};
  return {strides[0], size, strides[1]};
}

AxisUse AttentionOp::getAxisUse(int64_t axis) {
  if (axis != 0)
    return {};
  AxisUse use{AxisKind::apart, {0, 0, 0}};
  if (getMask())
    use.axes.push_back(getPlain(getMask()).getDimSize(0) == 1 ? -1 : 0);
  return use;
}

SmallVector<RoutineCall> AttentionOp::getRoutineCalls() {
  RankedTensorType q = getPlain(getQ()), k = getPlain(getK()),
                   v = getPlain(getV());
  int64_t dim = getDim(), valueDim = getValueDim();
  ShapeFields fields(getContext());
  fields.add("n", q.getDimSize(0)).add("heads", getHeads());
  fields.add("queries", getRows(q)).add("keys", getRows(k));
  fields.add("dim", dim).add("value_dim", valueDim);
  fields.addReal("scale", getScale().convertToDouble());
  fields.add("q_start", getStarts()[0]).add("k_start", getStarts()[1]);
  fields.add("v_start", getStarts()[2]);
  fields.add("q_strides", getRowStrides(q, dim));
  fields.add("k_strides", getRowStrides(k, dim));
  fields.add("v_strides", getRowStrides(v, valueDim));
  SmallVector<int64_t> maskStrides(3, 0);
  SmallVector<unsigned> operands = {0, 1, 2};
  if (getMask()) {
    RankedTensorType mask = getPlain(getMask());
    SmallVector<int64_t> strides = getStrides(mask.getShape());
    for (int64_t axis = 0; axis < 3; ++axis)
      maskStrides[axis] = mask.getDimSize(axis) == 1 ? 0 : strides[axis];
    operands.push_back(3);
  }
  fields.add("mask_strides", maskStrides);
  return {{"attention", fields.get(), operands}};
}

Work AttentionOp::getWork() {
  RankedTensorType q = getPlain(getQ());
  int64_t scores =
      q.getDimSize(0) * getHeads() * getRows(q) * getRows(getPlain(getK()));
  Work work = bytesOnly(*this);
  work.multiplyAdds = scores * (getDim() + getValueDim());
  work.operations = 10 * scores;
  return work;
}
