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
  /// 32-bit floats, which products round to tf32 where the target has routines.
  tf32,
  bf16, ///< bfloat16, on layers for which the target has routines
  f16,  ///< 16-bit floats, on layers for which the target has routines
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

/// All of them, in the order in which messages list them.
inline constexpr Precision kPrecisions[] = {Precision::f32, Precision::tf32,
                                            Precision::bf16, Precision::f16,
                                            Precision::i8};

/// Returns "f32", "tf32", "bf16", "f16" or "i8", the spelling of --precision
/// and of tuning files.
llvm::StringRef getName(Precision precision);

/// Returns the 16-bit floats that layers may store, or null if there are none.
mlir::FloatType getHalf(Precision precision, mlir::MLIRContext *context);

/// Succeeds if `machine` has routines for floats that compute with
/// `precision`. Otherwise fails with a diagnostic that lists the targets which
/// have them.
mlir::LogicalResult checkPrecision(Precision precision,
                                   target::MachineAttr machine,
                                   mlir::Location location);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_PRECISION_H
