//===- Exec.cpp - Where places and steps of a program are -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

PlaceOpInterface exec::getPlaceOp(Value place) {
  return dyn_cast_or_null<PlaceOpInterface>(place.getDefiningOp());
}

std::optional<int64_t> exec::getPortOffset(Operation *op) {
  if (auto input = dyn_cast<InputOp>(op))
    return input.getOffset();
  if (auto output = dyn_cast<OutputOp>(op))
    return output.getOffset();
  return std::nullopt;
}

bool exec::isInArena(Operation *op) {
  return isa<BufferOp>(op) || getPortOffset(op);
}

StringRef exec::getMemory(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<InputOp, OutputOp, BufferOp, WeightOp>(
          [](auto place) { return place.getMemory().value_or(StringRef()); })
      .Default([](Operation *) { return StringRef(); });
}

StringRef exec::getDevice(Operation *step) {
  return llvm::TypeSwitch<Operation *, StringRef>(step)
      .Case<CallOp>([](CallOp call) { return call.getDevice().value_or(""); })
      .Case<CopyOp>(
          [](CopyOp copy) { return getPlaceOp(copy.getTarget()).getDevice(); })
      .Case<TransferOp, WaitOp>([](auto op) { return op.getDevice(); })
      .Default([](Operation *) { return StringRef(); });
}

std::string exec::getWeightsName(MemoryAttr memory) {
  return ("weights_" + memory.getName()).str();
}

int64_t exec::getWeightsHeaderBytes(int64_t align) {
  constexpr int64_t headerBytes = 64;
  return llvm::alignTo(headerBytes, align);
}

AffineMap exec::getVaryingDims(Operation *place) {
  auto dims = place->getAttrOfType<AffineMapAttr>(kDimsAttr);
  return dims ? dims.getAffineMap() : AffineMap();
}

static void collectSteps(Block &steps, SmallVectorImpl<Operation *> &found) {
  for (Operation &op : steps)
    if (isa<CallOp, exec::CustomOp, CopyOp, TransferOp>(op))
      found.push_back(&op);
    else if (isa<BranchOp, exec::LoopOp>(op))
      for (Region &region : op.getRegions())
        collectSteps(region.front(), found);
}

SmallVector<Operation *> exec::getSteps(ProgramOp program) {
  SmallVector<Operation *> steps;
  collectSteps(program.getBody().front(), steps);
  return steps;
}
