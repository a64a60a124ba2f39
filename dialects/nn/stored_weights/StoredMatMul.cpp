//===- StoredMatMul.cpp - nn.stored_matmul --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "runtime/routines/stored_weights/stored_matmul/shape.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult StoredMatMulOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto w = cast<RankedTensorType>(adaptor.getW().getType());
  if (w.getRank() != 1 || !w.getElementType().isUnsignedInteger(8))
    return emitOptionalError(
        location,
        "reads weights of bytes, a tensor of ui8 with one axis; found ", w);
  if (x.getRank() < 2)
    return emitOptionalError(location, "needs an input of rank 2 or more");
  int64_t rows = adaptor.getRows(), k = x.getShape().back();
  int64_t order = adaptor.getOrder();
  if (order != stored_rows && order != stored_quads)
    return emitOptionalError(location, "has weights in the order ", order,
                             ", which is not 0 or 1");
  int64_t elements = stored_elements(order, rows, k);
  int64_t found = adaptor.getShape().getInt("elements");
  if (rows < 1 || found != elements)
    return emitOptionalError(location, "multiplies by ", rows, " rows of ", k,
                             " weights, which are ", elements,
                             " elements; its shape has ", found);
  bool isFloat = x.getElementType().isF32();
  std::string problem = DecodeOp::findShapeProblem(
      adaptor.getShape(), w.getNumElements(), isFloat ? sizeof(float) : 1);
  if (!problem.empty())
    return emitOptionalError(location, "has a shape ", problem);
  Type weight = isFloat ? Type(Float32Type::get(context))
                        : Type(IntegerType::get(context, 8)),
       element;
  if (failed(inferAccumulator(location, x.getElementType(), weight,
                              adaptor.getAccumulator(), element)))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = rows;
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

std::optional<int64_t> StoredMatMulOp::getChannelAxis() {
  return getY().getType().getRank() - 1;
}

Type StoredMatMulOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}

RoutineCall StoredMatMulOp::makeCall(ShapeAttr shape, int64_t m, int64_t n,
                                     int64_t k, int64_t order) {
  ShapeFields fields(shape.getContext());
  fields.add("m", m).add("n", n).add("k", k).add("order", order);
  for (StringRef field : {"form", "elements", "block", "values", "value_bits",
                          "gaps", "gap_bits", "entries"})
    fields.add(field, shape.getInt(field));
  return {"stored_matmul", fields.get(), {0, 1}};
}

int64_t StoredMatMulOp::countProducts(ShapeAttr shape, int64_t m) {
  bool hasEntries = decode_has_entries(static_cast<int>(shape.getInt("form")));
  return m * shape.getInt(hasEntries ? "entries" : "elements");
}

int64_t StoredMatMulOp::getWeightBytes() {
  RankedTensorType x = getX().getType();
  return getRows() * x.getShape().back() * (x.getElementType().isF32() ? 4 : 1);
}

/// Returns the number of rows of x, with all batch axes merged into one matrix.
static int64_t countRows(StoredMatMulOp op) {
  return product(op.getX().getType().getShape().drop_back());
}

SmallVector<RoutineCall> StoredMatMulOp::getRoutineCalls() {
  return {makeCall(getShape(), countRows(*this), getRows(),
                   getX().getType().getShape().back(), getOrder())};
}

SmallVector<RoutineCall>
StoredMatMulOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                                  RankedTensorType result) {
  if (getLayout(inputs[0]) || getLayout(result))
    return {};
  return getRoutineCalls();
}

Work StoredMatMulOp::getWork() {
  Work work = bytesOnly(*this);
  work.multiplyAdds = countProducts(getShape(), countRows(*this));
  return work;
}
