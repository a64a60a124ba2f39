//===- ExecAttributeRules.cpp - Who may carry which attribute of exec -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/ExecAttributeRules.h"

#include "dialects/exec/Exec.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/nn/attributes/AttributeRules.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

LogicalResult
exec::verifyMemories(ArrayAttr memories,
                     function_ref<InFlightDiagnostic()> emitError) {
  llvm::StringSet<> names;
  for (auto memory : memories.getAsRange<MemoryAttr>()) {
    StringRef name = memory.getName();
    if (!isUsableIdentifier(name) || !names.insert(name).second)
      return emitError() << "cannot have a memory named '" << name
                         << "': that is not an identifier of C++, or a "
                            "reserved or a taken one, or looks like a macro";
    if (memory.getSize() < 0 || memory.getBytes() < 0)
      return emitError() << "needs a size and bytes from 0 on of the memory '"
                         << name << "'";
  }
  return success();
}

bool exec::isMapOfSizes(AffineMapAttr attribute, unsigned sizes,
                        unsigned results) {
  AffineMap map = attribute ? attribute.getAffineMap() : AffineMap();
  return map && map.getNumDims() == 0 && map.getNumSymbols() == sizes &&
         map.getNumResults() == results;
}

//===----------------------------------------------------------------------===//
// Holders and values
//===----------------------------------------------------------------------===//

static constexpr HolderSet onPlaced = {
    [](const AttributeHolder &holder) {
      return !holder.isOp() || onValue.contains(holder);
    },
    "an op with a result, or an argument or result of a function,"};
static constexpr HolderSet onProgram = {isOneOf<ProgramOp>, "an exec.program"};
static constexpr HolderSet onPlaceOfProgram = {
    [](const AttributeHolder &holder) {
      return isOneOf<PlaceOpInterface>(holder) &&
             holder.op->getParentOfType<ProgramOp>();
    },
    "a place of an exec.program"};

static constexpr ValueSet aPlace = {isKind<PlaceAttr>, "a #exec.place"};
static constexpr ValueSet places = {isArrayOf<PlaceAttr>,
                                    "a #exec.place of each result"};
static constexpr ValueSet memoryList = {isArrayOf<MemoryAttr>,
                                        "a list of #exec.memory"};
static constexpr ValueSet sizeList = {isArrayOf<SizeAttr>,
                                      "a list of #exec.size"};
static constexpr ValueSet byteCount = {
    [](Attribute value) { return isIntegerFrom(value, 0); },
    "a number of bytes"};
static constexpr ValueSet aMap = {isKind<AffineMapAttr>, "a map of sizes"};

//===----------------------------------------------------------------------===//
// Checks that depend on the holder
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlaceList(const AttributeHolder &holder,
                                     Attribute value) {
  if (cast<ArrayAttr>(value).size() == holder.op->getNumResults())
    return success();
  return holder.emitError()
         << "needs " << places.name << " as '" << kPlacesAttr << "'";
}

static LogicalResult verifyMemoryList(const AttributeHolder &holder,
                                      Attribute value) {
  return verifyMemories(cast<ArrayAttr>(value),
                        [&] { return holder.emitError(); });
}

static LogicalResult verifyDims(const AttributeHolder &holder,
                                Attribute value) {
  auto program = holder.op->getParentOfType<ProgramOp>();
  auto place = cast<PlaceOpInterface>(holder.op);
  if (isMapOfSizes(cast<AffineMapAttr>(value), program.getSizes().size(),
                   place.getTensor().getRank()))
    return success();
  return holder.emitError()
         << "needs as '" << kDimsAttr
         << "' a map from the program's sizes to its dimensions";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static constexpr AttributeRule execRules[] = {
    {kArenaAttr, onFunction, byteCount},
    {kDimsAttr, onPlaceOfProgram, aMap, verifyDims},
    {kHostPortsAttr, onFunction, noValue},
    {kLowerBoundAttr, onFunction, byteCount},
    {kMemoriesAttr, onFunction, memoryList, verifyMemoryList},
    {kModuleAttr, onProgram, filledText},
    {kPlaceAttr, onPlaced, aPlace},
    {kPlacesAttr, onValue, places, verifyPlaceList},
    {kPortsInArenaAttr, onFunction, noValue},
    {kSampleAttr, onFunction, noValue},
    {kScratchAttr, onInnerOp, aPlace},
    {kSerialAttr, onValue, noValue},
    {kSizesAttr, onFunction, sizeList},
    {kWeightMemoriesAttr, onFunction, memoryList, verifyMemoryList},
};

LogicalResult ExecDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyAttribute(execRules, {op}, attribute);
}

LogicalResult ExecDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attribute) {
  return verifyAttribute(
      execRules, {op, AttributeHolder::Kind::argument, argument}, attribute);
}

LogicalResult ExecDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyAttribute(execRules, {op, AttributeHolder::Kind::result, result},
                         attribute);
}
