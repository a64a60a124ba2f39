//===- LowerToExec.cpp - A planned function as an exec program ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Decides nothing: places come from nnc-plan-memory, routines from
// nnc-choose-routines, expressions from the layers. What is left is to name
// things, to lay out the weights, and to drop the moves that move nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Calls.h"
#include "compiler/passes/Memory.h"
#include "compiler/passes/Passes.h"
#include "compiler/schedule/Candidates.h"
#include "dialects/target/Target.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

namespace nnc {
#define GEN_PASS_DEF_LOWERTOEXEC
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;
using exec::Pool;

namespace {
class Lowering {
public:
  Lowering(ModuleOp module, func::FuncOp function)
      : module(module), function(function), builder(module.getContext()) {}
  LogicalResult run();

private:
  exec::ProgramOp createProgram(StringRef name);
  void declareInputs();
  void declareOutputs();
  Value getWeight(Operation *constant);
  LogicalResult lower(Operation *op);
  LogicalResult lowerCalls(Operation *op, ArrayRef<Move> moves, Value target);
  LogicalResult createCall(Operation *op, const nn::RoutineCall &call,
                           const nn::Work &work, StringRef name, Value target);
  LogicalResult finish(func::ReturnOp end);

  /// The place of `value`, which has been lowered before.
  Value getPlaced(Value value);
  Value createBuffer(Location loc, StringRef name, RankedTensorType type,
                     PlaceAttr place);
  Value createView(Location loc, StringRef name, RankedTensorType type,
                   Value base, int64_t offset);
  void shareCode(exec::CallOp call);

  ModuleOp module;
  func::FuncOp function;
  OpBuilder builder;
  exec::ProgramOp program;
  exec::Names names;
  int64_t weightBytes = 0;
  SmallVector<Value> outputs;
  DenseMap<Value, Value> placed;
  /// Weights that lie in the file already, by value and layout.
  DenseMap<std::pair<Attribute, Type>, Value> weights;
  DenseMap<std::pair<Attribute, Attribute>, SmallVector<exec::CallOp>> calls;
};
} // namespace

static std::string getLayoutSuffix(Value value) {
  return "_" + nn::getLayoutName(value.getType()).lower();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value Lowering::createBuffer(Location loc, StringRef name,
                             RankedTensorType type, PlaceAttr place) {
  return builder.create<exec::BufferOp>(loc, builder.getType<exec::PlaceType>(),
                                        names.add(name), type,
                                        place.getOffset());
}

Value Lowering::createView(Location loc, StringRef name, RankedTensorType type,
                           Value base, int64_t offset) {
  // Views of views are views of the whole: there is less to follow.
  if (auto view = base.getDefiningOp<exec::ViewOp>())
    return createView(loc, name, type, view.getBase(),
                      view.getOffset() + offset);
  return builder.create<exec::ViewOp>(loc, builder.getType<exec::PlaceType>(),
                                      names.add(name), type, base, offset);
}

Value Lowering::getPlaced(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return getWeight(op);
  return placed.lookup(value);
}

/// What the model calls a constant. A blob's key says it too, but gets a number
/// behind it where passes made several of one weight.
static std::string getWeightName(nn::ConstantOp constant) {
  if (StringRef name = nn::getModelName(constant.getLoc()); !name.empty())
    return name.str();
  if (auto blob = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    return blob.getRawHandle().getKey().str();
  return "weight";
}

Value Lowering::getWeight(Operation *op) {
  auto constant = cast<nn::ConstantOp>(op);
  RankedTensorType type = constant.getY().getType();
  Value &weight = weights[{constant.getValue(), type}];
  if (weight)
    return weight;
  OpBuilder::InsertionGuard guard(builder);
  weight = builder.create<exec::WeightOp>(
      getNamedLoc(op->getLoc()), builder.getType<exec::PlaceType>(),
      names.add(getWeightName(constant)), type, weightBytes,
      constant.getValue());
  int64_t bytes = nn::getPhysicalBytes(type);
  for (OpOperand &use : op->getUses())
    if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>())
      bytes =
          std::max(bytes, getReadBytes(use.getOwner(), use.getOperandNumber()));
  weightBytes += llvm::alignTo(bytes, kMemoryAlign);
  return weight;
}

static StringRef getText(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

/// The model's own name of an input or output, where C could not have it.
static StringAttr getPortName(StringRef given, StringRef name,
                              Builder &builder) {
  return given.empty() || given == name ? StringAttr()
                                        : builder.getStringAttr(given);
}

void Lowering::declareInputs() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    StringRef given = getText(function.getArgAttr(i, "nn.name"));
    std::string name = names.add(given.empty() ? "input" : given);
    auto input = builder.create<exec::InputOp>(
        argument.getLoc(), builder.getType<exec::PlaceType>(), name,
        nn::getTensorType(argument), getPortName(given, name, builder));
    placed[argument] = input;
  }
}

void Lowering::declareOutputs() {
  auto types = function.getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(types)) {
    StringRef given = getText(function.getResultAttr(i, "nn.name"));
    std::string name = names.add(given.empty() ? "output" : given);
    outputs.push_back(builder.create<exec::OutputOp>(
        function.getLoc(), builder.getType<exec::PlaceType>(), name,
        cast<RankedTensorType>(type), getPortName(given, name, builder)));
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls with the same code as an earlier one say so.
void Lowering::shareCode(exec::CallOp call) {
  auto &earlier = calls[{call.getRoutineAttr(), call.getShapeAttr()}];
  for (exec::CallOp other : earlier)
    if (call.isLike(other)) {
      call.setLike(other.getName());
      return;
    }
  earlier.push_back(call);
}

LogicalResult Lowering::createCall(Operation *op, const nn::RoutineCall &call,
                                   const nn::Work &work, StringRef name,
                                   Value target) {
  auto getOperandPlace = [&](unsigned operand) {
    return getPlaced(op->getOperand(operand));
  };
  // Weights stand in front of what is made for the call.
  for (unsigned operand : call.operands)
    if (!getOperandPlace(operand))
      return failure();
  std::string callName = names.addCall(name);
  Value scratch;
  if (auto place = op->getAttrOfType<PlaceAttr>(exec::kScratchAttr))
    scratch = createBuffer(
        op->getLoc(), callName + "_scratch",
        RankedTensorType::get({place.getBytes()},
                              builder.getIntegerType(8, /*isSigned=*/false)),
        place);
  auto lowered = createExecCall(builder, op, call, work, callName,
                                getOperandPlace, target, scratch);
  if (failed(lowered))
    return failure();
  shareCode(*lowered);
  return success();
}

/// All calls of `op`, without those that would move bytes to where they are.
LogicalResult Lowering::lowerCalls(Operation *op, ArrayRef<Move> moves,
                                   Value target) {
  SmallVector<nn::RoutineCall> calls = getCalls(op);
  if (calls.empty())
    return op->emitOpError("has no routine for the layouts of its operands");
  nn::Work work = cast<nn::CostOpInterface>(op).getWork();
  auto layer = dyn_cast<nn::LayerOp>(op);
  std::string name = layer ? layer.getName().str()
                           : exec::getPlaceOp(target).getName().str() + "_" +
                                 op->getName().stripDialect().str();
  for (auto [i, call] : llvm::enumerate(calls)) {
    if (!moves.empty()) {
      PlaceAttr from = getPlace(op->getOperand(moves[i].operand));
      PlaceAttr to = getPlace(op->getResult(0));
      if (from.getPool() == to.getPool() && from.getIndex() == to.getIndex() &&
          from.getOffset() + moves[i].source ==
              to.getOffset() + moves[i].target)
        continue;
    }
    std::string suffix = calls.size() == 1 ? "" : "_" + std::to_string(i + 1);
    if (failed(createCall(op, call, work, name + suffix, target)))
      return failure();
  }
  return success();
}

LogicalResult Lowering::lower(Operation *op) {
  Value result = op->getResult(0);
  PlaceAttr place = getPlace(result);
  auto layer = dyn_cast<nn::LayerOp>(op);
  Location loc = getNamedLoc(op->getLoc());
  std::string name;
  if (layer)
    name = layer.getName().str() + "_out";
  else
    name = exec::getPlaceOp(getPlaced(op->getOperand(0))).getName().str() +
           (isa<nn::AdaptOp>(op) ? getLayoutSuffix(result) : "_view");

  // A view of an operand: named, no more.
  SmallVector<Move> moves = getMoves(op);
  if (moves.size() == 1) {
    Value operand = op->getOperand(moves[0].operand);
    PlaceAttr from = getPlace(operand);
    if (moves[0].target == 0 && from.getPool() == place.getPool() &&
        from.getIndex() == place.getIndex() &&
        from.getOffset() + moves[0].source == place.getOffset()) {
      placed[result] = createView(loc, name, nn::getTensorType(result),
                                  getPlaced(operand), moves[0].source);
      return success();
    }
  }

  Value target;
  if (place.getPool() == Pool::arena) {
    target = createBuffer(loc, name, nn::getTensorType(result), place);
  } else {
    target = outputs[place.getIndex()];
    if (place.getOffset() != 0 ||
        exec::getPlaceOp(target).getTensor() != nn::getTensorType(result))
      target = createView(loc, name, nn::getTensorType(result), target,
                          place.getOffset());
  }
  placed[result] = target;
  return lowerCalls(op, moves, target);
}

/// Results that were not produced where the caller wants them are copied.
LogicalResult Lowering::finish(func::ReturnOp end) {
  for (OpOperand &result : end->getOpOperands()) {
    unsigned i = result.getOperandNumber();
    if (nn::getLayout(result.get().getType()))
      return end.emitOpError() << "gives result " << i << " in layout "
                               << nn::getLayoutName(result.get().getType())
                               << "; results are row-major";
    PlaceAttr place = getPlace(result.get());
    if (place.getPool() == Pool::output && place.getIndex() == i &&
        place.getOffset() == 0)
      continue;
    std::string name = "copy_" + exec::getPlaceOp(outputs[i]).getName().str();
    builder.create<exec::CopyOp>(end.getLoc(), name, getPlaced(result.get()),
                                 outputs[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

exec::ProgramOp Lowering::createProgram(StringRef name) {
  auto getBytes = [&](StringRef attribute) {
    auto bytes = function->getAttrOfType<IntegerAttr>(attribute);
    return bytes ? bytes.getInt() : 0;
  };
  int64_t arena = getBytes(exec::kArenaAttr);
  int64_t bound = getBytes(exec::kLowerBoundAttr);
  auto created = builder.create<exec::ProgramOp>(
      function.getLoc(), names.add(name), arena, bound, kMemoryAlign, 0);
  if (auto machine =
          module->getAttrOfType<target::MachineAttr>(target::kTargetAttr))
    setMachine(created, machine);
  // What <name>.h defines.
  for (StringRef end : {"_ALIGN", "_ARENA_BYTES", "_H", "_WEIGHT_BYTES"})
    names.add((created.getSymName().upper() + end).str());
  created.setModel(getText(module->getAttr("nn.model")));
  created.setSha256(getText(module->getAttr("nn.sha256")));
  created.getBody().emplaceBlock();
  return created;
}

LogicalResult Lowering::run() {
  // Routines and places may have been edited.
  auto machine =
      module->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  if (failed(checkRoutines(function, machine)) ||
      failed(verifyMemory(function)))
    return failure();
  builder.setInsertionPoint(function);
  StringRef model = getText(module->getAttr("nn.model"));
  program = createProgram(model.empty() ? "model" : model);
  builder.setInsertionPointToEnd(&program.getBody().front());
  declareInputs();
  declareOutputs();
  for (BlockArgument argument : function.getArguments()) {
    PlaceAttr place = getPlace(argument);
    if (place.getPool() != Pool::arena)
      continue;
    std::string name =
        exec::getPlaceOp(placed[argument]).getName().str() + "_staged";
    Value buffer = createBuffer(argument.getLoc(), name,
                                nn::getTensorType(argument), place);
    builder.create<exec::CopyOp>(argument.getLoc(), "copy_" + name,
                                 placed[argument], buffer);
    placed[argument] = buffer;
  }
  for (Operation &op : function.getBody().front()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    LogicalResult lowered =
        isa<func::ReturnOp>(op) ? finish(cast<func::ReturnOp>(op)) : lower(&op);
    if (failed(lowered))
      return failure();
  }
  for (exec::ViewOp view :
       llvm::make_early_inc_range(program.getBody().getOps<exec::ViewOp>()))
    if (view->use_empty())
      view.erase();
  program.setWeights(weightBytes);
  collectHeaders(program);
  function.erase();
  return success();
}

namespace {
struct LowerToExecPass : nnc::impl::LowerToExecBase<LowerToExecPass> {
  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    if (functions.size() != 1) {
      getOperation().emitError()
          << "needs one function, has " << functions.size();
      return signalPassFailure();
    }
    if (failed(Lowering(getOperation(), functions.front()).run()))
      signalPassFailure();
  }
};
} // namespace
