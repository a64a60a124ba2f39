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
enum class DeviceKind { core };
} // namespace nnc::target

#include "dialects/target/TargetDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/target/TargetAttrs.h.inc"

namespace nnc::target {

/// The module attribute that holds the machine. The dialect nn declares it.
inline constexpr llvm::StringLiteral kTargetAttr = "nn.target";

/// Every row of targets.inc that is for users, in its order; `native` is not
/// among them.
llvm::SmallVector<MachineAttr> getMachines(mlir::MLIRContext *context);

/// The row `name`, hidden ones too, or for "native" the machine that this
/// process runs on. Otherwise an error at `location` that lists the names there
/// are.
mlir::FailureOr<MachineAttr> getMachine(llvm::StringRef name,
                                        mlir::Location location);

/// The best row whose features this host has, with the host's own caches.
MachineAttr detectMachine(mlir::MLIRContext *context);

/// Returns true if the routines of an instruction set are written for vectors.
bool isVectorIsa(llvm::StringRef isa);

/// Returns true if this host's CPU has a feature, which has LLVM's name.
bool hostHas(llvm::StringRef feature);

/// Sets the module's target by name. An empty name keeps what stands there.
mlir::FailureOr<MachineAttr> setTarget(mlir::ModuleOp module,
                                       llvm::StringRef name);

/// The module's target, or an error that says how to set it.
mlir::FailureOr<MachineAttr> getTarget(mlir::ModuleOp module);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_TARGET_H
