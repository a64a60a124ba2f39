//===- Decode.cpp - nn.decode ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult DecodeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getRank() != 1 || getLayout(x) ||
      !x.getElementType().isUnsignedInteger(8))
    return emitOpError("reads bytes, a tensor of ui8 with one axis; found ")
           << x;
  int64_t elements = getPhysicalBytes(y) / getElementBytes(y.getElementType());
  if (getShape().getInt("elements") != elements)
    return emitOpError("has a result of ")
           << elements << " elements, padding included, but a shape of "
           << getShape().getInt("elements");
  for (StringRef field : {"form", "block", "values", "value_bits"})
    if (getShape().getInt(field) < (field == "form" ? 0 : 1))
      return emitOpError("has a shape whose field '") << field
                                                      << "' is missing "
                                                         "or too small";
  return success();
}

int64_t DecodeOp::getForm() { return getShape().getInt("form"); }

SmallVector<RoutineCall> DecodeOp::getRoutineCalls() {
  return {{"decode", getShape(), {0}}};
}

Work DecodeOp::getWork() { return bytesOnly(*this); }
