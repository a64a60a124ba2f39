//===- Lengths.cpp - Ops with data-dependent sizes ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the type of a list of `count` integers.
static Type getListType(MLIRContext *context, int64_t count) {
  return RankedTensorType::get({count}, IntegerType::get(context, 64));
}

//===----------------------------------------------------------------------===//
// nn.prefix
//===----------------------------------------------------------------------===//

LogicalResult PrefixOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   count = getPlain(adaptor.getCount());
  auto length = static_cast<int64_t>(adaptor.getLength());
  if (x.getRank() < 1 || length < 0 || count.getNumElements() != 1 ||
      !count.getElementType().isSignlessInteger(32))
    return emitOptionalError(location, "takes ", length, " slices of ", x,
                             " by a count of type ", count,
                             "; it needs a tensor with an axis and one i32");
  SmallVector<int64_t> shape(x.getShape());
  shape[0] = length;
  types.push_back(withShape(x, shape));
  return success();
}
SmallVector<RoutineCall> PrefixOp::getRoutineCalls() {
  ArrayRef<int64_t> shape = getY().getType().getShape();
  SmallVector<int64_t> strides = getStrides(shape);
  return {makeCopy(getContext(), shape, strides, strides, 0, 0, 0)};
}
Work PrefixOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.offset
//===----------------------------------------------------------------------===//

LogicalResult OffsetOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getNumElements() != int64_t(adaptor.getValues().size()) ||
      x.getNumElements() > OffsetOp::kMost)
    return emitOptionalError(location, "has ", adaptor.getValues().size(),
                             " values for an operand of type ", x,
                             "; it needs one for each element, at most ",
                             OffsetOp::kMost);
  types.push_back(x);
  return success();
}
SmallVector<RoutineCall> OffsetOp::getRoutineCalls() {
  SmallVector<int64_t> values(getValues());
  ShapeFields fields(getContext());
  fields.add("count", int64_t(values.size()));
  fields.add("values", values);
  return {{"offset", fields.get(), {0}}};
}
Work OffsetOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.steps
//===----------------------------------------------------------------------===//

LogicalResult StepsOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getNumElements() != 1)
    return emitOptionalError(location, "has an operand of type ", x,
                             "; it needs one element");
  types.push_back(withShape(x, adaptor.getShape()));
  return success();
}
SmallVector<RoutineCall> StepsOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  fields.add("count", getY().getType().getNumElements());
  fields.add("start", static_cast<int64_t>(getStart()));
  fields.add("step", static_cast<int64_t>(getStep()));
  return {{"range", fields.get(), {0}}};
}
Work StepsOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.find
//===----------------------------------------------------------------------===//

LogicalResult FindOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(
      getListType(context, getPlain(adaptor.getX()).getNumElements() + 1));
  return success();
}
SmallVector<RoutineCall> FindOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  fields.add("size", getX().getType().getNumElements());
  return {{"nonzero", fields.get(), {0}}};
}
Work FindOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.distinct
//===----------------------------------------------------------------------===//

LogicalResult DistinctOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getRank() != 2)
    return emitOptionalError(location, "has an operand of type ", x,
                             "; it needs a matrix");
  types.push_back(getListType(context, 1 + 3 * x.getDimSize(0)));
  return success();
}
SmallVector<RoutineCall> DistinctOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("rows", x[0]).add("columns", x[1]);
  fields.add("sorted", static_cast<int64_t>(getSorted()));
  return {{"distinct", fields.get(), {0}}};
}
Work DistinctOp::getWork() {
  Work work = bytesOnly(*this);
  int64_t rows = getX().getType().getDimSize(0);
  work.operations =
      2 * rows * (1 + llvm::Log2_64_Ceil(std::max<int64_t>(rows, 1)));
  return work;
}

//===----------------------------------------------------------------------===//
// nn.suppress
//===----------------------------------------------------------------------===//

LogicalResult SuppressOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType boxes = getPlain(adaptor.getBoxes()),
                   scores = getPlain(adaptor.getScores()),
                   limit = getPlain(adaptor.getLimit());
  bool fits = boxes.getRank() == 3 && scores.getRank() == 3 &&
              boxes.getDimSize(2) == 4 &&
              boxes.getDimSize(0) == scores.getDimSize(0) &&
              boxes.getDimSize(1) == scores.getDimSize(2) &&
              boxes.getElementType() == scores.getElementType();
  if (!fits)
    return emitOptionalError(location, "has boxes of type ", boxes,
                             " and scores of type ", scores,
                             "; it needs batches x boxes x 4 and batches x "
                             "classes x boxes of one element type");
  for (Value value : {adaptor.getOverlap(), adaptor.getLeast()})
    if (RankedTensorType type = getPlain(value);
        type.getNumElements() != 1 ||
        type.getElementType() != boxes.getElementType())
      return emitOptionalError(location, "has a threshold of type ", type,
                               "; it needs one element of the boxes' type");
  auto most = static_cast<int64_t>(adaptor.getMost());
  if (limit.getNumElements() != 1 ||
      !limit.getElementType().isSignlessInteger(64) || most < 0)
    return emitOptionalError(location, "has a limit of type ", limit, " and ",
                             most,
                             " boxes at most; it needs one i64 and a "
                             "number from 0 on");
  types.push_back(getListType(context, 1 + 3 * scores.getDimSize(0) *
                                               scores.getDimSize(1) * most));
  return success();
}
SmallVector<RoutineCall> SuppressOp::getRoutineCalls() {
  ArrayRef<int64_t> scores = getScores().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("batches", scores[0]).add("classes", scores[1]);
  fields.add("boxes", scores[2]);
  fields.add("most", static_cast<int64_t>(getMost()));
  fields.add("centered", static_cast<int64_t>(getCentered()));
  return {{"suppress", fields.get(), {0, 1, 2, 3, 4}}};
}
Work SuppressOp::getWork() {
  Work work = bytesOnly(*this);
  // Each candidate box is compared with the boxes selected before it.
  int64_t scores = getScores().getType().getNumElements();
  work.operations = scores * (8 + 10 * static_cast<int64_t>(getMost()));
  return work;
}
