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

/// Hands out the names of one program: C identifiers, each once, clear of the
/// words of C and C++ and of what the printed code itself is written with.
class Names {
public:
  /// `name` itself if it may be used and is free, else what comes closest.
  std::string add(llvm::StringRef name);
  /// The same for a call, which also takes the names of its parts.
  std::string addCall(llvm::StringRef name);
  /// Takes `name` as it is; false if it may not be used or is not free.
  bool take(llvm::StringRef name, bool isCall);

private:
  bool isFree(llvm::StringRef name, bool isCall) const;
  std::string addUnique(llvm::StringRef name, bool isCall);
  llvm::StringSet<> taken;
};

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_EXEC_H
