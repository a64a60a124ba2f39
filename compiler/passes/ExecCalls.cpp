//===- ExecCalls.cpp - The calls of routines and of the user's functions --===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;

/// Marks `call` as like an earlier call if both can share one emitted function.
void ExecLowering::shareCode(exec::CallOp call) {
  auto &earlier = calls[{call.getRoutineAttr(), call.getShapeAttr()}];
  for (exec::CallOp other : earlier)
    if (call.isLike(other)) {
      call.setLike(other.getName());
      return;
    }
  earlier.push_back(call);
}

Value ExecLowering::createScratch(Operation *op, StringRef name) {
  auto place = op->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  if (!place)
    return {};
  return createBuffer(
      op->getLoc(), names.addPart(name, "_scratch"),
      RankedTensorType::get({place.getBytes()},
                            builder.getIntegerType(8, /*isSigned=*/false)),
      place);
}

LogicalResult ExecLowering::createCall(Operation *op,
                                       const nn::RoutineCall &call,
                                       const nn::Work &work,
                                       const nn::Description &said,
                                       StringRef name, Value target) {
  auto getOperandPlace = [&](unsigned operand) {
    return getPlaced(op->getOperand(operand));
  };
  // Weights are defined in front of the buffers that are created for the call.
  for (unsigned operand : call.operands)
    if (!getOperandPlace(operand))
      return failure();
  Value scratch = createScratch(op, name);
  auto lowered = createExecCall(builder, op, call, work, said, name,
                                getOperandPlace, target, scratch);
  if (failed(lowered))
    return failure();
  shareCode(*lowered);
  return success();
}

/// Creates the calls of `op`, except for moves of bytes that already are at
/// their place.
LogicalResult ExecLowering::lowerCalls(Operation *op, ArrayRef<Move> moves,
                                       Value target) {
  SmallVector<nn::RoutineCall> calls = nn::getRoutineCalls(op);
  if (calls.empty())
    return op->emitOpError("has no routine for the layouts of its operands");
  nn::Work work = cast<nn::CostOpInterface>(op).getWork();
  nn::Description said = nn::describe(op);
  std::string layer = layerNames.lookup(op);
  StringRef name = layer.empty() ? exec::getPlaceOp(target).getName() : layer;
  std::string end =
      layer.empty() ? "_" + op->getName().stripDialect().str() : "";
  auto isInPlace = [&](const Move &move) { return staysInPlace(op, move); };
  for (auto [i, call] : llvm::enumerate(calls)) {
    // A single call may make all moves.
    ArrayRef<Move> own =
        moves.empty() || calls.size() == 1 ? moves : moves.slice(i, 1);
    if (!own.empty() && llvm::all_of(own, isInPlace))
      continue;
    std::string number = calls.size() == 1 ? "" : "_" + std::to_string(i + 1);
    std::string callName = end.empty() && number.empty()
                               ? layer
                               : names.addCall(name, end + number);
    if (failed(createCall(op, call, work, said, callName, target)))
      return failure();
  }
  return success();
}

/// Creates the call of a function of the user.
LogicalResult ExecLowering::lowerCustom(nn::CustomOp custom, Value target) {
  std::string name = layerNames.lookup(custom);
  SmallVector<Value> inputs;
  for (Value x : custom.getXs()) {
    inputs.push_back(getPlaced(x));
    if (!inputs.back())
      return failure();
  }
  builder.create<exec::CustomOp>(
      getNamedLoc(custom.getLoc()), name, custom.getFunction(),
      custom.getHeader(), custom.getOperatorName(), inputs, target,
      createScratch(custom, name), custom.getReads(), custom.getWrites(),
      custom.getOptions(), custom.getModelAttributes(), custom.getId());
  return success();
}
