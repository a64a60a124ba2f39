//===- Precision.h - Number formats that layers compute with --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_PRECISION_H
#define NNC_COMPILER_ROUTINES_PRECISION_H

#include "dialects/target/Target.h"

namespace nnc {

/// The number format in which layers of floats are computed.
enum class Precision {
  f32, ///< 32-bit floats
  f16, ///< 16-bit floats, on layers for which the target has routines
  /// 8-bit integers, on layers whose values have known ranges; f32 on the
  /// others.
  i8,
};

/// The forms that the search considers for layers that multiply integers of 8
/// or 16 bits.
enum class Products {
  any,
  integers, ///< only forms that multiply integers
  floats,   ///< only forms that multiply floats, if the layer has any
  both, ///< forms of both kinds, even if the target would never choose floats
};

/// Returns "f32", "f16" or "i8", the spelling of --precision and of tuning
/// files.
llvm::StringRef getName(Precision precision);

/// Succeeds if `machine` has routines that compute with 16-bit floats.
/// Otherwise fails with a diagnostic that lists the targets which have them.
mlir::LogicalResult checkHalves(target::MachineAttr machine,
                                mlir::Location location);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PRECISION_H
