//===- Devices.h - Checks where the ops of a function run -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_DEVICES_H
#define NNC_COMPILER_ROUTINES_DEVICES_H

#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

namespace nnc {

/// Checks the devices of all types within `root`. Each device must be the host
/// or another device of `machine`, unless that is null; ops other than nn.adapt
/// must stay on one device; and arguments and results of functions, control
/// flow and custom functions must be on the host.
mlir::LogicalResult checkDevices(mlir::Operation *root,
                                 target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DEVICES_H
