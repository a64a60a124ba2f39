//===- WeightError.h - What rounding weights costs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTERROR_H
#define NNC_COMPILER_ROUTINES_WEIGHTERROR_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Root mean square of what `weight`'s elements lose where its layout, of
/// `type`, holds integers, over that of the elements; infinity where one is no
/// finite number. Nothing where the elements are not known. Rounding errors are
/// taken for evenly distributed, so that the largest element of each group
/// tells.
std::optional<double> getWeightError(mlir::Value weight,
                                     mlir::RankedTensorType type);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTERROR_H
