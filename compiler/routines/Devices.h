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

/// Checks that the devices of all types within `root` are ones that `machine`
/// has beside its host, if it is not null; that ops other than nn.adapt stay on
/// one device; and that what only the host does is on the host: arguments and
/// results of functions, control flow, and functions of the user's.
mlir::LogicalResult checkDevices(mlir::Operation *root,
                                 target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DEVICES_H
