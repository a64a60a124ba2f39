//===- Calls.h - Routine calls as the exec dialect has them ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_CALLS_H
#define NNC_COMPILER_PASSES_CALLS_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

namespace nnc {

/// Writes `call`, one of those that compute `op`, as an exec.call named `name`.
/// `work` is that of `op`: to count it takes time for each operand, and an op
/// has up to as many calls as operands. `op` says its routine and params, which
/// have been checked. `getPlace` knows where each of its operands lies, by
/// number; null fails. `scratch` may be null.
mlir::FailureOr<exec::CallOp>
createExecCall(mlir::OpBuilder &builder, mlir::Operation *op,
               const nn::RoutineCall &call, const nn::Work &work,
               llvm::StringRef name,
               llvm::function_ref<mlir::Value(unsigned)> getPlace,
               mlir::Value target, mlir::Value scratch);

/// Says for which machine the program is, and what its code is built with.
void setMachine(exec::ProgramOp program, target::MachineAttr machine);

/// Says which headers the program's calls need besides their routines': vectors
/// of the instruction sets, functions of the expressions.
void collectHeaders(exec::ProgramOp program);

/// The location with what the model calls the op at its head.
mlir::Location getNamedLoc(mlir::Location loc);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_CALLS_H
