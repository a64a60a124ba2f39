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

#include "dialects/exec/ExecDialect.h.inc"
#include "dialects/exec/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/exec/ExecAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/exec/ExecTypes.h.inc"

namespace nnc::exec {
class ProgramOp;
} // namespace nnc::exec

#include "dialects/exec/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/exec/ExecOps.h.inc"

#include "llvm/ADT/StringSet.h"

namespace nnc::exec {

/// Names of the attributes by which nnc-plan-memory speaks; see the dialect.
inline constexpr llvm::StringLiteral kPlaceAttr = "exec.place";
inline constexpr llvm::StringLiteral kScratchAttr = "exec.scratch";
inline constexpr llvm::StringLiteral kArenaAttr = "exec.arena";
inline constexpr llvm::StringLiteral kLowerBoundAttr = "exec.lower_bound";
/// And the one by which nnc-assign-threads does.
inline constexpr llvm::StringLiteral kSerialAttr = "exec.serial";

/// The op that names `place`.
PlaceOpInterface getPlaceOp(mlir::Value place);

/// Hands out the identifiers of one program, each once. Those that it makes
/// have at most kMaxIdentifier characters, a call's together with its parts'
/// ends; where one is taken already, a number is added.
class Names {
public:
  /// An identifier for what a model calls `name`; `kind` as makeIdentifier()
  /// has it.
  std::string add(llvm::StringRef name, llvm::StringRef kind = "value");
  /// The same for a call, which also takes the names of its parts; `end` is
  /// kept whole behind the name.
  std::string addCall(llvm::StringRef name, llvm::StringRef end = "");
  /// An identifier for what belongs to `name`: that with `end` behind it.
  std::string addPart(llvm::StringRef name, llvm::StringRef end);
  /// Takes `name` as it is; false if it may not be used or is not free.
  bool take(llvm::StringRef name, bool isCall);
  bool isTaken(llvm::StringRef name) const { return taken.contains(name); }

private:
  bool isFree(llvm::StringRef name, bool isCall) const;
  std::string addUnique(llvm::StringRef name, llvm::StringRef end,
                        llvm::StringRef kind, bool isCall);
  llvm::StringSet<> taken;
};

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_EXEC_H
