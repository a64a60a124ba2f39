//===- PlaceRules.cpp - Checks of the places of exec's ops ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/PlaceRules.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

LogicalResult exec::verifyRange(PlaceOpInterface op, int64_t offset,
                                int64_t size, StringRef whole) {
  RankedTensorType type = op.getTensor();
  if (offset < 0 || nn::getPhysicalBytes(type) > size - offset)
    return op->emitOpError()
           << "holds " << nn::getPhysicalBytes(type) << " bytes at " << offset
           << " of the " << size << " bytes of the " << whole;
  if (offset % nn::getElementBytes(type.getElementType()))
    return op->emitOpError() << "is not aligned to its elements";
  return success();
}

std::string exec::describeDevice(StringRef device) {
  return device.empty() ? "the host" : ("the device '" + device + "'").str();
}

LogicalResult exec::verifyPlaces(Operation *op, StringRef device) {
  for (Value operand : op->getOperands()) {
    PlaceOpInterface place = getPlaceOp(operand);
    if (!place)
      return op->emitOpError("needs operands that are named places");
    if (place.getDevice() != device)
      return op->emitOpError("runs on ")
             << describeDevice(device) << " and takes '" << place.getName()
             << "', which is on " << describeDevice(place.getDevice());
  }
  return success();
}

LogicalResult exec::verifyWritten(Operation *op, ValueRange outputs,
                                  Value scratch) {
  SmallVector<Value> written(outputs);
  if (scratch)
    written.push_back(scratch);
  for (Value value : written)
    if (!getPlaceOp(value).isWritable())
      return op->emitOpError("writes '") << getPlaceOp(value).getName()
                                         << "', which is not the program's own";
  return success();
}
