//===- Exec.cpp - Attributes and verifiers of exec ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"
#include "dialects/exec/ModuleName.h"

#include "dialects/exec/ExecAttributeRules.h"

#include "dialects/nn/custom/Custom.h"

#include "dialects/exec/Identifiers.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

PlaceOpInterface exec::getPlaceOp(Value place) {
  return dyn_cast_or_null<PlaceOpInterface>(place.getDefiningOp());
}

std::optional<int64_t> exec::getPortOffset(Operation *op) {
  if (auto input = dyn_cast<InputOp>(op))
    return input.getOffset();
  if (auto output = dyn_cast<OutputOp>(op))
    return output.getOffset();
  return std::nullopt;
}

bool exec::isInArena(Operation *op) {
  return isa<BufferOp>(op) || getPortOffset(op);
}

StringRef exec::getMemory(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<InputOp, OutputOp, BufferOp, WeightOp>(
          [](auto place) { return place.getMemory().value_or(StringRef()); })
      .Default([](Operation *) { return StringRef(); });
}

StringRef exec::getDevice(Operation *step) {
  return llvm::TypeSwitch<Operation *, StringRef>(step)
      .Case<CallOp>([](CallOp call) { return call.getDevice().value_or(""); })
      .Case<CopyOp>(
          [](CopyOp copy) { return getPlaceOp(copy.getTarget()).getDevice(); })
      .Case<TransferOp, WaitOp>([](auto op) { return op.getDevice(); })
      .Default([](Operation *) { return StringRef(); });
}

std::string exec::getWeightsName(MemoryAttr memory) {
  return ("weights_" + memory.getName()).str();
}

int64_t exec::getWeightsHeaderBytes(int64_t align) {
  constexpr int64_t headerBytes = 64;
  return llvm::alignTo(headerBytes, align);
}

//===----------------------------------------------------------------------===//
// exec.program
//===----------------------------------------------------------------------===//

static LogicalResult verifyRange(PlaceOpInterface op, int64_t offset,
                                 int64_t size, StringRef whole) {
  RankedTensorType type = op.getTensor();
  if (offset < 0 || nn::getPhysicalBytes(type) > size - offset)
    return op->emitOpError()
           << "holds " << nn::getPhysicalBytes(type) << " bytes at " << offset
           << " of the " << size << " bytes of the " << whole;
  if (offset % nn::getElementBytes(type.getElementType()))
    return op->emitOpError() << "is not aligned to its elements";
  return success();
}

static std::string describeDevice(StringRef device) {
  return device.empty() ? "the host" : ("the device '" + device + "'").str();
}

/// Checks a place in one of several memories, or in the one piece of `bytes`
/// bytes that is called `whole`.
static LogicalResult verifyMemory(ArrayAttr memories, Operation &op,
                                  int64_t offset, int64_t bytes,
                                  StringRef whole) {
  auto place = cast<PlaceOpInterface>(op);
  StringRef name = getMemory(&op);
  // A device reads weights where they are.
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

AffineMap exec::getVaryingDims(Operation *place) {
  auto dims = place->getAttrOfType<AffineMapAttr>(kDimsAttr);
  return dims ? dims.getAffineMap() : AffineMap();
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

static void collectSteps(Block &steps, SmallVectorImpl<Operation *> &found) {
  for (Operation &op : steps)
    if (isa<CallOp, exec::CustomOp, CopyOp, TransferOp>(op))
      found.push_back(&op);
    else if (isa<BranchOp, exec::LoopOp>(op))
      for (Region &region : op.getRegions())
        collectSteps(region.front(), found);
}

SmallVector<Operation *> exec::getSteps(ProgramOp program) {
  SmallVector<Operation *> steps;
  collectSteps(program.getBody().front(), steps);
  return steps;
}

static LogicalResult verifyCall(CallOp call, llvm::StringMap<CallOp> &calls) {
  for (NamedAttribute field : call.getShape().getFields())
    if (auto value = dyn_cast<IntegerAttr>(field.getValue());
        call.isSizedBy(field.getName()) &&
        !call.getVaryingField(field.getName()) &&
        !(value && llvm::isInt<16>(value.getInt())))
      return call.emitOpError("has as argument '")
             << field.getName().getValue()
             << "', which is no integer of 16 bits";
  auto program = call->getParentOfType<ProgramOp>();
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

/// Collects the sizes that a step of a program depends on, by their numbers.
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

/// Checks that sizes that a program finds are found once, and before what
/// depends on them.
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

/// Checks the steps of a program, or of a branch or loop in it, and takes their
/// names and those of places.
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
  Names names;
  for (ArrayAttr memories : {getMemories(), getWeightMemories()})
    if (failed(verifyMemories(memories, [&] { return emitOpError(); })))
      return failure();
  for (auto memory : getWeightMemories().getAsRange<MemoryAttr>())
    names.take(getWeightsName(memory), /*isCall=*/false);
  for (auto size : getSizes().getAsRange<SizeAttr>())
    if (failed(takeName(names, **this, size.getName())))
      return failure();
  for (Operation &op : *getBody().begin()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (failed(verifyMemory(getMemories(), op, buffer.getOffset(), getArena(),
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
      if (failed(verifyMemory(getMemories(), op, *offset, getArena(), "arena")))
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

//===----------------------------------------------------------------------===//
// exec.call
//===----------------------------------------------------------------------===//

bool CallOp::hasEmptyExpression() { return getExpression().empty(); }

/// Returns true for types that runtime/simd/bytes.h has vectors of.
static bool hasVectors(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return nn::isComputedAsFloat(type);
  unsigned width = integer.getWidth();
  return width == 8 || width == 16 || type.isSignlessInteger(32);
}

/// Returns true if an expression computes with floats only, so that it works on
/// vectors of floats as well.
static bool isAllFloat(Block &block) {
  auto isFloat = [](Value value) {
    return nn::isComputedAsFloat(value.getType());
  };
  return llvm::all_of(block.getArguments(), isFloat) &&
         llvm::all_of(block.getTerminator()->getOperands(), isFloat) &&
         llvm::all_of(block.without_terminator(), [&](Operation &op) {
           Value result = op.getResult(0);
           return isFloat(result) || result.getType().isInteger(1);
         });
}

/// Returns true if an expression mixes element types, all of which
/// runtime/simd/bytes.h has vectors of, and calls only functions that are there
/// for these vectors.
static bool isMixed(Block &block) {
  auto isFloat = nn::isComputedAsFloat;
  auto hasOnlyFloats = [&](Operation &op) {
    return llvm::all_of(op.getOperandTypes(), [&](Type type) {
      return isFloat(type) || type.isInteger(1);
    });
  };
  if (!llvm::all_of(block.getArgumentTypes(), hasVectors))
    return false;
  bool hasOthers = !llvm::all_of(block.getArgumentTypes(), isFloat);
  for (Operation &op : block.without_terminator()) {
    Type result = op.getResult(0).getType();
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      if (!hasVectors(result))
        return false;
      continue;
    }
    bool ofFloats = hasOnlyFloats(op);
    hasOthers |= !ofFloats || !(isFloat(result) || result.isInteger(1));
    if (isa<nn::LookupOp>(op))
      continue;
    if (auto requantize = dyn_cast<nn::RequantizeOp>(op)) {
      // There are no vectors of products of 64 bits.
      if (requantize.getRescale() == nn::Rescale::wide || !hasVectors(result) ||
          !llvm::all_of(op.getOperandTypes(), hasVectors))
        return false;
    } else if (isa<nn::CastOp>(op)) {
      if (!hasVectors(op.getOperand(0).getType()) || !hasVectors(result))
        return false;
    } else if (ofFloats) {
      // Comparisons make masks, which only functions of floats take.
      if (!isFloat(result) && !result.isInteger(1))
        return false;
    } else if (!isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::MaxOp, nn::MinOp,
                    nn::ClipOp, nn::ReluOp>(op) ||
               !hasVectors(result) ||
               !llvm::all_of(op.getOperandTypes(), hasVectors)) {
      return false;
    }
  }
  Type result = block.getTerminator()->getOperand(0).getType();
  return hasOthers && hasVectors(result);
}

ExpressionForm CallOp::findForm(bool withVectors) {
  if (hasEmptyExpression())
    return ExpressionForm::scalars;
  Block &block = getExpression().front();
  if (isAllFloat(block))
    return ExpressionForm::floats;
  return withVectors && isMixed(block) ? ExpressionForm::mixed
                                       : ExpressionForm::scalars;
}

nn::RequantizeOp CallOp::findRequantization() {
  if (hasEmptyExpression() || getExpression().getNumArguments() != 4)
    return {};
  Block &block = getExpression().front();
  auto op =
      block.getTerminator()->getOperand(0).getDefiningOp<nn::RequantizeOp>();
  if (!op || op.getRescale() != nn::Rescale::double_rounding ||
      !op.saturates() || !op.getY().getType().isSignlessInteger(8) ||
      op.getMultiplier() != block.getArgument(2) ||
      op.getShift() != block.getArgument(3))
    return {};
  auto sum = op.getX().getDefiningOp<nn::AddOp>();
  bool isOfArguments = sum && sum.getA() == block.getArgument(0) &&
                       sum.getB() == block.getArgument(1);
  return isOfArguments ? op : nn::RequantizeOp();
}

static Type getElementType(Value place) {
  return getPlaceOp(place).getTensor().getElementType();
}

/// Checks that all operands are places on a device.
static LogicalResult verifyPlaces(Operation *op, StringRef device = "") {
  for (Value operand : op->getOperands()) {
    PlaceOpInterface place = getPlaceOp(operand);
    if (!place)
      return op->emitOpError("needs operands that are named places");
    if (place.getDevice() != device)
      return op->emitOpError("runs on ")
             << describeDevice(device) << " and takes '" << place.getName()
             << "', which is on " << describeDevice(place.getDevice());
  }
  return success();
}

/// Checks that an op may write its outputs and its scratch, if it has one.
static LogicalResult verifyWritten(Operation *op, ValueRange outputs,
                                   Value scratch) {
  SmallVector<Value> written(outputs);
  if (scratch)
    written.push_back(scratch);
  for (Value value : written)
    if (!getPlaceOp(value).isWritable())
      return op->emitOpError("writes '") << getPlaceOp(value).getName()
                                         << "', which is not the program's own";
  return success();
}

LogicalResult CallOp::verifyRegions() {
  if (failed(verifyPlaces(*this, getDevice().value_or(""))))
    return failure();
  if (getOutputs().empty())
    return emitOpError("has no output");
  if (failed(verifyWritten(*this, getOutputs(), getScratch())))
    return failure();
  if (getScratch() && !getElementType(getScratch()).isUnsignedInteger(8))
    return emitOpError("needs scratch of bytes: a tensor of ui8");
  if (getExtras().size() != getKinds().size())
    return emitOpError("needs one kind for each of its extras");
  if (getPointwise() && (!getExtras().empty() || hasEmptyExpression()))
    return emitOpError("is pointwise: it has an expression of its inputs and "
                       "no extras");
  if (hasEmptyExpression())
    return getExtras().empty() ? success()
                               : emitOpError("has extras but no expression");
  Block &block = getExpression().front();
  SmallVector<Type> types;
  for (Value value : getPointwise() ? getInputs() : getExtras())
    types.push_back(getElementType(value));
  SmallVector<Type> arguments(block.getArgumentTypes());
  if (!getPointwise() && !arguments.empty())
    arguments.erase(arguments.begin());
  if (arguments != types || block.getNumArguments() == 0)
    return emitOpError("has an expression whose arguments are not the element "
                       "types of what it reads");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield ||
      yield.getValue().getType() != getElementType(getOutputs().front()))
    return emitOpError("has an expression that does not yield an element of "
                       "its output");
  if (getRequantizes() && !findRequantization())
    return emitOpError("requantizes sums, but its expression does not");
  for (Operation &op : block.without_terminator())
    if (!isa<nn::ElementwiseOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError("is not elementwise and stands in an expression");
  return success();
}

AffineMap CallOp::getVaryingField(StringRef field) {
  auto map = getVarying() ? getVarying()->getAs<AffineMapAttr>(field)
                          : AffineMapAttr();
  return map ? map.getAffineMap() : AffineMap();
}

bool CallOp::isSizedBy(StringRef field) {
  return getSized() &&
         llvm::is_contained(getSized()->getAsValueRange<StringAttr>(), field);
}

bool CallOp::isLike(CallOp other) {
  auto isEqual = [&](auto pair) {
    const auto &[a, b] = pair;
    return a == b || (a.getName() == b.getName() && isSizedBy(a.getName()));
  };
  ArrayRef<NamedAttribute> fields = getShape().getFields(),
                           others = other.getShape().getFields();
  return getSizedAttr() == other.getSizedAttr() &&
         fields.size() == others.size() &&
         llvm::all_of(llvm::zip(fields, others), isEqual) &&
         isLikeButForShape(other);
}

bool CallOp::isLikeButForShape(CallOp other) {
  auto haveSameTypes = [](OperandRange lhs, OperandRange rhs) {
    return llvm::equal(lhs, rhs, [](Value a, Value b) {
      return getElementType(a) == getElementType(b);
    });
  };
  return getRoutine() == other.getRoutine() &&
         getDevice() == other.getDevice() && getParams() == other.getParams() &&
         getKinds() == other.getKinds() &&
         getPointwise() == other.getPointwise() &&
         haveSameTypes(getInputs(), other.getInputs()) &&
         haveSameTypes(getOutputs(), other.getOutputs()) &&
         bool(getScratch()) == bool(other.getScratch()) &&
         OperationEquivalence::isRegionEquivalentTo(
             &getExpression(), &other.getExpression(),
             OperationEquivalence::IgnoreLocations);
}

//===----------------------------------------------------------------------===//
// exec.custom, exec.copy
//===----------------------------------------------------------------------===//

LogicalResult exec::CustomOp::verify() {
  SmallVector<Type> given;
  if (failed(verifyPlaces(*this)))
    return failure();
  for (Value input : getInputs())
    given.push_back(nn::getLogicalType(getPlaceOp(input).getTensor()));
  if (failed(verifyWritten(*this, getOutput(), getScratch())))
    return failure();
  if (!isFunctionName(getFunction()))
    return emitOpError("calls '")
           << getFunction() << "', which is no name of a C function";
  return nn::verifyDescriptions([&] { return emitOpError(); }, getReads(),
                                given, getWrites(),
                                getPlaceOp(getOutput()).getTensor());
}

LogicalResult CopyOp::verify() {
  PlaceOpInterface source = getPlaceOp(getSource());
  PlaceOpInterface target = getPlaceOp(getTarget());
  if (failed(verifyPlaces(*this, target ? target.getDevice() : "")) ||
      failed(verifyWritten(*this, getTarget(), {})))
    return failure();
  int64_t part = nn::getPhysicalBytes(source.getTensor()),
          whole = nn::getPhysicalBytes(target.getTensor());
  if (getByRun()) {
    auto loop = dyn_cast<exec::LoopOp>((*this)->getParentOp());
    if (!loop)
      return emitOpError("is by run, but not in a loop");
    if (part == 0 || whole % part != 0 ||
        whole / part < static_cast<int64_t>(loop.getMax()))
      return emitOpError("copies ")
             << source.getTensor() << " in each of " << loop.getMax()
             << " runs to a place for " << target.getTensor();
    return success();
  }
  if (part != whole)
    return emitOpError("copies ")
           << source.getTensor() << " to a place for " << target.getTensor();
  return success();
}

//===----------------------------------------------------------------------===//
// exec.transfer
//===----------------------------------------------------------------------===//

StringRef TransferOp::getDevice() {
  StringRef source = getPlaceOp(getSource()).getDevice();
  return source.empty() ? getPlaceOp(getTarget()).getDevice() : source;
}

LogicalResult TransferOp::verify() {
  PlaceOpInterface source = getPlaceOp(getSource());
  PlaceOpInterface target = getPlaceOp(getTarget());
  if (!source || !target)
    return emitOpError("needs operands that are named places");
  if (failed(verifyWritten(*this, getTarget(), {})))
    return failure();
  if (source.getDevice().empty() == target.getDevice().empty())
    return emitOpError("connects ")
           << describeDevice(source.getDevice()) << " and "
           << describeDevice(target.getDevice())
           << "; a transfer is between the host and another device";
  if (nn::onDevice(source.getTensor(), "") !=
      nn::onDevice(target.getTensor(), ""))
    return emitOpError("moves ")
           << source.getTensor() << " to a place for " << target.getTensor();
  return success();
}

//===----------------------------------------------------------------------===//
// exec.branch, exec.loop
//===----------------------------------------------------------------------===//

/// Checks that `place`, if it is there, holds one integer of `width` bits.
static LogicalResult verifyOne(Operation *op, Value place, unsigned width,
                               StringRef what) {
  if (!place)
    return success();
  RankedTensorType type = getPlaceOp(place).getTensor();
  if (type.getElementType().isSignlessInteger(width) &&
      type.getNumElements() == 1)
    return success();
  return op->emitOpError() << "needs as " << what << " one integer of " << width
                           << (width == 1 ? " bit" : " bits") << ", has "
                           << type;
}

LogicalResult BranchOp::verify() {
  if (failed(verifyPlaces(*this)))
    return failure();
  return verifyOne(*this, getCondition(), 1, "condition");
}

LogicalResult exec::LoopOp::verify() {
  if (failed(verifyPlaces(*this)) ||
      failed(verifyOne(*this, getCount(), 64, "count")) ||
      failed(verifyOne(*this, getCondition(), 1, "condition")) ||
      failed(verifyOne(*this, getCounter(), 64, "counter")))
    return failure();
  if (static_cast<int64_t>(getMax()) < 1)
    return emitOpError("needs to run at least once at most");
  if (getCounter() && !getPlaceOp(getCounter()).isWritable())
    return emitOpError("counts in '") << getPlaceOp(getCounter()).getName()
                                      << "', which is not the program's own";
  return success();
}
