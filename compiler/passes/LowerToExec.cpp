//===- LowerToExec.cpp - A planned function as an exec program ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Decides nothing: places come from nnc-plan-memory, routines from
// nnc-choose-routines, expressions from the layers. What is left is to name
// things, to lay out the weights, and to drop the moves that move nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Contents.h"
#include "compiler/passes/InterfaceNames.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/VerifyMemory.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/ExecCall.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/nn/Control.h"
#include "dialects/nn/State.h"
#include "dialects/qnn/Port.h"
#include "dialects/target/Target.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

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
      : module(module), function(function), contents(function),
        builder(module.getContext()) {}
  LogicalResult run();

private:
  LogicalResult freeSymbol(StringRef name);
  exec::ProgramOp createProgram(StringRef name);
  /// The memory that a place in the arena or a weight is in; null if there is
  /// only one.
  StringAttr getMemory(PlaceAttr place);
  void declareInputs();
  void declareOutputs();
  std::string nameWeight(nn::ConstantOp constant);
  Value getWeight(Operation *constant);
  LogicalResult lower(func::FuncOp function);
  LogicalResult lower(Operation *op);
  LogicalResult lowerIf(nn::IfOp op);
  LogicalResult lowerLoop(nn::LoopOp op);
  LogicalResult lowerBody(Operation *op, func::FuncOp body, Block &steps,
                          llvm::function_ref<LogicalResult()> finish);
  /// The places of what `op` computes, and of arguments of the functions that
  /// it runs.
  void placeValues(Operation *op, ValueRange values, StringRef end);
  Value placeValue(Location loc, llvm::function_ref<std::string()> name,
                   Value value);
  /// Copies a value to where `place` is unless it is there.
  void copyTo(Location loc, Value value, Value place, PlaceAttr at,
              bool byRun = false);
  void createCopy(Location loc, Value from, Value to, bool byRun = false);
  LogicalResult lowerCalls(Operation *op, ArrayRef<Move> moves, Value target);
  /// Here `name` is an identifier that `names` has returned.
  LogicalResult createCall(Operation *op, const nn::RoutineCall &call,
                           const nn::Work &work, const nn::Description &said,
                           StringRef name, Value target);
  LogicalResult lowerCustom(nn::CustomOp custom, Value target);
  LogicalResult finish(func::ReturnOp end);
  void setWeightBytes();
  /// Returns the name of a size that the program finds by its number among
  /// these, an integer; null for null.
  StringAttr getFoundSize(Attribute number);
  /// Sets the size that a layer is the first to depend on.
  void measure(Operation *op);

  /// The place of `value`, which has been lowered before.
  Value getPlaced(Value value);
  /// Here `name` is an identifier that `names` has returned.
  Value createBuffer(Location loc, StringRef name, RankedTensorType type,
                     PlaceAttr place);
  exec::BufferOp findBufferOfOperand(Value value);
  /// The largest value that has `value` as a part without moving it: what a
  /// concat in place joins. Null if there is none.
  Value findWhole(Value value);
  /// The memory that `op`, whose identifier is `name`, works in, or null.
  Value createScratch(Operation *op, StringRef name);
  Value createInArena(Location loc, StringRef name, Value value);
  Value createView(Location loc, StringRef name, RankedTensorType type,
                   Value base, int64_t offset);
  void shareCode(exec::CallOp call);

  ModuleOp module;
  func::FuncOp function;
  Contents contents;
  OpBuilder builder;
  /// The branch or loop in the program that steps are added to, or null: places
  /// are defined in front of it.
  Operation *outermost = nullptr;
  exec::ProgramOp program;
  InterfaceNames interface;
  exec::Names &names = interface.names;
  DenseMap<Operation *, std::string> &layerNames = interface.layers;
  /// The bytes of weights that each memory has so far; one for weights in one
  /// piece.
  SmallVector<int64_t> weightBytes;
  /// The places of outputs and of states, by result; a state is that of its
  /// next value.
  SmallVector<Value> outputs;
  /// The places of states, by argument.
  DenseMap<unsigned, Value> states;
  /// Outputs in the arena, by the value that is produced there.
  DenseMap<Value, Value> produced;
  DenseMap<Value, Value> placed;
  /// Buffers of values that are joined in place, by the joined value: their
  /// parts, which are computed first, are views of them.
  DenseMap<Value, Value> joined;
  DenseMap<Value, Value> wholes; ///< what findWhole() has found
  /// Weights that lie in the file already, by value and layout.
  DenseMap<std::pair<Attribute, Type>, Value> weights;
  DenseMap<std::pair<Attribute, Attribute>, SmallVector<exec::CallOp>> calls;
  DenseSet<StringAttr> measured; ///< sizes that steps so far have found
};
} // namespace

static std::string getLayoutSuffix(Value value) {
  return "_" + StringRef(nn::getLayoutName(value.getType())).lower();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value Lowering::createBuffer(Location loc, StringRef name,
                             RankedTensorType type, PlaceAttr place) {
  OpBuilder::InsertionGuard guard(builder);
  if (outermost)
    builder.setInsertionPoint(outermost);
  return builder.create<exec::BufferOp>(loc, builder.getType<exec::PlaceType>(),
                                        name, type, place.getOffset(),
                                        getMemory(place));
}

StringAttr Lowering::getMemory(PlaceAttr place) {
  auto memories = function->getAttrOfType<ArrayAttr>(
      place.getPool() == Pool::weight ? exec::kWeightMemoriesAttr
                                      : exec::kMemoriesAttr);
  if (!memories)
    return {};
  auto memory = cast<exec::MemoryAttr>(memories[place.getIndex()]);
  return builder.getStringAttr(memory.getName());
}

Value Lowering::createView(Location loc, StringRef name, RankedTensorType type,
                           Value base, int64_t offset) {
  // Views of views are views of the whole: there is less to follow.
  if (auto view = base.getDefiningOp<exec::ViewOp>())
    return createView(loc, name, type, view.getBase(),
                      view.getOffset() + offset);
  OpBuilder::InsertionGuard guard(builder);
  if (outermost)
    builder.setInsertionPoint(outermost);
  return builder.create<exec::ViewOp>(loc, builder.getType<exec::PlaceType>(),
                                      name, type, base, offset);
}

/// Returns true if the bytes of `move`, which is one of the moves of `op`, are
/// in their final place already.
static bool staysInPlace(Operation *op, const Move &move) {
  PlaceAttr from = getPlace(op->getOperand(move.operand));
  PlaceAttr to = getPlace(op->getResult(0));
  return from.getPool() == to.getPool() && from.getIndex() == to.getIndex() &&
         from.getOffset() + move.source == to.getOffset() + move.target;
}

Value Lowering::findWhole(Value value) {
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

/// The buffer that holds an operand of the op of `value` where `value` is to
/// be, and has room for all of `value`; null if there is none.
exec::BufferOp Lowering::findBufferOfOperand(Value value) {
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

/// The buffer of `value`, or a view of the buffer that it is a part of: the
/// arena's map then tells for how long all of these bytes are in use.
Value Lowering::createInArena(Location loc, StringRef name, Value value) {
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

Value Lowering::getPlaced(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return getWeight(op);
  return placed.lookup(value);
}

/// An identifier from what the model calls a constant. A blob's key says it
/// too, but gets a number behind it where passes made several of one weight.
std::string Lowering::nameWeight(nn::ConstantOp constant) {
  StringRef name = nn::getModelName(constant.getLoc());
  if (auto blob = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
      blob && name.empty())
    name = blob.getRawHandle().getKey();
  auto [reader, end] = nameRole(constant);
  // A constant that passes made has no name of its own, or its layer's.
  std::string layer = layerNames.lookup(reader);
  if (!layer.empty() &&
      (name.empty() || name == nn::getModelName(reader->getLoc())))
    return names.addPart(layer, end);
  // Some exporters call a weight as its layer, or as a tensor.
  std::string made = exec::makeIdentifier(name, "weight");
  return names.isTaken(made) && made != "weight" ? names.addPart(made, end)
                                                 : names.add(name, "weight");
}

Value Lowering::getWeight(Operation *op) {
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
  end += llvm::alignTo(bytes, getMemoryAlign(module));
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
    StringRef name = interface.inputs[i];
    auto type = builder.getType<exec::PlaceType>();
    RankedTensorType tensor = nn::getTensorType(argument);
    StringAttr modelName = getPortName(given, name, builder);
    if (nn::getNextValue(function, i)) {
      states[i] = builder.create<exec::StateOp>(
          argument.getLoc(), type, name, tensor, modelName,
          nn::getInitialValue(function, i));
      placed[argument] = states[i];
    } else {
      PlaceAttr place = getPlace(argument);
      IntegerAttr offset;
      StringAttr memory;
      if (function->hasAttr(exec::kPortsInArenaAttr)) {
        offset = builder.getI64IntegerAttr(place.getOffset());
        memory = getMemory(place);
      }
      auto input = builder.create<exec::InputOp>(
          argument.getLoc(), type, name, tensor, modelName, offset, memory);
      if (Attribute port = function.getArgAttr(i, qnn::kPortAttr))
        input->setAttr(qnn::kPortAttr, port);
      placed[argument] = input;
    }
  }
}

void Lowering::declareOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  auto types = function.getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(types)) {
    if (std::optional<unsigned> state = nn::getStateOf(function, i)) {
      outputs.push_back(states[*state]);
      continue;
    }
    StringRef given = getText(function.getResultAttr(i, "nn.name"));
    StringRef name = interface.outputs[i];
    PlaceAttr place = getFinalPlace(function, i);
    IntegerAttr offset;
    StringAttr memory;
    if (place.getPool() == Pool::arena) {
      offset = builder.getI64IntegerAttr(place.getOffset());
      memory = getMemory(place);
    }
    auto output = builder.create<exec::OutputOp>(
        function.getLoc(), builder.getType<exec::PlaceType>(), name,
        cast<RankedTensorType>(type), getPortName(given, name, builder), offset,
        memory, getFoundSize(function.getResultAttr(i, nn::kSizeAttr)));
    if (Attribute port = function.getResultAttr(i, qnn::kPortAttr))
      output->setAttr(qnn::kPortAttr, port);
    outputs.push_back(output);
    Value result = end->getOperand(i);
    if (offset && getPlace(result) == place && result.getType() == type)
      produced.try_emplace(result, outputs.back());
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

Value Lowering::createScratch(Operation *op, StringRef name) {
  auto place = op->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  if (!place)
    return {};
  return createBuffer(
      op->getLoc(), names.addPart(name, "_scratch"),
      RankedTensorType::get({place.getBytes()},
                            builder.getIntegerType(8, /*isSigned=*/false)),
      place);
}

LogicalResult Lowering::createCall(Operation *op, const nn::RoutineCall &call,
                                   const nn::Work &work,
                                   const nn::Description &said, StringRef name,
                                   Value target) {
  auto getOperandPlace = [&](unsigned operand) {
    return getPlaced(op->getOperand(operand));
  };
  // Weights stand in front of what is made for the call.
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

/// All calls of `op`, without those that would move bytes to where they are.
LogicalResult Lowering::lowerCalls(Operation *op, ArrayRef<Move> moves,
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
  for (auto [i, call] : llvm::enumerate(calls)) {
    if (!moves.empty() && staysInPlace(op, moves[i]))
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

/// The place of a value in the arena or in the caller's memory, as a value of
/// its type; `name` names what is made for it.
Value Lowering::placeValue(Location loc, llvm::function_ref<std::string()> name,
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

LogicalResult Lowering::lower(Operation *op) {
  if (auto branch = dyn_cast<nn::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<nn::LoopOp>(op))
    return lowerLoop(loop);
  Value result = op->getResult(0);
  Location loc = getNamedLoc(op->getLoc());
  std::string layer = layerNames.lookup(op);
  auto name = [&]() {
    if (!layer.empty())
      return names.addPart(layer, "_out");
    return names.addPart(
        exec::getPlaceOp(getPlaced(op->getOperand(0))).getName(),
        isa<nn::AdaptOp>(op)    ? getLayoutSuffix(result)
        : isa<nn::DecodeOp>(op) ? "_dense"
                                : "_view");
  };

  measure(op);
  // A view of an operand: named, no more.
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
  return lowerCalls(op, moves, target);
}

StringAttr Lowering::getFoundSize(Attribute number) {
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

void Lowering::measure(Operation *op) {
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

/// A call of the user's function.
LogicalResult Lowering::lowerCustom(nn::CustomOp custom, Value target) {
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

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

void Lowering::placeValues(Operation *op, ValueRange values, StringRef end) {
  Location loc = getNamedLoc(op->getLoc());
  auto name = [&]() { return names.addPart(layerNames.lookup(op), end); };
  for (Value value : values)
    placed[value] = placeValue(loc, name, value);
}

void Lowering::createCopy(Location loc, Value from, Value to, bool byRun) {
  // A tensor without elements has none to copy.
  if (nn::getPhysicalBytes(exec::getPlaceOp(from).getTensor()) == 0)
    return;
  std::string name = "copy_" + exec::getPlaceOp(to).getName().str();
  builder.create<exec::CopyOp>(loc, name, from, to, byRun);
}

void Lowering::copyTo(Location loc, Value value, Value place, PlaceAttr at,
                      bool byRun) {
  if (byRun || getPlace(value) != at)
    createCopy(loc, getPlaced(value), place, byRun);
}

/// Adds the steps of a function that `op` runs to `steps`, and then what
/// `finish` adds.
LogicalResult Lowering::lowerBody(Operation *op, func::FuncOp body,
                                  Block &steps,
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

LogicalResult Lowering::lowerIf(nn::IfOp op) {
  Location loc = getNamedLoc(op.getLoc());
  placeValues(op, op.getYs(), "_out");
  // Constants that a body captures are defined in front.
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

LogicalResult Lowering::lowerLoop(nn::LoopOp op) {
  Location loc = getNamedLoc(op.getLoc());
  func::FuncOp body = nn::getBodies(op).front();
  Operation *end = body.getBody().front().getTerminator();
  ValueRange carried =
      ValueRange(body.getArguments()).slice(1, op.getInits().size());
  placeValues(op, op.getYs(), "_out");
  // A carried value has the place of the result; an alias of it only where the
  // buffer is that of another value.
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

/// Results that were not produced where the caller wants them are copied.
LogicalResult Lowering::finish(func::ReturnOp end) {
  for (unsigned i : getFinishOrder(function)) {
    Value result = end.getOperand(i);
    if (nn::getLayout(result.getType()))
      return end.emitOpError() << "gives result " << i << " in layout "
                               << nn::getLayoutName(result.getType())
                               << "; results are row-major";
    if (getPlace(result) == getFinalPlace(function, i))
      continue;
    if (nn::getTensorType(result).getNumElements() == 0)
      continue; // There are no elements to copy.
    std::string name = "copy_" + exec::getPlaceOp(outputs[i]).getName().str();
    builder.create<exec::CopyOp>(end.getLoc(), name, getPlaced(result),
                                 outputs[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// Renames the body of a branch or loop that has the name of the program, in
/// whose place it would not be found.
LogicalResult Lowering::freeSymbol(StringRef name) {
  auto body = module.lookupSymbol<func::FuncOp>(name);
  if (!body || body == function)
    return success();
  SymbolTable symbols(module);
  return symbols.renameToUnique(body, {});
}

exec::ProgramOp Lowering::createProgram(StringRef name) {
  auto getBytes = [&](StringRef attribute) {
    auto bytes = function->getAttrOfType<IntegerAttr>(attribute);
    return bytes ? bytes.getInt() : 0;
  };
  int64_t arena = getBytes(exec::kArenaAttr);
  int64_t bound = getBytes(exec::kLowerBoundAttr);
  auto created = builder.create<exec::ProgramOp>(
      function.getLoc(), name, arena, bound, getMemoryAlign(module), 0);
  if (auto machine =
          module->getAttrOfType<target::MachineAttr>(target::kTargetAttr))
    setMachine(created, machine);
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
  created.setModel(getText(module->getAttr("nn.model")));
  created.setSha256(getText(module->getAttr("nn.sha256")));
  created.getBody().emplaceBlock();
  return created;
}

/// Records how many bytes of weights there are. A memory for weights has their
/// header, too.
void Lowering::setWeightBytes() {
  program.setWeights(
      std::accumulate(weightBytes.begin(), weightBytes.end(), int64_t(0)));
  if (program.getWeightMemories().empty())
    return;
  SmallVector<Attribute> memories;
  for (auto [memory, bytes] : llvm::zip_equal(
           program.getWeightMemories().getAsRange<exec::MemoryAttr>(),
           weightBytes))
    memories.push_back(exec::MemoryAttr::get(
        builder.getContext(), memory.getName(), memory.getSize(),
        memory.getSlow(),
        bytes ? bytes + exec::getWeightsHeaderBytes(program.getAlign()) : 0));
  program.setWeightMemoriesAttr(builder.getArrayAttr(memories));
}

LogicalResult Lowering::run() {
  // Routines and places may have been edited.
  auto machine =
      module->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  bool isChecked = !function->hasAttr(exec::kSampleAttr);
  for (func::FuncOp each : nn::getAllBodies(function))
    if (failed(checkRoutines(each, machine)))
      return failure();
  if (failed(nn::verifyStates(function)) ||
      (isChecked && failed(verifyMemory(function))))
    return failure();
  builder.setInsertionPoint(function);
  StringRef model = getText(module->getAttr("nn.model"));
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
  prepareExpressions(program);
  return success();
}

LogicalResult Lowering::lower(func::FuncOp each) {
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
    if (failed(Lowering(getOperation(), mains.front()).run()))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      function.erase();
  }
};
} // namespace
