//===- Reshape.cpp - nn.reshape, nn.transpose, nn.expand ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

SmallVector<int64_t> nn::getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

RoutineCall nn::makeCopy(MLIRContext *context, ArrayRef<int64_t> dims,
                         ArrayRef<int64_t> source, ArrayRef<int64_t> target,
                         int64_t sourceOffset, int64_t targetOffset,
                         unsigned operand) {
  SmallVector<int64_t> d, s, t;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1)
      continue;
    if (!d.empty() && s.back() == source[i] * dims[i] &&
        t.back() == target[i] * dims[i]) {
      d.back() *= dims[i];
      s.back() = source[i];
      t.back() = target[i];
      continue;
    }
    d.push_back(dims[i]);
    s.push_back(source[i]);
    t.push_back(target[i]);
  }
  if (d.empty()) {
    d.push_back(1);
    s.push_back(1);
    t.push_back(1);
  }
  ShapeFields fields(context);
  fields.add("rank", d.size()).add("dims", d);
  fields.add("src_strides", s).add("dst_strides", t);
  fields.add("src_offset", sourceOffset).add("dst_offset", targetOffset);
  return {"copy", fields.get(), {operand}};
}

//===----------------------------------------------------------------------===//
// nn.reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getElementType() != y.getElementType() ||
      x.getNumElements() != y.getNumElements())
    return emitOpError("cannot turn ") << x << " into " << y;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    if (inner->hasAttr(kVariesAttr))
      (*this)->setAttr(kVariesAttr, inner->getAttr(kVariesAttr));
    return getY();
  }
  // A constant that depends on the sizes may have no form that serves all sizes
  // once it is reshaped.
  if ((*this)->hasAttr(kVariesAttr))
    return {};
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  if (dense && !getLayout(getY().getType()))
    return dense.reshape(getY().getType());
  if (auto blob = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getX());
      blob && !getLayout(getY().getType()))
    return DenseResourceElementsAttr::get(getY().getType(),
                                          blob.getRawHandle());
  return {};
}

/// The elements of a sample are neighbours in memory.
AxisUse ReshapeOp::getAxisUse(int64_t axis) {
  ArrayRef<int64_t> from = getX().getType().getShape(),
                    to = getY().getType().getShape();
  for (size_t own = 0; own < from.size(); ++own)
    if (findReshapedAxis(from, to, own) == axis)
      return AxisUse::elements(*this, own);
  // The elements of a part of the first axis stay together.
  return from.empty() ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ReshapeOp::getRoutineCalls() {
  int64_t elements = getX().getType().getNumElements();
  return {makeCopy(getContext(), elements, 1, 1, 0, 0, 0)};
}
Work ReshapeOp::getWork() { return {}; }

//===----------------------------------------------------------------------===//
// nn.transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  SmallVector<int64_t> sorted(adaptor.getPermutation());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, x.getRank())))
    return emitOptionalError(location, "needs a permutation of ", x.getRank(),
                             " axes");
  SmallVector<int64_t> shape;
  for (int64_t axis : adaptor.getPermutation())
    shape.push_back(x.getDimSize(axis));
  types.push_back(withShape(x, shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool moves = !llvm::equal(getPermutation(),
                            llvm::seq<int64_t>(0, getX().getType().getRank()));
  return moves || getX().getType() != getY().getType() ? OpFoldResult()
                                                       : OpFoldResult(getX());
}

LogicalResult TransposeOp::canonicalize(TransposeOp op,
                                        PatternRewriter &rewriter) {
  if (auto inner = op.getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t axis : op.getPermutation())
      both.push_back(inner.getPermutation()[axis]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getX(), both);
    return success();
  }
  // Axes of size 1 may be permuted without moving an element.
  RankedTensorType x = op.getX().getType(), y = op.getY().getType();
  SmallVector<int64_t> large;
  for (int64_t axis : op.getPermutation())
    if (x.getDimSize(axis) != 1)
      large.push_back(axis);
  if (!llvm::is_sorted(large) || getLayout(x) || getLayout(y))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, y, op.getX());
  return success();
}

/// Returns the axes of `type` of more than one element in the order in which
/// memory steps through them; nullopt if its layout has blocks.
static std::optional<SmallVector<unsigned>> getOrder(RankedTensorType type) {
  SmallVector<unsigned> order;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    order.push_back(axis);
  if (LayoutAttr layout = getLayout(type)) {
    if (layout.getEncoding() || !layout.getBlocks().empty())
      return std::nullopt;
    order = layout.getOuterAxes();
  }
  llvm::erase_if(order,
                 [&](unsigned axis) { return type.getDimSize(axis) == 1; });
  return order;
}

bool TransposeOp::isViewBetween(RankedTensorType x, RankedTensorType y,
                                ArrayRef<int64_t> permutation) {
  auto from = getOrder(x), to = getOrder(y);
  if (!from || !to)
    return false;
  for (unsigned &axis : *to)
    axis = permutation[axis];
  return *from == *to;
}

bool TransposeOp::isView() {
  return isViewBetween(getX().getType(), getY().getType(), getPermutation());
}

AxisUse TransposeOp::getAxisUse(int64_t axis) {
  return AxisUse::elements(*this, getPermutation()[axis]);
}

SmallVector<RoutineCall> TransposeOp::getRoutineCalls() {
  SmallVector<int64_t> strides = getStrides(getX().getType().getShape()),
                       source;
  for (int64_t axis : getPermutation())
    source.push_back(strides[axis]);
  ArrayRef<int64_t> dims = getY().getType().getShape();
  return {makeCopy(getContext(), dims, source, getStrides(dims), 0, 0, 0)};
}
Work TransposeOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.expand
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  auto shape = broadcastShapes({x.getShape(), y.getShape()});
  if (x.getElementType() != y.getElementType() || !shape ||
      ArrayRef<int64_t>(*shape) != y.getShape())
    return emitOpError("cannot broadcast ") << x << " to " << y;
  return success();
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? OpFoldResult(getX())
                                              : OpFoldResult();
}

LogicalResult ExpandOp::canonicalize(ExpandOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ExpandOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(), inner.getX());
  return success();
}

RoutineCall nn::getExpandCall(RankedTensorType result,
                              RankedTensorType operand) {
  ArrayRef<int64_t> x = operand.getShape(), y = result.getShape();
  SmallVector<int64_t> own = getStrides(x), source(y.size() - x.size(), 0);
  for (size_t i = 0; i < x.size(); ++i)
    source.push_back(x[i] == 1 ? 0 : own[i]);
  return makeCopy(result.getContext(), y, source, getStrides(y), 0, 0, 0);
}
AxisUse ExpandOp::getAxisUse(int64_t axis) {
  RankedTensorType x = getPlain(getX()), y = getPlain(getY());
  bool repeats =
      x.getRank() != y.getRank() || x.getDimSize(0) != y.getDimSize(0);
  return repeats ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ExpandOp::getRoutineCalls() {
  return {getExpandCall(getY().getType(), getX().getType())};
}
Work ExpandOp::getWork() { return bytesOnly(*this); }
