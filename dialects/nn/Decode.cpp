//===- Decode.cpp - nn.decode ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/compression/StoredCheck.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The integer in a field of a shape, or -1.
static int64_t getField(ShapeAttr shape, StringRef name) {
  auto value = dyn_cast_or_null<IntegerAttr>(shape.get(name));
  return value ? value.getInt() : -1;
}

LogicalResult DecodeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getRank() != 1 || getLayout(x) ||
      !x.getElementType().isUnsignedInteger(8))
    return emitOpError("reads bytes, a tensor of ui8 with one axis; found ")
           << x;
  int64_t elements = getPhysicalBytes(y) / getElementBytes(y.getElementType());
  if (getField(getShape(), "elements") != elements)
    return emitOpError("has a result of ")
           << elements << " elements, padding included, but a shape of "
           << getField(getShape(), "elements");
  decode_shape shape = {};
  StringRef missing;
  shape.visit([&](const char *name, int &field) {
    int64_t value = getField(getShape(), name);
    if (value < 0 || !llvm::isInt<32>(value))
      missing = name;
    field = static_cast<int>(value);
  });
  if (!missing.empty())
    return emitOpError("has a shape whose field '")
           << missing << "' is missing, negative or too large";
  std::string problem = compression::findWrongShape(
      shape, x.getNumElements(), getElementBytes(y.getElementType()));
  if (!problem.empty())
    return emitOpError("has a shape that ") << problem;
  return success();
}

int64_t DecodeOp::getForm() { return getField(getShape(), "form"); }

SmallVector<RoutineCall> DecodeOp::getRoutineCalls() {
  return {{"decode", getShape(), {0}}};
}

Work DecodeOp::getWork() { return bytesOnly(*this); }
