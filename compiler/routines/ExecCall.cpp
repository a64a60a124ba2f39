//===- ExecCall.cpp - Creates the exec.call of a layer --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/ExecCall.h"

#include "compiler/routines/Catalogue.h"
#include "compiler/routines/GpuCost.h"

#include "mlir/IR/IRMapping.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir;
using namespace nnc;

Location nnc::getNamedLoc(Location loc) {
  StringRef name = nn::getModelName(loc);
  return name.empty() ? loc
                      : NameLoc::get(StringAttr::get(loc.getContext(), name));
}

/// Returns the values of a routine's parameters as a dictionary, keyed by their
/// names.
static nn::ShapeAttr nameParams(const Routine &routine,
                                DenseI64ArrayAttr values, Builder &builder) {
  SmallVector<NamedAttribute> params;
  for (auto [i, name] : llvm::enumerate(routine.params))
    params.push_back(
        {builder.getStringAttr(name), builder.getI64IntegerAttr(values[i])});
  return nn::ShapeAttr::get(builder.getContext(), params);
}

/// Returns how the epilogue of a layer with an anchor reads an extra, or
/// nullopt if no kind of operand fits.
static std::optional<exec::OperandKind> getOperandKind(nn::LayerOp layer,
                                                       unsigned extra) {
  RankedTensorType result = layer.getY().getType();
  bool sameLayout =
      nn::getLayout(nn::getTensorType(layer.getExtras()[extra])) ==
      nn::getLayout(result);
  switch (layer.getExtraKind(extra)) {
  case nn::ExtraKind::Full:
    return sameLayout ? std::optional(exec::OperandKind::full) : std::nullopt;
  case nn::ExtraKind::Channel:
    return exec::OperandKind::channel;
  case nn::ExtraKind::Scalar:
    return exec::OperandKind::scalar;
  case nn::ExtraKind::Broadcast:
    break;
  }
  return std::nullopt;
}

/// Collects how the epilogue reads each extra.
static LogicalResult collectKinds(nn::LayerOp layer,
                                  SmallVector<Attribute> &kinds) {
  for (auto [i, extra] : llvm::enumerate(layer.getExtras())) {
    auto kind = getOperandKind(layer, i);
    if (!kind)
      return layer.emitOpError()
             << "has an epilogue that reads " << extra.getType()
             << " beside a result of " << layer.getY().getType()
             << "; an epilogue reads what has the result's layout, one value a "
                "channel, or one value";
    kinds.push_back(exec::OperandKindAttr::get(layer.getContext(), *kind));
  }
  return success();
}

/// Clones the epilogue of the layer into the expression of `call`. The names of
/// activations are dropped: expressions with the same arithmetic are then
/// equal, whichever activation they compute, and share code.
static void cloneExpression(nn::LayerOp layer, exec::CallOp call) {
  IRMapping mapping;
  layer.getEpilogue().cloneInto(&call.getExpression(), mapping);
  for (Operation &op : call.getExpression().front())
    op.removeAttr(nn::kActivationAttr);
  Operation *yield = call.getExpression().front().getTerminator();
  OpBuilder builder(yield);
  builder.create<exec::YieldOp>(yield->getLoc(), yield->getOperand(0));
  yield->erase();
}

/// Sets the texts that describe a call to readers of the generated code: what
/// it computes, and the role of each of its inputs and extras.
static void describeCall(exec::CallOp call, Operation *op,
                         const nn::Description &said,
                         ArrayRef<unsigned> operands) {
  Builder builder(call.getContext());
  call.setWhat(said.getText());
  call->setAttr(nn::kDescriptionAttr, said.toAttr(call.getContext()));
  SmallVector<Attribute> roles;
  for (unsigned operand : operands)
    roles.push_back(builder.getStringAttr(nn::getOperandRole(op, operand)));
  call->setAttr(nn::kRolesAttr, builder.getArrayAttr(roles));
}

/// Returns the size of the launch of a routine whose threads are independent,
/// as runtime/cuda/launch.h launches it. Returns nothing where the number of
/// units of work is not known exactly, and for routines with scratch memory,
/// for which the arena limits the threads.
static std::optional<launch_size> getPortableLaunch(const Routine &routine,
                                                    const RoutineShape &shape,
                                                    ArrayRef<int64_t> params) {
  constexpr int64_t ofBlock = 128, mostBlocks = 1 << 20;
  double units = GpuCost::getThreads(routine, shape, params);
  // A single unit is the estimate for families that have no line in
  // gpu_families.inc.
  if (units <= 1 || units != std::floor(units) ||
      routine.getScratchBytes(shape, params, /*threads=*/1) > 0)
    return std::nullopt;
  int64_t threads = std::min(int64_t(units), ofBlock);
  int64_t blocks =
      std::min((int64_t(units) + threads - 1) / threads, mostBlocks);
  return launch_size{{int(blocks), 1, 1}, int(threads), 0};
}

/// Returns the size of the launch of a routine on a GPU.
static std::optional<launch_size> getLaunch(const Routine &routine,
                                            const nn::RoutineCall &call,
                                            DenseI64ArrayAttr params) {
  std::optional<RoutineShape> shape = readShape(call);
  if (!shape)
    return std::nullopt;
  auto values = params ? params.asArrayRef() : ArrayRef<int64_t>();
  return routine.isOnBlocks() ? routine.getLaunch(*shape, values)
                              : getPortableLaunch(routine, *shape, values);
}

/// Returns the size of a launch in words.
static std::string describeLaunch(const Routine &routine,
                                  const std::optional<launch_size> &size) {
  if (!size)
    return "";
  const grid_size &grid = size->grid;
  std::string text;
  llvm::raw_string_ostream words(text);
  words << grid.x;
  if (routine.isOnBlocks())
    words << " x " << grid.y << " x " << grid.z;
  words << (grid.x == 1 && !routine.isOnBlocks() ? " block of " : " blocks of ")
        << size->threads << (size->threads == 1 ? " thread" : " threads");
  if (size->shared_bytes)
    words << " with " << size->shared_bytes << " bytes of shared memory each";
  return text;
}

/// Returns true if a GPU runs the layers around `op`.
static bool isOnGpu(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto machine =
      module ? module->getAttrOfType<target::MachineAttr>(target::kTargetAttr)
             : target::MachineAttr();
  return machine && machine.getHost().getKind() == target::DeviceKind::gpu;
}

std::pair<Operation *, std::string> nnc::nameRole(nn::ConstantOp constant) {
  Operation *reader = nullptr;
  std::string role;
  for (OpOperand &use : constant->getUses()) {
    Operation *user = use.getOwner();
    bool isEarlier = !reader || (user->getBlock() == reader->getBlock() &&
                                 user->isBeforeInBlock(reader));
    if (!isEarlier || !nn::canBeDescribed(user))
      continue;
    reader = user;
    role = nn::getOperandRole(user, use.getOperandNumber());
  }
  std::replace(role.begin(), role.end(), ' ', '_');
  return {reader, role.empty() || role == "weights" ? "_weight" : "_" + role};
}

FailureOr<exec::CallOp> nnc::createExecCall(
    OpBuilder &builder, Operation *op, const nn::RoutineCall &call,
    const nn::Work &work, const nn::Description &said, StringRef name,
    llvm::function_ref<Value(unsigned)> getPlace, Value target, Value scratch) {
  auto named = op->getAttrOfType<StringAttr>("routine");
  if (!named)
    return op->emitOpError("has no routine: run nnc-choose-routines before");
  const Routine *routine = Catalogue::get().findRoutine(named);
  assert(routine && "checkRoutines() finds it");
  auto layer = dyn_cast<nn::LayerOp>(op);
  bool isPointwise = layer && !layer.getAnchorOp();
  bool hasExpression = layer && !layer.hasEmptyEpilogue();
  SmallVector<Value> inputs, extras;
  SmallVector<Attribute> kinds;
  for (unsigned operand : call.operands)
    inputs.push_back(getPlace(operand));
  if (hasExpression && !isPointwise) {
    if (failed(collectKinds(layer, kinds)))
      return failure();
    for (unsigned i = 0; i < kinds.size(); ++i)
      extras.push_back(getPlace(layer.getInputs().size() + i));
  }
  if (llvm::is_contained(inputs, Value()) ||
      llvm::is_contained(extras, Value()))
    return failure();
  auto params = op->getAttrOfType<DenseI64ArrayAttr>("params");
  StringRef device = nn::getDevice(op->getResult(0).getType());
  std::optional<launch_size> launch =
      isOnGpu(op) ? getLaunch(*routine, call, params) : std::nullopt;
  auto created = builder.create<exec::CallOp>(
      getNamedLoc(op->getLoc()), name, routine->name, routine->header,
      nameParams(*routine, params, builder), inputs, extras, target, scratch,
      builder.getArrayAttr(kinds), call.fields, isPointwise,
      /*like=*/StringAttr(), /*sized=*/ArrayAttr(),
      /*varying=*/DictionaryAttr(), op->hasAttr(exec::kSerialAttr),
      exec::ExpressionForm::scalars, /*requantizes=*/false, /*what=*/"",
      work.multiplyAdds, 2 * work.multiplyAdds + work.operations,
      describeLaunch(*routine, launch), launch ? launch->counters : 0,
      device.empty() ? StringAttr() : builder.getStringAttr(device));
  if (hasExpression)
    cloneExpression(layer, created);
  SmallVector<unsigned> operands(call.operands);
  for (unsigned i = 0; i < extras.size(); ++i)
    operands.push_back(layer.getInputs().size() + i);
  describeCall(created, op, said, operands);
  return created;
}

//===----------------------------------------------------------------------===//
// Properties of all calls of a program
//===----------------------------------------------------------------------===//

void nnc::setMachine(exec::ProgramOp program, target::MachineAttr machine) {
  SmallVector<StringRef> flags;
  machine.getHost().getFlags().split(flags, ' ', -1, /*KeepEmpty=*/false);
  program.setTarget(machine.getName());
  program.setFlagsAttr(Builder(program.getContext()).getStrArrayAttr(flags));
  program.setFeaturesAttr(machine.getHost().getFeatures());
  program.setArchitecturesAttr(ArrayAttr::get(
      program.getContext(), machine.getHost().getArchitectures()));
}

void nnc::reserveCounters(exec::ProgramOp program) {
  uint64_t counters = 0;
  for (auto call : exec::getSteps<exec::CallOp>(program))
    counters = std::max(counters, call.getCounters());
  if (counters == 0)
    return;
  uint64_t align = program.getAlign();
  uint64_t bytes = llvm::alignTo(counters * sizeof(uint32_t), align);
  program.setArena(llvm::alignTo(program.getArena(), align) + bytes);
  program.setCounterBytes(bytes);
}

/// Returns true for types with which the headers compute that do not need
/// runtime/simd/number.h. 16-bit floats are among them, because they are loaded
/// as floats.
static bool isFloatType(Type type) { return nn::isComputedAsFloat(type); }

/// Returns the header that defines `half`, a type of 16-bit floats.
static StringRef getHeaderOf(Type half) {
  return half.isBF16() ? "runtime/simd/bfloat.h" : "runtime/simd/half.h";
}

/// Returns true if an operation of an expression is printed as a function that
/// only runtime/simd/number.h has: an operation on types other than floats and
/// the results of their comparisons, or one that makes a bool of numbers or
/// selects between two bools.
static bool needsNumbers(Operation &op) {
  Type result = op.getResult(0).getType();
  if (isa<nn::CastOp, nn::SelectOp>(op) && !isFloatType(result))
    return true;
  auto isOther = [&](Type type) {
    return !isFloatType(type) && !type.isInteger(1);
  };
  return isOther(result) || llvm::any_of(op.getOperandTypes(), isOther);
}

/// Returns true if an expression needs runtime/simd/number.h.
static bool usesOtherTypes(Block &expression) {
  return !llvm::all_of(expression.getArgumentTypes(), isFloatType) ||
         llvm::any_of(expression.without_terminator(), needsNumbers);
}

/// Records the headers of a program, and whether it uses tiles; returns true if
/// the vectors of runtime/simd/bytes.h are among them.
static bool collectHeaders(exec::ProgramOp program) {
  const Catalogue &catalogue = Catalogue::get();
  std::set<std::string> headers;
  bool hasOtherTypes = false, hasVectors = false, hasTiles = false;
  // Buffers that no call reads are declared, too, so their types need headers.
  for (auto place : program.getBody().getOps<exec::PlaceOpInterface>())
    if (Type element = place.getTensor().getElementType(); nn::isHalf(element))
      headers.insert(getHeaderOf(element).str());
  for (auto call : exec::getSteps<exec::CallOp>(program)) {
    const Routine &routine = *catalogue.findRoutine(call.getRoutine());
    StringRef isa = routine.isa;
    if (isa != "portable" && !routine.isForGpus())
      headers.insert(("runtime/simd/vec_" + isa + ".h").str());
    hasTiles |= target::usesTiles(isa);
    if (call.hasEmptyExpression())
      continue;
    hasVectors |=
        target::isVectorIsa(isa) &&
        call.findForm(/*withVectors=*/true) == exec::ExpressionForm::mixed;
    Block &expression = call.getExpression().front();
    hasOtherTypes |= usesOtherTypes(expression);
    for (Operation &op : expression.without_terminator())
      if (Type result = op.getResult(0).getType(); nn::isHalf(result))
        headers.insert(getHeaderOf(result).str());
    for (auto op : expression.getOps<nn::ElementwiseOpInterface>())
      if (StringRef header = catalogue.getHeaderOf(op.getFunction());
          !header.empty())
        headers.insert(header.str());
  }
  if (hasVectors)
    headers.insert("runtime/simd/bytes.h");
  if (hasTiles)
    headers.insert("runtime/simd/amx.h");
  program.setTiles(hasTiles);
  SmallVector<StringRef> ordered;
  // number.h comes first: the other headers need its definitions for types
  // other than float.
  if (hasOtherTypes)
    ordered.push_back("runtime/simd/number.h");
  for (StringRef header : headers)
    if (!llvm::is_contained(ordered, header))
      ordered.push_back(header);
  program.setHeadersAttr(
      Builder(program.getContext()).getStrArrayAttr(ordered));
  return hasVectors;
}

void nnc::prepareExpressions(exec::ProgramOp program) {
  bool hasVectors = collectHeaders(program);
  for (auto call : exec::getSteps<exec::CallOp>(program)) {
    call.setForm(call.findForm(hasVectors));
    call.setRequantizes(bool(call.findRequantization()));
  }
}
