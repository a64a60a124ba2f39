//===- ExecControl.cpp - Branches and loops in an exec program ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;

void ExecLowering::placeValues(Operation *op, ValueRange values,
                               StringRef end) {
  Location loc = getNamedLoc(op->getLoc());
  auto name = [&]() { return names.addPart(layerNames.lookup(op), end); };
  for (Value value : values)
    placed[value] = placeValue(loc, name, value);
}

void ExecLowering::createCopy(Location loc, Value from, Value to, bool byRun) {
  // Tensors without elements need no copy.
  if (nn::getPhysicalBytes(exec::getPlaceOp(from).getTensor()) == 0)
    return;
  std::string name = "copy_" + exec::getPlaceOp(to).getName().str();
  builder.create<exec::CopyOp>(loc, name, from, to, byRun);
}

void ExecLowering::copyTo(Location loc, Value value, Value place, PlaceAttr at,
                          bool byRun) {
  if (byRun || getPlace(value) != at)
    createCopy(loc, getPlaced(value), place, byRun);
}

/// Adds the steps of `body`, a function that `op` runs, to `steps`, followed by
/// the steps that `finish` creates.
LogicalResult
ExecLowering::lowerBody(Operation *op, func::FuncOp body, Block &steps,
                        llvm::function_ref<LogicalResult()> finish) {
  OperandRange captured = cast<nn::ControlOpInterface>(op).getCaptured();
  for (auto [argument, operand] : llvm::zip_equal(
           body.getArguments().take_back(captured.size()), captured))
    placed[argument] = getPlaced(operand);
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore save(outermost);
  if (!outermost)
    outermost = steps.getParentOp();
  builder.setInsertionPointToEnd(&steps);
  if (failed(lower(body)))
    return failure();
  for (Value result : body.getBody().front().getTerminator()->getOperands())
    if (nn::getLayout(result.getType()))
      return op->emitOpError("runs a function with results that are not "
                             "row-major");
  return finish();
}

LogicalResult ExecLowering::lowerIf(nn::IfOp op) {
  Location loc = getNamedLoc(op.getLoc());
  placeValues(op, op.getYs(), "_out");
  // Defines constants that a body captures in front of the branch.
  for (Value x : op.getXs())
    getPlaced(x);
  auto branch = builder.create<exec::BranchOp>(loc, layerNames.lookup(op),
                                               getPlaced(op.getCondition()));
  for (auto [body, region] :
       llvm::zip_equal(nn::getBodies(op), branch->getRegions())) {
    ValueRange results = body.getBody().front().getTerminator()->getOperands();
    auto finish = [&]() {
      for (auto [result, y] : llvm::zip_equal(results, op.getYs()))
        copyTo(loc, result, placed[y], getPlace(y));
      return success();
    };
    if (failed(lowerBody(op, body, region.emplaceBlock(), finish)))
      return failure();
  }
  return success();
}

LogicalResult ExecLowering::lowerLoop(nn::LoopOp op) {
  Location loc = getNamedLoc(op.getLoc());
  func::FuncOp body = nn::getBodies(op).front();
  Operation *end = body.getBody().front().getTerminator();
  ValueRange carried =
      ValueRange(body.getArguments()).slice(1, op.getInits().size());
  placeValues(op, op.getYs(), "_out");
  // A carried value has the place of the loop's result, to which its initial
  // value is copied.
  for (auto [argument, y, init] :
       llvm::zip_equal(carried, op.getLast(), op.getInits())) {
    Value place = placed.lookup(y);
    placed[argument] = place;
    copyTo(loc, init, place, getPlace(y));
  }
  for (Value x : op.getXs())
    getPlaced(x);
  BlockArgument run = body.getArgument(0);
  if (!run.use_empty())
    placeValues(op, run, "_run");
  auto scratch = end->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  Value exchange =
      scratch ? createScratch(end, layerNames.lookup(op)) : Value();
  auto steps = builder.create<exec::LoopOp>(
      loc, layerNames.lookup(op), op.getMax(),
      op.getCount() ? getPlaced(op.getCount()) : Value(),
      op.getConditional() ? placed[op.getLast().front()] : Value(),
      placed.lookup(run), AffineMapAttr());
  auto finish = [&]() {
    ValueRange next = end->getOperands();
    for (auto [value, y] :
         llvm::zip_equal(next.drop_front(carried.size()), op.getCollected()))
      copyTo(loc, value, placed[y], getPlace(y), /*byRun=*/true);
    SmallVector<unsigned> exchanged = getExchanged(op, end, contents);
    SmallVector<int64_t> offsets = getExchangeOffsets(end, exchanged);
    DenseMap<unsigned, Value> kept;
    for (auto [i, offset] : llvm::zip(exchanged, offsets)) {
      std::string name = names.addPart(layerNames.lookup(op), "_kept");
      kept[i] =
          createView(loc, name, nn::getTensorType(next[i]), exchange, offset);
      createCopy(loc, getPlaced(next[i]), kept[i]);
    }
    for (auto [i, y] : llvm::enumerate(op.getLast()))
      if (!kept.contains(i))
        copyTo(loc, next[i], placed[y], getPlace(y));
    for (unsigned i : exchanged)
      createCopy(loc, kept[i], placed[op.getLast()[i]]);
    return success();
  };
  return lowerBody(op, body, steps.getSteps().emplaceBlock(), finish);
}
