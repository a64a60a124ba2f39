//===- Target.h - The machines that code is made for ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_TARGET_TARGET_H
#define NNC_DIALECTS_TARGET_TARGET_H

#include "dialects/target/Costs.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

namespace nnc::target {
/// The kinds of devices, each of which has a cost model of its own.
enum class DeviceKind { core, gpu };
} // namespace nnc::target

#include "dialects/target/TargetDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/target/TargetAttrs.h.inc"

namespace nnc::target {

/// The module attribute that holds the machine. The dialect nn declares it.
inline constexpr llvm::StringLiteral kTargetAttr = "nn.target";

/// Returns all rows of targets.inc that are for users, in the order of the
/// file. `native` is not one of them.
llvm::SmallVector<MachineAttr> getMachines(mlir::MLIRContext *context);

/// Returns the row `name`, which may be hidden, or for "native" the machine
/// that this process runs on. If there is no such row, emits an error at
/// `location` that lists all names, and fails.
mlir::FailureOr<MachineAttr> getMachine(llvm::StringRef name,
                                        mlir::Location location);

/// Returns the best row whose features this host has, with the host's own
/// caches.
MachineAttr detectMachine(mlir::MLIRContext *context);

/// Returns true if the routines of this instruction set use vectors.
bool isVectorIsa(llvm::StringRef isa);

/// Returns true if the routines of this instruction set multiply tiles, which a
/// run must ask the operating system for and configure.
bool usesTiles(llvm::StringRef isa);

/// Returns true if this host's CPU has the feature that LLVM calls `feature`.
bool hostHas(llvm::StringRef feature);

/// Sets the module's target by name and returns it. An empty name keeps the
/// module's present target.
mlir::FailureOr<MachineAttr> setTarget(mlir::ModuleOp module,
                                       llvm::StringRef name);

/// Returns the module's target. If there is none, emits an error that says how
/// to set it, and fails.
mlir::FailureOr<MachineAttr> getTarget(mlir::ModuleOp module);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_TARGET_H
