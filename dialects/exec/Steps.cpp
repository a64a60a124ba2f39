//===- Steps.cpp - Verifiers of copies, transfers, branches and loops -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/exec/PlaceRules.h"
#include "dialects/nn/custom/Custom.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

//===----------------------------------------------------------------------===//
// exec.custom, exec.copy
//===----------------------------------------------------------------------===//

LogicalResult exec::CustomOp::verify() {
  SmallVector<Type> given;
  if (failed(verifyPlaces(*this)))
    return failure();
  for (Value input : getInputs())
    given.push_back(nn::getLogicalType(getPlaceOp(input).getTensor()));
  if (failed(verifyWritten(*this, getOutput(), getScratch())))
    return failure();
  if (!isFunctionName(getFunction()))
    return emitOpError("calls '")
           << getFunction() << "', which is no name of a C function";
  return nn::verifyDescriptions([&] { return emitOpError(); }, getReads(),
                                given, getWrites(),
                                getPlaceOp(getOutput()).getTensor());
}

LogicalResult CopyOp::verify() {
  PlaceOpInterface source = getPlaceOp(getSource());
  PlaceOpInterface target = getPlaceOp(getTarget());
  if (failed(verifyPlaces(*this, target ? target.getDevice() : "")) ||
      failed(verifyWritten(*this, getTarget(), {})))
    return failure();
  int64_t part = nn::getPhysicalBytes(source.getTensor()),
          whole = nn::getPhysicalBytes(target.getTensor());
  if (getByRun()) {
    auto loop = dyn_cast<exec::LoopOp>((*this)->getParentOp());
    if (!loop)
      return emitOpError("is by run, but not in a loop");
    if (part == 0 || whole % part != 0 ||
        whole / part < static_cast<int64_t>(loop.getMax()))
      return emitOpError("copies ")
             << source.getTensor() << " in each of " << loop.getMax()
             << " runs to a place for " << target.getTensor();
    return success();
  }
  if (part != whole)
    return emitOpError("copies ")
           << source.getTensor() << " to a place for " << target.getTensor();
  return success();
}

//===----------------------------------------------------------------------===//
// exec.transfer
//===----------------------------------------------------------------------===//

StringRef TransferOp::getDevice() {
  StringRef source = getPlaceOp(getSource()).getDevice();
  return source.empty() ? getPlaceOp(getTarget()).getDevice() : source;
}

LogicalResult TransferOp::verify() {
  PlaceOpInterface source = getPlaceOp(getSource());
  PlaceOpInterface target = getPlaceOp(getTarget());
  if (!source || !target)
    return emitOpError("needs operands that are named places");
  if (failed(verifyWritten(*this, getTarget(), {})))
    return failure();
  if (source.getDevice().empty() == target.getDevice().empty())
    return emitOpError("connects ")
           << describeDevice(source.getDevice()) << " and "
           << describeDevice(target.getDevice())
           << "; a transfer is between the host and another device";
  if (nn::onDevice(source.getTensor(), "") !=
      nn::onDevice(target.getTensor(), ""))
    return emitOpError("moves ")
           << source.getTensor() << " to a place for " << target.getTensor();
  return success();
}

//===----------------------------------------------------------------------===//
// exec.branch, exec.loop
//===----------------------------------------------------------------------===//

/// Checks that `place`, unless it is null, holds one integer of `width` bits.
static LogicalResult verifyOne(Operation *op, Value place, unsigned width,
                               StringRef what) {
  if (!place)
    return success();
  RankedTensorType type = getPlaceOp(place).getTensor();
  if (type.getElementType().isSignlessInteger(width) &&
      type.getNumElements() == 1)
    return success();
  return op->emitOpError() << "needs as " << what << " one integer of " << width
                           << (width == 1 ? " bit" : " bits") << ", has "
                           << type;
}

LogicalResult BranchOp::verify() {
  if (failed(verifyPlaces(*this)))
    return failure();
  return verifyOne(*this, getCondition(), 1, "condition");
}

LogicalResult exec::LoopOp::verify() {
  if (failed(verifyPlaces(*this)) ||
      failed(verifyOne(*this, getCount(), 64, "count")) ||
      failed(verifyOne(*this, getCondition(), 1, "condition")) ||
      failed(verifyOne(*this, getCounter(), 64, "counter")))
    return failure();
  if (static_cast<int64_t>(getMax()) < 1)
    return emitOpError("needs to run at least once at most");
  if (getCounter() && !getPlaceOp(getCounter()).isWritable())
    return emitOpError("counts in '") << getPlaceOp(getCounter()).getName()
                                      << "', which is not the program's own";
  return success();
}
