//===- Precision.h - What numbers layers compute with ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_PRECISION_H
#define NNC_COMPILER_ROUTINES_PRECISION_H

#include "dialects/target/Target.h"

namespace nnc {

/// The numbers that layers of floats may be computed with.
enum class Precision {
  f32, ///< floats
  f16, ///< halves, where the target has routines for that
};

/// "f32" or "f16", as --precision and tuning files say it.
llvm::StringRef getName(Precision precision);

/// Fails, with the targets that could, where `machine` has no routines that
/// compute with halves.
mlir::LogicalResult checkHalves(target::MachineAttr machine,
                                mlir::Location location);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PRECISION_H
