//===- Program.cpp - Verifiers of exec.program and exec.view --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"
#include "dialects/exec/PlaceRules.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

/// Checks that a place lies within the memory that it names in `memories`. If
/// the program has no list of memories, the place must lie within a single
/// memory of `bytes` bytes, which messages call `whole`.
static LogicalResult verifyMemory(ArrayAttr memories, Operation &op,
                                  int64_t offset, int64_t bytes,
                                  StringRef whole) {
  auto place = cast<PlaceOpInterface>(op);
  StringRef name = getMemory(&op);
  // Devices read weights directly from the memory of the host.
  StringRef device = isa<WeightOp>(op) ? "" : place.getDevice();
  auto emitElsewhere = [&](StringRef owner) {
    return op.emitOpError() << "is on " << describeDevice(device)
                            << ", and in memory of " << describeDevice(owner);
  };
  if (memories.empty() && name.empty())
    return device.empty() ? verifyRange(place, offset, bytes, whole)
                          : emitElsewhere("");
  for (auto memory : memories.getAsRange<MemoryAttr>())
    if (memory.getName() == name)
      return memory.getDevice() == device
                 ? verifyRange(place, offset, memory.getBytes(), name)
                 : emitElsewhere(memory.getDevice());
  return op.emitOpError() << "is in the memory '" << name
                          << "', which the program does not have";
}

static LogicalResult verifyValue(WeightOp weight) {
  RankedTensorType type = nn::getLogicalType(weight.getTensor());
  if (weight.getEncoded())
    type = RankedTensorType::get({nn::getPhysicalBytes(weight.getTensor())},
                                 IntegerType::get(weight.getContext(), 8));
  if (weight.getValue().getShapedType() != type)
    return weight.emitOpError("has a value of type ")
           << weight.getValue().getShapedType() << ", its "
           << (weight.getEncoded() ? "stored bytes" : "elements") << " are a "
           << type;
  return success();
}

static LogicalResult verifyInitial(StateOp state) {
  ElementsAttr initial = state.getInitialAttr();
  if (initial && initial.getShapedType() != state.getTensor())
    return state.emitOpError("has a first value of type ")
           << initial.getShapedType() << ", not " << state.getTensor();
  return success();
}

static LogicalResult takeName(Names &names, Operation &op, StringRef name) {
  if (names.take(name, isa<CallOp, exec::CustomOp>(op)))
    return success();
  return op.emitOpError() << "cannot be named '" << name
                          << "': that is not an identifier of C++, or a "
                             "reserved or a taken one, or looks like a macro";
}

LogicalResult SizeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name, int64_t low, int64_t high,
                               int64_t step, bool found) {
  if (low < (found ? 0 : 1) || high < low || step < 1 ||
      (high - low) % step != 0)
    return emitError() << "needs sizes from " << (found ? 0 : 1)
                       << " on, a step of at least 1, and a "
                          "high end that steps from the low end reach, for '"
                       << name << "'";
  return success();
}

/// Returns the number of integers in a field of a shape.
static unsigned countEntries(Attribute field) {
  if (auto list = dyn_cast<DenseI64ArrayAttr>(field))
    return list.size();
  unsigned count = 0;
  if (auto rows = dyn_cast<ArrayAttr>(field))
    for (Attribute row : rows)
      count += countEntries(row);
  return isa<IntegerAttr>(field) ? 1 : count;
}

static LogicalResult verifyVarying(CallOp call, unsigned sizes) {
  DictionaryAttr varying = call.getVaryingAttr();
  if (!varying)
    return success();
  for (NamedAttribute entry : varying) {
    StringRef name = entry.getName();
    Attribute field = call.getShape().get(name);
    auto map = dyn_cast<AffineMapAttr>(entry.getValue());
    if (!field || !isMapOfSizes(map, sizes, countEntries(field)))
      return call.emitOpError("needs a map from the program's sizes to the "
                              "entries of a field of its shape for '")
             << name << "'";
    if (!call.isSizedBy(name))
      return call.emitOpError("has a field '")
             << name << "' that varies and is no argument";
  }
  return success();
}

static LogicalResult verifyCall(CallOp call, llvm::StringMap<CallOp> &calls) {
  auto program = call->getParentOfType<ProgramOp>();
  const unsigned bits = program.getArchitectures().empty() ? 16 : 32;
  for (NamedAttribute field : call.getShape().getFields())
    if (auto value = dyn_cast<IntegerAttr>(field.getValue());
        call.isSizedBy(field.getName()) &&
        !call.getVaryingField(field.getName()) &&
        !(value && llvm::isIntN(bits, value.getInt())))
      return call.emitOpError("has as argument '")
             << field.getName().getValue() << "', which is no integer of "
             << bits << " bits";
  if (failed(verifyVarying(call, program.getSizes().size())))
    return failure();
  if (auto like = call.getLike()) {
    CallOp other = calls.lookup(*like);
    if (!other || other.getLike() || !call.isLike(other))
      return call.emitOpError("is like '")
             << *like << "', which has other code or comes later";
  }
  calls[call.getName()] = call;
  return success();
}

/// Collects the numbers of the sizes on which a step of a program depends.
static void collectSizes(Operation &step, llvm::SmallDenseSet<unsigned> &used) {
  auto add = [&](AffineMap map) {
    if (map)
      map.walkExprs([&](AffineExpr expression) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
          used.insert(symbol.getPosition());
      });
  };
  if (auto loop = dyn_cast<exec::LoopOp>(step); loop && loop.getVaryingMax())
    add(*loop.getVaryingMax());
  if (auto call = dyn_cast<CallOp>(step))
    if (DictionaryAttr varying = call.getVaryingAttr())
      for (NamedAttribute field : varying)
        add(cast<AffineMapAttr>(field.getValue()).getAffineMap());
  if (isa<CallOp, CopyOp, TransferOp>(step))
    for (Value place : step.getOperands())
      if (PlaceOpInterface op = getPlaceOp(place))
        add(getVaryingDims(op));
}

/// Checks that each size that a program computes at run time is computed once,
/// and before all steps that depend on it.
static LogicalResult verifyMeasures(ProgramOp program) {
  SmallVector<bool> isKnown;
  for (auto size : program.getSizes().getAsRange<SizeAttr>()) {
    if (!size.getFound() && llvm::is_contained(isKnown, false))
      return program.emitOpError()
             << "has the size '" << size.getName()
             << "' of the caller behind one that is found";
    isKnown.push_back(!size.getFound());
  }
  for (Operation &op : program.getBody().front()) {
    if (auto measure = dyn_cast<MeasureOp>(op)) {
      PlaceOpInterface count = getPlaceOp(measure.getCount());
      if (!count || count.getTensor().getNumElements() != 1 ||
          !count.getTensor().getElementType().isSignlessInteger(32))
        return op.emitOpError("needs a place of one i32");
      auto names =
          llvm::map_range(program.getSizes().getAsRange<SizeAttr>(),
                          [](SizeAttr size) { return size.getName(); });
      unsigned number =
          std::distance(names.begin(), llvm::find(names, measure.getSize()));
      if (number == isKnown.size() || isKnown[number])
        return op.emitOpError("finds '")
               << measure.getSize()
               << "', which is no size of the program that is found, or is "
                  "known already";
      isKnown[number] = true;
      continue;
    }
    llvm::SmallDenseSet<unsigned> used;
    op.walk([&](Operation *step) { collectSizes(*step, used); });
    for (unsigned number : used)
      if (!isKnown[number])
        return emitError(op.getLoc())
               << "depends on the size '"
               << cast<SizeAttr>(program.getSizes()[number]).getName()
               << "', which is found behind it, as nothing that it reads has "
                  "that length; compute with a tensor of that length, such as "
                  "the sum of so many ones, instead of the number alone";
  }
  return success();
}

/// Checks the steps of a program, or of a branch or loop in it, and reserves
/// the names of steps and places in `names`.
static LogicalResult verifySteps(Block &steps, Names &names,
                                 llvm::StringMap<CallOp> &calls) {
  for (Operation &op : steps) {
    bool isNamed =
        isa<PlaceOpInterface, CallOp, exec::CustomOp, BranchOp, exec::LoopOp>(
            op);
    if (!isNamed && !isa<CopyOp, TransferOp, WaitOp, MeasureOp>(op))
      return op.emitOpError("does not belong in a program");
    if (isNamed &&
        failed(takeName(names, op,
                        op.getAttrOfType<StringAttr>("name").getValue())))
      return failure();
    if (auto call = dyn_cast<CallOp>(op)) {
      if (failed(verifyCall(call, calls)))
        return failure();
    } else if (isa<BranchOp, exec::LoopOp>(op)) {
      for (Region &region : op.getRegions())
        if (failed(verifySteps(region.front(), names, calls)))
          return failure();
    }
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (!llvm::isPowerOf2_64(getAlign()))
    return emitOpError("needs a power of two as align");
  if (std::string problem = findModuleNameProblem(getSymName());
      !problem.empty())
    return emitOpError() << "cannot be named '" << getSymName() << "', which "
                         << problem;
  if (getHostPorts() && getArchitectures().empty())
    return emitOpError("has 'host_ports', which only programs for GPUs have");
  Names names;
  for (ArrayAttr memories : {getMemories(), getWeightMemories()})
    if (failed(verifyMemories(memories, [&] { return emitOpError(); })))
      return failure();
  for (auto memory : getWeightMemories().getAsRange<MemoryAttr>())
    names.take(getWeightsName(memory), /*isCall=*/false);
  for (auto size : getSizes().getAsRange<SizeAttr>())
    if (failed(takeName(names, **this, size.getName())))
      return failure();
  // Values lie in front of the counters.
  const int64_t values = int64_t(getArena()) - int64_t(getCounterBytes());
  if (values < 0)
    return emitOpError("has counters of ")
           << getCounterBytes() << " bytes in an arena of " << getArena();
  WalkResult counted = (*this)->walk([&](CallOp call) {
    if (4 * call.getCounters() <= getCounterBytes())
      return WalkResult::advance();
    call.emitOpError("has ")
        << call.getCounters() << " counters, more than the program has";
    return WalkResult::interrupt();
  });
  if (counted.wasInterrupted())
    return failure();
  for (Operation &op : *getBody().begin()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (failed(verifyMemory(getMemories(), op, buffer.getOffset(), values,
                              "arena")))
        return failure();
    } else if (auto weight = dyn_cast<WeightOp>(op)) {
      if (failed(verifyMemory(getWeightMemories(), op, weight.getOffset(),
                              getWeights(), "weights")))
        return failure();
      if (failed(verifyValue(weight)))
        return failure();
    } else if (auto state = dyn_cast<StateOp>(op)) {
      if (failed(verifyInitial(state)))
        return failure();
    } else if (std::optional<int64_t> offset = getPortOffset(&op)) {
      if (failed(verifyMemory(getMemories(), op, *offset, values, "arena")))
        return failure();
    }
  }
  llvm::StringMap<CallOp> calls;
  if (failed(verifySteps(*getBody().begin(), names, calls)))
    return failure();
  return verifyMeasures(*this);
}

//===----------------------------------------------------------------------===//
// exec.view
//===----------------------------------------------------------------------===//

bool ViewOp::isWritable() {
  PlaceOpInterface base = getPlaceOp(getBase());
  return base && base.isWritable();
}

LogicalResult ViewOp::verify() {
  PlaceOpInterface base = getPlaceOp(getBase());
  if (!base)
    return emitOpError("needs a base that is named");
  return verifyRange(*this, getOffset(), nn::getPhysicalBytes(base.getTensor()),
                     "base");
}
