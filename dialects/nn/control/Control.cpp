//===- Control.cpp - nn.if, nn.loop ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/control/Control.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

SmallVector<func::FuncOp> nn::getBodies(Operation *op) {
  SmallVector<func::FuncOp> bodies;
  if (auto control = dyn_cast<ControlOpInterface>(op))
    for (FlatSymbolRefAttr name : control.getBodies())
      if (auto body =
              SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name))
        bodies.push_back(body);
  return bodies;
}

SmallVector<func::FuncOp> nn::getAllBodies(func::FuncOp function) {
  llvm::SetVector<func::FuncOp> all;
  all.insert(function);
  for (size_t i = 0; i < all.size(); ++i)
    for (Operation &op : func::FuncOp(all[i]).getOps())
      for (func::FuncOp body : getBodies(&op))
        all.insert(body);
  return all.takeVector();
}

LogicalResult nn::verifyBodies(ModuleOp module) {
  DenseSet<StringAttr> run;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getOps())
      if (auto control = dyn_cast<ControlOpInterface>(op))
        for (FlatSymbolRefAttr body : control.getBodies())
          if (!run.insert(body.getAttr()).second)
            return op.emitOpError()
                   << "runs " << body
                   << ", which is run in another place, too; give each of them "
                      "a function of its own";
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks that `name` is a private function that `op` may run, with the
/// argument types `arguments` and the result types `results`.
static LogicalResult verifyBody(Operation *op, SymbolTableCollection &symbols,
                                FlatSymbolRefAttr name, TypeRange arguments,
                                TypeRange results) {
  auto body = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!body || body.isExternal() || !body.isPrivate())
    return op->emitOpError()
           << "runs " << name << ", which is no private function with a body";
  auto given = FunctionType::get(op->getContext(), arguments, results);
  if (body.getFunctionType() != given)
    return op->emitOpError() << "runs " << name << " as a function of type "
                             << given << "; it is a " << body.getFunctionType();
  return success();
}

/// Returns true if `type` is a tensor with one element of type `element`.
static bool isOne(Type type, Type element) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getElementType() == element && tensor.getNumElements() == 1;
}

//===----------------------------------------------------------------------===//
// nn.if
//===----------------------------------------------------------------------===//

SmallVector<FlatSymbolRefAttr> nn::IfOp::getBodies() {
  return {getThenBodyAttr(), getElseBodyAttr()};
}

OperandRange nn::IfOp::getCaptured() { return getXs(); }

LogicalResult nn::IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!isOne(getCondition().getType(), IntegerType::get(getContext(), 1)))
    return emitOpError("needs a condition of one bool, has ")
           << getCondition().getType();
  for (FlatSymbolRefAttr body : getBodies())
    if (failed(verifyBody(*this, symbols, body, getXs().getTypes(),
                          getYs().getTypes())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// nn.loop
//===----------------------------------------------------------------------===//

SmallVector<FlatSymbolRefAttr> nn::LoopOp::getBodies() {
  return {getBodyAttr()};
}

OperandRange nn::LoopOp::getCaptured() { return getXs(); }

LogicalResult nn::LoopOp::verify() {
  Builder builder(getContext());
  if (static_cast<int64_t>(getMax()) < 1)
    return emitOpError("needs to run at least once at most");
  if (getCount() && !isOne(getCount().getType(), builder.getI64Type()))
    return emitOpError("needs a count of one i64, has ")
           << getCount().getType();
  if (getConditional() &&
      (getInits().empty() ||
       !isOne(getInits().front().getType(), builder.getI1Type())))
    return emitOpError("is conditional and needs one bool as its first "
                       "carried value");
  if (getYs().size() < getInits().size())
    return emitOpError("carries ") << getInits().size() << " values, but has "
                                   << getYs().size() << " results";
  for (auto [init, last] : llvm::zip(getInits(), getLast()))
    if (init.getType() != last.getType())
      return emitOpError("carries a ")
             << init.getType() << ", which becomes a " << last.getType();
  for (Value collected : getCollected()) {
    auto type = cast<RankedTensorType>(collected.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != int64_t(getMax()))
      return emitOpError("runs ")
             << getMax() << " times, but collects a " << type;
  }
  return success();
}

LogicalResult nn::LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SmallVector<Type> arguments = {
      RankedTensorType::get({}, IntegerType::get(getContext(), 64))};
  llvm::append_range(arguments, getInits().getTypes());
  llvm::append_range(arguments, getXs().getTypes());
  SmallVector<Type> results(getInits().getTypes());
  for (Value collected : getCollected()) {
    auto type = cast<RankedTensorType>(collected.getType());
    results.push_back(RankedTensorType::get(type.getShape().drop_front(),
                                            type.getElementType()));
  }
  return verifyBody(*this, symbols, getBodyAttr(), arguments, results);
}

//===----------------------------------------------------------------------===//
// nn.sample
//===----------------------------------------------------------------------===//

LogicalResult SampleOp::verifyRegions() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<ModuleOp>(block.front()))
    return emitOpError("holds one module, the network at these sizes");
  return success();
}

ModuleOp SampleOp::getNetwork() {
  return cast<ModuleOp>(getBody().front().front());
}
