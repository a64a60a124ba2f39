//===- LowerToExec.cpp - A planned function as an exec program ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The pass makes no decisions: places come from nnc-plan-memory, routines from
// nnc-choose-routines, expressions from the layers. It names values and layers,
// assigns offsets to weights, and drops the moves whose bytes are in place.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/VerifyMemory.h"
#include "compiler/routines/Candidates.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/qnn/Port.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/StringExtras.h"

#include <numeric>

namespace nnc {
#define GEN_PASS_DEF_LOWERTOEXEC
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;
using exec::Pool;

/// Returns the suffix of an adapted value's name: its layout, or the device
/// that it was moved to.
static std::string getAdaptSuffix(nn::AdaptOp adapt) {
  Type type = adapt.getY().getType();
  if (!adapt.isTransfer())
    return "_" + StringRef(nn::getLayoutName(type)).lower();
  StringRef device = nn::getDevice(type);
  return ("_on_" + (device.empty() ? "host" : device)).str();
}

/// Returns the place of `value` in the arena or in the caller's memory, with
/// the type of `value`. `name` returns the identifier for a buffer or view if
/// one has to be created.
Value ExecLowering::placeValue(Location loc,
                               llvm::function_ref<std::string()> name,
                               Value value) {
  PlaceAttr place = getPlace(value);
  RankedTensorType type = nn::getTensorType(value);
  if (place.getPool() == Pool::arena)
    return createInArena(loc, name(), value);
  Value whole = place.getPool() == Pool::state ? states[place.getIndex()]
                                               : outputs[place.getIndex()];
  if (place.getOffset() == 0 && exec::getPlaceOp(whole).getTensor() == type)
    return whole;
  return createView(loc, name(), type, whole, place.getOffset());
}

LogicalResult ExecLowering::lower(Operation *op) {
  if (auto branch = dyn_cast<nn::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<nn::LoopOp>(op))
    return lowerLoop(loop);
  Value result = op->getResult(0);
  Location loc = getNamedLoc(op->getLoc());
  std::string layer = layerNames.lookup(op);
  auto adapt = dyn_cast<nn::AdaptOp>(op);
  auto name = [&]() {
    if (!layer.empty())
      return names.addPart(layer, "_out");
    return names.addPart(
        exec::getPlaceOp(getPlaced(op->getOperand(0))).getName(),
        adapt                   ? getAdaptSuffix(adapt)
        : isa<nn::DecodeOp>(op) ? "_dense"
                                : "_view");
  };

  measure(op);
  // A result that is part of an operand becomes a view without steps.
  ArrayRef<Move> moves = contents.getMoves(op);
  if (moves.size() == 1 && moves[0].target == 0 && staysInPlace(op, moves[0])) {
    placed[result] = createView(loc, name(), nn::getTensorType(result),
                                getPlaced(op->getOperand(moves[0].operand)),
                                moves[0].source);
    return success();
  }

  Value target = placeValue(loc, name, result);
  placed[result] = target;
  if (auto custom = dyn_cast<nn::CustomOp>(op))
    return lowerCustom(custom, target);
  if (adapt && adapt.isTransfer()) {
    std::string step = "transfer_" + exec::getPlaceOp(target).getName().str();
    builder.create<exec::TransferOp>(loc, step, getPlaced(adapt.getX()),
                                     target);
    return success();
  }
  return lowerCalls(op, moves, target);
}

StringAttr ExecLowering::getFoundSize(Attribute number) {
  auto index = dyn_cast_or_null<IntegerAttr>(number);
  if (!index)
    return {};
  SmallVector<exec::SizeAttr> found;
  for (auto size : program.getSizes().getAsRange<exec::SizeAttr>())
    if (size.getFound())
      found.push_back(size);
  return size_t(index.getInt()) < found.size()
             ? builder.getStringAttr(found[index.getInt()].getName())
             : StringAttr();
}

void ExecLowering::measure(Operation *op) {
  auto layer = dyn_cast<nn::LayerOp>(op);
  if (!layer)
    return;
  layer.walk([&](nn::PrefixOp prefix) {
    StringAttr size = getFoundSize(prefix.getSizeAttr());
    auto count = dyn_cast<BlockArgument>(prefix.getCount());
    if (size && count && measured.insert(size).second)
      builder.create<exec::MeasureOp>(
          op->getLoc(), size,
          getPlaced(layer.getOperand(count.getArgNumber())));
  });
}

/// Copies the results that were not computed at their final places.
LogicalResult ExecLowering::finish(func::ReturnOp end) {
  for (unsigned i : getFinishOrder(function)) {
    Value result = end.getOperand(i);
    if (nn::getLayout(result.getType()))
      return end.emitOpError() << "gives result " << i << " in layout "
                               << nn::getLayoutName(result.getType())
                               << "; results are row-major";
    if (getPlace(result) == getFinalPlace(function, i))
      continue;
    if (nn::getTensorType(result).getNumElements() == 0)
      continue; // Tensors without elements need no copy.
    std::string name = "copy_" + exec::getPlaceOp(outputs[i]).getName().str();
    builder.create<exec::CopyOp>(end.getLoc(), name, getPlaced(result),
                                 outputs[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// Renames the body of a branch or loop that has the name `name` of the
/// program, since lookups would find the program instead of the body.
LogicalResult ExecLowering::freeSymbol(StringRef name) {
  auto body = module.lookupSymbol<func::FuncOp>(name);
  if (!body || body == function)
    return success();
  SymbolTable symbols(module);
  return symbols.renameToUnique(body, {});
}

exec::ProgramOp ExecLowering::createProgram(StringRef name) {
  auto getBytes = [&](StringRef attribute) {
    auto bytes = function->getAttrOfType<IntegerAttr>(attribute);
    return bytes ? bytes.getInt() : 0;
  };
  int64_t arena = getBytes(exec::kArenaAttr);
  int64_t bound = getBytes(exec::kLowerBoundAttr);
  auto created = builder.create<exec::ProgramOp>(
      function.getLoc(), name, arena, bound, getProgramAlign(function), 0);
  if (auto machine =
          module->getAttrOfType<target::MachineAttr>(target::kTargetAttr))
    setMachine(created, machine);
  created.setHostPorts(function->hasAttr(exec::kHostPortsAttr));
  if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
    created.setMemoriesAttr(memories);
  weightBytes.resize(1);
  if (auto memories =
          function->getAttrOfType<ArrayAttr>(exec::kWeightMemoriesAttr)) {
    weightBytes.resize(memories.size());
    created.setWeightMemoriesAttr(memories);
  }
  if (auto sizes = function->getAttrOfType<ArrayAttr>(exec::kSizesAttr))
    created.setSizesAttr(sizes);
  created.setModel(getText(module->getAttr(nn::kModelAttr)));
  created.setSha256(getText(module->getAttr(nn::kSha256Attr)));
  created.getBody().emplaceBlock();
  return created;
}

/// Records the number of bytes of all weights. If weights are divided among
/// memories, each memory in use also holds a header.
void ExecLowering::setWeightBytes() {
  program.setWeights(
      std::accumulate(weightBytes.begin(), weightBytes.end(), int64_t(0)));
  if (program.getWeightMemories().empty())
    return;
  SmallVector<Attribute> memories;
  for (auto [memory, bytes] : llvm::zip_equal(
           program.getWeightMemories().getAsRange<exec::MemoryAttr>(),
           weightBytes))
    memories.push_back(memory.withBytes(
        bytes ? bytes + exec::getWeightsHeaderBytes(program.getAlign()) : 0));
  program.setWeightMemoriesAttr(builder.getArrayAttr(memories));
}

LogicalResult ExecLowering::run() {
  // A user may have edited routines and places.
  auto machine =
      module->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  bool isChecked = !function->hasAttr(exec::kSampleAttr);
  for (func::FuncOp each : nn::getAllBodies(function))
    if (failed(checkRoutines(each, machine)))
      return failure();
  if (isChecked && failed(verifyMemory(function)))
    return failure();
  builder.setInsertionPoint(function);
  StringRef model = getText(module->getAttr(nn::kModelAttr));
  const std::string name = exec::findModuleNameProblem(model).empty()
                               ? model.str()
                               : exec::makeModuleName(model);
  if (failed(freeSymbol(name)))
    return failure();
  program = createProgram(name);
  builder.setInsertionPointToEnd(&program.getBody().front());
  interface = nameInterface(function);
  declareInputs();
  declareOutputs();
  for (BlockArgument argument : function.getArguments()) {
    PlaceAttr place = getPlace(argument);
    auto input = placed[argument].getDefiningOp<exec::InputOp>();
    if (place.getPool() != Pool::arena || (input && input.getOffset()))
      continue;
    std::string name =
        names.addPart(exec::getPlaceOp(placed[argument]).getName(), "_staged");
    Value buffer = createInArena(argument.getLoc(), name, argument);
    builder.create<exec::CopyOp>(argument.getLoc(), "copy_" + name,
                                 placed[argument], buffer);
    placed[argument] = buffer;
  }
  if (failed(lower(function)) ||
      failed(finish(
          cast<func::ReturnOp>(function.getBody().front().getTerminator()))))
    return failure();
  for (exec::ViewOp view :
       llvm::make_early_inc_range(program.getBody().getOps<exec::ViewOp>()))
    if (view->use_empty())
      view.erase();
  setWeightBytes();
  reserveCounters(program);
  addWaits(program);
  prepareExpressions(program);
  return success();
}

LogicalResult ExecLowering::lower(func::FuncOp each) {
  for (Operation &op : each.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>() && failed(lower(&op)))
      return failure();
  return success();
}

namespace {
struct LowerToExecPass : nnc::impl::LowerToExecBase<LowerToExecPass> {
  void runOnOperation() override {
    if (failed(nn::verifyBodies(getOperation())))
      return signalPassFailure();
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    SmallVector<func::FuncOp> mains;
    for (func::FuncOp function : functions)
      if (!function.isPrivate())
        mains.push_back(function);
    if (mains.size() != 1) {
      getOperation().emitError() << "needs one function, has " << mains.size();
      return signalPassFailure();
    }
    if (failed(ExecLowering(getOperation(), mains.front()).run()))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      function.erase();
  }
};
} // namespace
