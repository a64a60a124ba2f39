//===- Exec.h - What codegen prints ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_EXEC_H
#define NNC_DIALECTS_EXEC_EXEC_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/exec/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/exec/ExecAttrs.h.inc"

#include "dialects/exec/ExecDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/exec/ExecTypes.h.inc"

namespace nnc::exec {
class ProgramOp;
} // namespace nnc::exec

#include "dialects/exec/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/exec/ExecOps.h.inc"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace nnc::exec {

/// The names of the discardable attributes, which ExecDialect.td declares.
inline constexpr llvm::StringLiteral
    kArenaAttr = ExecDialect::ArenaAttrHelper::getNameStr(),
    kDimsAttr = ExecDialect::DimsAttrHelper::getNameStr(),
    kHostPortsAttr = ExecDialect::HostPortsAttrHelper::getNameStr(),
    kLowerBoundAttr = ExecDialect::LowerBoundAttrHelper::getNameStr(),
    kMemoriesAttr = ExecDialect::MemoriesAttrHelper::getNameStr(),
    kModuleAttr = ExecDialect::ModuleAttrHelper::getNameStr(),
    kPlaceAttr = ExecDialect::PlaceAttrHelper::getNameStr(),
    kPlacesAttr = ExecDialect::PlacesAttrHelper::getNameStr(),
    kPortsInArenaAttr = ExecDialect::PortsInArenaAttrHelper::getNameStr(),
    kSampleAttr = ExecDialect::SampleAttrHelper::getNameStr(),
    kScratchAttr = ExecDialect::ScratchAttrHelper::getNameStr(),
    kSerialAttr = ExecDialect::SerialAttrHelper::getNameStr(),
    kSizesAttr = ExecDialect::SizesAttrHelper::getNameStr(),
    kWeightMemoriesAttr = ExecDialect::WeightMemoriesAttrHelper::getNameStr();

/// Returns the op that defines `place`.
PlaceOpInterface getPlaceOp(mlir::Value place);

/// Returns the offset in bytes of an input or output from the start of the
/// arena, or nullopt if `op` is another op or if the caller provides the
/// memory.
std::optional<int64_t> getPortOffset(mlir::Operation *op);

/// Returns whether `op` is a buffer, or an input or output that the arena
/// holds.
bool isInArena(mlir::Operation *op);

/// Returns the name of the memory that holds `op`, a weight or a place in the
/// arena, or an empty string if the op names no memory.
llvm::StringRef getMemory(mlir::Operation *op);

/// Returns the device that runs a step, or that a transfer connects with the
/// host; empty for steps of the host alone.
llvm::StringRef getDevice(mlir::Operation *step);

/// Returns the dimensions of a place as expressions of the program's sizes, or
/// null if they are constants.
mlir::AffineMap getVaryingDims(mlir::Operation *place);

/// Returns the calls, copies and transfers of a program, those in branches and
/// loops included, in the order in which they are printed.
llvm::SmallVector<mlir::Operation *> getSteps(ProgramOp program);

/// Returns the steps of a program that are of the class `Step`, in the order in
/// which they are printed.
template <class Step> llvm::SmallVector<Step> getSteps(ProgramOp program) {
  llvm::SmallVector<Step> steps;
  for (mlir::Operation *op : getSteps(program))
    if (auto step = llvm::dyn_cast<Step>(op))
      steps.push_back(step);
  return steps;
}

/// Returns the identifier that emitted code uses for the weights in one of
/// several memories.
std::string getWeightsName(MemoryAttr memory);

/// Returns the number of bytes in front of the weights in one memory: a header
/// (runtime/weights.h) and the padding behind it, which keeps the weights
/// aligned to `align` bytes.
int64_t getWeightsHeaderBytes(int64_t align);

/// The set of identifiers that one program uses, all of them distinct.
/// Identifiers that this class makes have at most kMaxIdentifier characters,
/// including the suffixes of a call's parts. If an identifier is used already,
/// a number is appended.
class Names {
public:
  /// Returns an identifier for a value that the model calls `name`; `kind` is
  /// as in makeIdentifier().
  std::string add(llvm::StringRef name, llvm::StringRef kind = "value");
  /// Returns an identifier for a call. The names of its parts are reserved,
  /// too; `end` is appended to the name unchanged.
  std::string addCall(llvm::StringRef name, llvm::StringRef end = "");
  /// Returns an identifier for a part of `name`: the name with the suffix
  /// `end`.
  std::string addPart(llvm::StringRef name, llvm::StringRef end);
  /// Reserves `name` unchanged. Returns false if it is not usable or used
  /// already.
  bool take(llvm::StringRef name, bool isCall);
  bool isTaken(llvm::StringRef name) const { return taken.contains(name); }

private:
  bool isFree(llvm::StringRef name, bool isCall) const;
  std::string addUnique(llvm::StringRef name, llvm::StringRef end,
                        llvm::StringRef kind, bool isCall);
  llvm::StringSet<> taken;
  /// The next number to append to a name that is used already: [1] for names of
  /// calls, [0] for all other names.
  llvm::StringMap<unsigned> tried[2];
};

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_EXEC_H
