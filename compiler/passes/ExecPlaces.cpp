//===- ExecPlaces.cpp - Places of values and weights in an exec program ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;
using exec::Pool;

Value ExecLowering::createBuffer(Location loc, StringRef name,
                                 RankedTensorType type, PlaceAttr place) {
  OpBuilder::InsertionGuard guard(builder);
  if (outermost)
    builder.setInsertionPoint(outermost);
  return builder.create<exec::BufferOp>(loc, builder.getType<exec::PlaceType>(),
                                        name, type, place.getOffset(),
                                        getMemory(place));
}

StringAttr ExecLowering::getMemory(PlaceAttr place) {
  auto memories = function->getAttrOfType<ArrayAttr>(
      place.getPool() == Pool::weight ? exec::kWeightMemoriesAttr
                                      : exec::kMemoriesAttr);
  if (!memories)
    return {};
  auto memory = cast<exec::MemoryAttr>(memories[place.getIndex()]);
  return builder.getStringAttr(memory.getName());
}

Value ExecLowering::createView(Location loc, StringRef name,
                               RankedTensorType type, Value base,
                               int64_t offset) {
  // A view of a view refers to the viewed buffer directly, so that readers
  // follow one step only.
  if (auto view = base.getDefiningOp<exec::ViewOp>())
    return createView(loc, name, type, view.getBase(),
                      view.getOffset() + offset);
  OpBuilder::InsertionGuard guard(builder);
  if (outermost)
    builder.setInsertionPoint(outermost);
  return builder.create<exec::ViewOp>(loc, builder.getType<exec::PlaceType>(),
                                      name, type, base, offset);
}

bool nnc::staysInPlace(Operation *op, const Move &move) {
  PlaceAttr from = getPlace(op->getOperand(move.operand));
  PlaceAttr to = getPlace(op->getResult(0));
  return from.getPool() == to.getPool() && from.getIndex() == to.getIndex() &&
         from.getOffset() + move.source == to.getOffset() + move.target;
}

Value ExecLowering::findWhole(Value value) {
  if (auto known = wholes.find(value); known != wholes.end())
    return known->second;
  Value whole;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    for (const Move &move : contents.getMoves(user)) {
      if (move.operand != use.getOperandNumber() || !staysInPlace(user, move))
        continue;
      Value result = user->getResult(0);
      Value next = findWhole(result);
      if (!next && isa<nn::LayerOp>(user))
        next = result;
      if (next && (!whole || getBytes(next) > getBytes(whole)))
        whole = next;
    }
  }
  if (whole) {
    int64_t offset = getPlace(value).getOffset() - getPlace(whole).getOffset();
    bool isPart = offset >= 0 && getBytes(value) < getBytes(whole) &&
                  offset + getBytes(value) <= getBytes(whole);
    whole = isPart ? whole : Value();
  }
  return wholes[value] = whole;
}

/// Returns the buffer of an operand of the op that computes `value`, if that
/// operand is in place and the buffer contains the whole place of `value`; null
/// if there is none.
exec::BufferOp ExecLowering::findBufferOfOperand(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  int64_t begin = getPlace(value).getOffset();
  for (const Move &move : contents.getMoves(op)) {
    if (!staysInPlace(op, move))
      continue;
    Value base = getPlaced(op->getOperand(move.operand));
    if (auto view = base.getDefiningOp<exec::ViewOp>())
      base = view.getBase();
    auto buffer = base.getDefiningOp<exec::BufferOp>();
    if (buffer && int64_t(buffer.getOffset()) <= begin &&
        begin + getBytes(value) <= int64_t(buffer.getOffset()) +
                                       nn::getPhysicalBytes(buffer.getTensor()))
      return buffer;
  }
  return {};
}

/// Returns the buffer of `value`. A value that a concat joins in place gets a
/// view of the joined value's buffer instead, so that the emitted list of the
/// arena has one entry, with the layers from the first part on, for these
/// bytes.
Value ExecLowering::createInArena(Location loc, StringRef name, Value value) {
  PlaceAttr place = getPlace(value);
  RankedTensorType type = nn::getTensorType(value);
  if (Value buffer = joined.lookup(value))
    return buffer;
  if (Value output = produced.lookup(value))
    return output;
  if (exec::BufferOp buffer = findBufferOfOperand(value))
    return createView(loc, name, type, buffer,
                      place.getOffset() - buffer.getOffset());
  Value whole = findWhole(value);
  if (!whole)
    return createBuffer(loc, name, type, place);
  Value &buffer = joined[whole];
  if (!buffer)
    buffer = produced.lookup(whole);
  if (!buffer) {
    auto layer = whole.getDefiningOp<nn::LayerOp>();
    buffer = createBuffer(getNamedLoc(layer.getLoc()),
                          names.addPart(layerNames.lookup(layer), "_out"),
                          nn::getTensorType(whole), getPlace(whole));
  }
  return createView(loc, name, type, buffer,
                    place.getOffset() - getPlace(whole).getOffset());
}

Value ExecLowering::getPlaced(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return getWeight(op);
  return placed.lookup(value);
}

/// Returns an identifier made of the model's name of a constant. The key of its
/// resource contains that name, too, but ends in a number if passes made
/// several resources of one weight.
std::string ExecLowering::nameWeight(nn::ConstantOp constant) {
  StringRef name = nn::getModelName(constant.getLoc());
  if (auto blob = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
      blob && name.empty())
    name = blob.getRawHandle().getKey();
  auto [reader, end] = nameRole(constant);
  // A constant that passes created has no name, or that of its layer.
  std::string layer = layerNames.lookup(reader);
  if (!layer.empty() &&
      (name.empty() || name == nn::getModelName(reader->getLoc())))
    return names.addPart(layer, end);
  // Some exporters give a weight the name of its layer or of another tensor.
  std::string made = exec::makeIdentifier(name, "weight");
  return names.isTaken(made) && made != "weight" ? names.addPart(made, end)
                                                 : names.add(name, "weight");
}

Value ExecLowering::getWeight(Operation *op) {
  auto constant = cast<nn::ConstantOp>(op);
  RankedTensorType type = constant.getY().getType();
  Value &weight = weights[{constant.getValue(), type}];
  if (weight)
    return weight;
  OpBuilder::InsertionGuard guard(builder);
  if (outermost)
    builder.setInsertionPoint(outermost);
  PlaceAttr place = getPlace(constant);
  int64_t &end = weightBytes[place.getIndex()];
  weight = builder.create<exec::WeightOp>(
      getNamedLoc(op->getLoc()), builder.getType<exec::PlaceType>(),
      nameWeight(constant), type, end, constant.getValue(), /*encoded=*/false,
      getMemory(place));
  int64_t bytes = nn::getPhysicalBytes(type);
  for (OpOperand &use : op->getUses())
    if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>())
      bytes =
          std::max(bytes, getReadBytes(use.getOwner(), use.getOperandNumber()));
  end += llvm::alignTo(bytes, program.getAlign());
  return weight;
}
