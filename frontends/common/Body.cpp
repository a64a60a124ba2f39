//===- Body.cpp - A subgraph as a function of its own ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"

#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Returns `name`, with a number appended if the module already has that name.
static std::string makeUnique(ModuleOp module, StringRef name) {
  std::string unique = name.str();
  for (int i = 2; SymbolTable::lookupSymbolIn(module, unique); ++i)
    unique = name.str() + "_" + std::to_string(i);
  return unique;
}

Body::Body(OpBuilder &builder, StringRef name, Location loc)
    : builder(builder), outside(builder.saveInsertionPoint()) {
  auto module = outside.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
  function = end.create<func::FuncOp>(loc, makeUnique(module, name),
                                      builder.getFunctionType({}, {}));
  function.setPrivate();
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

Value Body::addArgument(Type type) {
  return getBlock().addArgument(type, function.getLoc());
}

Value Body::capture(Value value) {
  Value &known = inside[value];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return known = builder.clone(*op)->getResult(0);
  // A value of a type that exists only during the import is a cast of other
  // values.
  if (auto cast = dyn_cast_or_null<UnrealizedConversionCastOp>(op)) {
    SmallVector<Value> operands;
    for (Value operand : cast.getOperands())
      operands.push_back(capture(operand));
    auto copy = builder.create<UnrealizedConversionCastOp>(
        cast.getLoc(), value.getType(), operands);
    return inside[value] = copy.getResult(0);
  }
  captured.push_back(value);
  return known = addArgument(value.getType());
}

void Body::dropUnread() {
  unsigned first = getBlock().getNumArguments() - captured.size();
  SmallVector<Value> read;
  for (auto [value, argument] :
       llvm::zip_equal(captured, getBlock().getArguments().drop_front(first)))
    if (!argument.use_empty())
      read.push_back(value);
  setCaptured(read);
}

void Body::setCaptured(ArrayRef<Value> values) {
  unsigned first = getBlock().getNumArguments() - captured.size();
  SmallVector<Value> given(values);
  for (Value value : given) {
    Value argument = addArgument(value.getType());
    const auto *old = llvm::find(captured, value);
    if (old != captured.end())
      getBlock()
          .getArgument(first + (old - captured.begin()))
          .replaceAllUsesWith(argument);
  }
  getBlock().eraseArguments(first, captured.size());
  captured = std::move(given);
  function.setType(builder.getFunctionType(getBlock().getArgumentTypes(),
                                           function.getResultTypes()));
}

void Body::setOutside() { builder.restoreInsertionPoint(outside); }

void Body::finish(ValueRange results) {
  builder.setInsertionPointToEnd(&getBlock());
  builder.create<func::ReturnOp>(function.getLoc(), results);
  function.setType(builder.getFunctionType(getBlock().getArgumentTypes(),
                                           results.getTypes()));
  setOutside();
}

/// Returns the value outside of `body` that is its result `i`, or null if the
/// body computes it.
static Value getOutside(OpBuilder &builder, Body &body, unsigned i) {
  Value result = body.getBlock().getTerminator()->getOperand(i);
  if (auto argument = dyn_cast<BlockArgument>(result))
    return body.getCaptured()[argument.getArgNumber()];
  auto constant = result.getDefiningOp<nn::ConstantOp>();
  return constant ? builder.clone(*constant)->getResult(0) : Value();
}

SmallVector<Value> nnc::frontends::createIf(OpBuilder &builder, Location loc,
                                            Value condition, Body &thenBody,
                                            Body &elseBody) {
  unsigned count = thenBody.getFunction().getNumResults();
  SmallVector<std::pair<Value, Value>> outside;
  for (unsigned i = 0; i < count; ++i)
    outside.push_back(
        {getOutside(builder, thenBody, i), getOutside(builder, elseBody, i)});
  SmallVector<Value> results;
  if (llvm::all_of(outside,
                   [](auto pair) { return pair.first && pair.second; })) {
    for (auto [a, b] : outside)
      results.push_back(
          a == b ? a : builder.create<nn::SelectOp>(loc, condition, a, b));
    thenBody.erase();
    elseBody.erase();
    return results;
  }
  llvm::SetVector<Value> captured(thenBody.getCaptured().begin(),
                                  thenBody.getCaptured().end());
  captured.insert(elseBody.getCaptured().begin(), elseBody.getCaptured().end());
  thenBody.setCaptured(captured.getArrayRef());
  elseBody.setCaptured(captured.getArrayRef());
  auto branch = builder.create<nn::IfOp>(
      loc, thenBody.getFunction().getResultTypes(), condition,
      captured.getArrayRef(), thenBody.getFunction().getSymName(),
      elseBody.getFunction().getSymName());
  llvm::append_range(results, branch.getYs());
  return results;
}

void Body::erase() {
  setOutside();
  function.erase();
}
