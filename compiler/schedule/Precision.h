//===- Precision.h - What numbers layers compute with ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SCHEDULE_PRECISION_H
#define NNC_COMPILER_SCHEDULE_PRECISION_H

#include "dialects/target/Target.h"

namespace nnc {

/// The numbers that layers of floats may be computed with.
enum class Precision {
  f32, ///< floats
  f16, ///< halves, where the target has routines for that
};

/// Fails, with the targets that could, where `machine` has no routines that
/// compute with halves.
mlir::LogicalResult checkHalves(target::MachineAttr machine,
                                mlir::Location location);

} // namespace nnc

#endif // NNC_COMPILER_SCHEDULE_PRECISION_H
