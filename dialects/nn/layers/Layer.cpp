//===- Layer.cpp - nn.layer -----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/layers/Layer.h"
#include "dialects/nn/layouts/AxisOrder.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

Operation *LayerOp::getAnchorOp() {
  return getAnchor().empty() ? nullptr : &getAnchor().front().front();
}

static nn::YieldOp getYield(Region &region) {
  return cast<nn::YieldOp>(region.front().getTerminator());
}

bool LayerOp::hasEmptyEpilogue() {
  Block &block = getEpilogue().front();
  return getAnchorOp() && block.getOperations().size() == 1 &&
         getYield(getEpilogue()).getValue() == block.getArgument(0);
}

std::optional<int64_t> LayerOp::getChannelAxis() {
  if (auto anchor = dyn_cast_or_null<RoutineOpInterface>(getAnchorOp()))
    return anchor.getChannelAxis();
  return std::nullopt;
}

ExtraKind LayerOp::getExtraKind(unsigned i) {
  auto type = cast<RankedTensorType>(getExtras()[i].getType());
  return nn::getExtraKind(type.getShape(), getY().getType().getShape(),
                          getChannelAxis());
}

LogicalResult LayerOp::verify() {
  if (!getEpilogue().hasOneBlock() || getEpilogue().front().empty())
    return emitOpError("needs an epilogue of one block");
  if (!getAnchor().empty() && !getAnchor().hasOneBlock())
    return emitOpError("needs an anchor of one block, or none");
  SmallVector<Type> scalars;
  if (!getAnchor().empty()) {
    Block &block = getAnchor().front();
    if (!haveSameLogicalTypes(block.getArgumentTypes(), getInputs().getTypes()))
      return emitOpError("has an anchor whose arguments are not its inputs");
    if (block.getOperations().size() != 2 || !isa<YieldOp>(block.back()) ||
        !isa<RoutineOpInterface>(block.front()))
      return emitOpError("needs an anchor of one op that a routine computes");
    auto type =
        cast<RankedTensorType>(getYield(getAnchor()).getValue().getType());
    if (type.getShape() != getY().getType().getShape())
      return emitOpError("has an anchor of another shape, ") << type;
    scalars.push_back(type.getElementType());
  } else if (!getInputs().empty()) {
    return emitOpError("has inputs but no anchor");
  }
  for (Type type : getExtras().getTypes())
    scalars.push_back(cast<RankedTensorType>(type).getElementType());
  if (getEpilogue().front().getArgumentTypes() != TypeRange(scalars))
    return emitOpError("has an epilogue whose arguments are not the element "
                       "types of anchor and extras");
  auto yield = dyn_cast<YieldOp>(getEpilogue().front().getTerminator());
  if (!yield || yield.getValue().getType() != getY().getType().getElementType())
    return emitOpError("has an epilogue that does not yield an element of ")
           << getY().getType();
  for (Operation &op : getEpilogue().front().without_terminator())
    if (!isa<ElementwiseOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError("is not elementwise and stands in an epilogue");
  SmallVector<ArrayRef<int64_t>> shapes = {getY().getType().getShape()};
  for (Type type : getExtras().getTypes())
    shapes.push_back(cast<RankedTensorType>(type).getShape());
  auto shape = broadcastShapes(shapes);
  if (!shape || ArrayRef<int64_t>(*shape) != shapes[0])
    return emitOpError("has extras that do not broadcast to its result");
  for (unsigned i = 0; getAnchorOp() && i < getExtras().size(); ++i)
    if (getExtraKind(i) == ExtraKind::Broadcast)
      return emitOpError("has an extra of ")
             << getExtras()[i].getType()
             << ", which is neither full nor one value a channel nor one value";
  // The strides of an elementwise call can tell any order of axes.
  auto isOrdered = [&](Type type) {
    return !getAnchorOp() && onlyOrdersAxes(getY().getType()) &&
           onlyOrdersAxes(cast<RankedTensorType>(type));
  };
  for (Type type : getExtras().getTypes())
    if (getLayout(type) && getLayout(type) != getLayout(getY().getType()) &&
        !isOrdered(type))
      return emitOpError("has an extra in layout ")
             << getLayoutName(type) << " and a result in layout "
             << getLayoutName(getY().getType());
  for (Type type : getOperandTypes())
    if (getDevice(type) != getDevice(getY().getType()))
      return emitOpError("has an operand of ")
             << type << " and a result of " << getY().getType()
             << ", which is on another device; nn.adapt moves a tensor";
  return success();
}

SmallVector<RoutineCall> LayerOp::getRoutineCalls() {
  SmallVector<RankedTensorType> operands;
  for (Type type : getOperandTypes())
    operands.push_back(cast<RankedTensorType>(type));
  return getRoutineCallsOn(operands, getY().getType());
}

SmallVector<RoutineCall>
LayerOp::getRoutineCallsOn(ArrayRef<RankedTensorType> operands,
                           RankedTensorType result) {
  if (auto anchor = dyn_cast_or_null<RoutineOpInterface>(getAnchorOp()))
    return anchor.getRoutineCallsOn(operands.take_front(getInputs().size()),
                                    result);
  SmallVector<Type> types(operands.begin(), operands.end());
  return {getElementwiseCall(result, types)};
}

Work LayerOp::getWork() {
  Work work = bytesOnly(*this);
  if (auto anchor = dyn_cast_or_null<CostOpInterface>(getAnchorOp())) {
    Work inner = anchor.getWork();
    work.multiplyAdds = inner.multiplyAdds;
    work.operations = inner.operations;
  }
  int64_t perElement = llvm::count_if(getEpilogue().front(), [](Operation &op) {
    return isa<ElementwiseOpInterface>(op);
  });
  work.operations += perElement * getY().getType().getNumElements();
  return work;
}

SmallVector<RoutineCall> nn::getRoutineCalls(Operation *op) {
  if (auto layer = dyn_cast<LayerOp>(op))
    return layer.getRoutineCalls();
  if (auto routine = dyn_cast<RoutineOpInterface>(op))
    return routine.getRoutineCalls();
  return {};
}

Type nn::getReadElement(LayerOp layer, unsigned operand) {
  const unsigned inputs = layer.getInputs().size();
  if (operand < inputs)
    return getTensorType(layer.getAnchor().getArgument(operand))
        .getElementType();
  return layer.getEpilogue()
      .getArgument(operand - inputs + (layer.getAnchorOp() ? 1 : 0))
      .getType();
}

LayerOp
nn::createAnchorLayer(OpBuilder &builder, Location loc, StringRef name,
                      RankedTensorType result, ValueRange inputs,
                      llvm::function_ref<Value(ValueRange)> makeAnchor) {
  auto layer = builder.create<LayerOp>(loc, result, name, inputs, ValueRange(),
                                       nullptr, nullptr);
  OpBuilder::InsertionGuard guard(builder);
  Block &anchor = layer.getAnchor().emplaceBlock(),
        &epilogue = layer.getEpilogue().emplaceBlock();
  for (Value input : inputs)
    anchor.addArgument(getLogicalType(cast<RankedTensorType>(input.getType())),
                       loc);
  builder.setInsertionPointToStart(&anchor);
  builder.create<YieldOp>(loc, makeAnchor(anchor.getArguments()));
  builder.setInsertionPointToStart(&epilogue);
  builder.create<YieldOp>(loc,
                          epilogue.addArgument(result.getElementType(), loc));
  return layer;
}
