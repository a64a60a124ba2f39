//===- WeightError.h - Errors from rounding weights -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTERROR_H
#define NNC_COMPILER_ROUTINES_WEIGHTERROR_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Returns the root mean square of the change to the elements of `weight` by
/// the encoding of `type`, relative to the root mean square of the elements.
/// Returns infinity if the encoding cannot hold them, and if they are not known
/// but the encoding depends on them (WeightEncoding::needsValues). Returns
/// nothing if they are not known otherwise.
std::optional<double> getWeightError(mlir::Value weight,
                                     mlir::RankedTensorType type);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTERROR_H
