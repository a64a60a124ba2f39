//===- ExecCall.h - Creates the exec.call of a layer ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_EXECCALL_H
#define NNC_COMPILER_ROUTINES_EXECCALL_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/description/Description.h"
#include "dialects/target/Target.h"

namespace nnc {

/// Creates an exec.call named `name` for `call`, one of the calls that compute
/// `op`. `work` is the work of `op`, and `said` its description. Callers
/// compute both once for an op, because an op may have as many calls as
/// operands and computing them visits each operand. The routine and its
/// parameters are attributes of `op` and have been checked. `getPlace` returns
/// the buffer of the operand with the given number; if it returns null, this
/// function fails. `scratch` may be null.
mlir::FailureOr<exec::CallOp>
createExecCall(mlir::OpBuilder &builder, mlir::Operation *op,
               const nn::RoutineCall &call, const nn::Work &work,
               const nn::Description &said, llvm::StringRef name,
               llvm::function_ref<mlir::Value(unsigned)> getPlace,
               mlir::Value target, mlir::Value scratch);

/// Returns the first op that reads a constant, and the role of the constant in
/// it as a suffix for an identifier: "_weight", "_bias" or "_multiplier".
std::pair<mlir::Operation *, std::string> nameRole(nn::ConstantOp constant);

/// Sets the attributes of `program` that name its machine and the compiler
/// flags that its code is built with.
void setMachine(exec::ProgramOp program, target::MachineAttr machine);

/// Enlarges the arena of `program` by the counters of blocks that its calls
/// need.
void reserveCounters(exec::ProgramOp program);

/// Records in `program` how the expressions of its calls become code: the form
/// of each expression, and the headers that they need besides those of their
/// routines. These headers declare the vector types of the instruction sets and
/// the functions that expressions call.
void prepareExpressions(exec::ProgramOp program);

/// Returns a location that holds only the model's name for the op or value at
/// `loc`, or `loc` itself if the model has no name for it.
mlir::Location getNamedLoc(mlir::Location loc);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_EXECCALL_H
