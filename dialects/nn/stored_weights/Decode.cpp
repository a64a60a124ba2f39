//===- Decode.cpp - nn.decode ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/stored_weights/forms/StoredCheck.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

std::string DecodeOp::findShapeProblem(ShapeAttr fields, int64_t bytes,
                                       int64_t elementBytes) {
  decode_shape shape = {};
  StringRef missing;
  shape.visit([&](const char *name, int &field) {
    int64_t value = fields.getInt(name);
    if (value < 0 || !llvm::isInt<32>(value))
      missing = name;
    field = static_cast<int>(value);
  });
  if (!missing.empty())
    return ("whose field '" + missing + "' is missing, negative or too large")
        .str();
  std::string problem =
      stored::findWrongShape(shape, bytes, static_cast<int>(elementBytes));
  return problem.empty() ? problem : "that " + problem;
}

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
  std::string problem = findShapeProblem(getShape(), x.getNumElements(),
                                         getElementBytes(y.getElementType()));
  if (!problem.empty())
    return emitOpError("has a shape ") << problem;
  return success();
}

int64_t DecodeOp::getForm() { return getShape().getInt("form"); }

SmallVector<RoutineCall> DecodeOp::getRoutineCalls() {
  return {{"decode", getShape(), {0}}};
}

Work DecodeOp::getWork() { return bytesOnly(*this); }
