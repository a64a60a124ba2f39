//===- WeightError.h - What rounding weights costs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTERROR_H
#define NNC_COMPILER_ROUTINES_WEIGHTERROR_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Root mean square of what the encoding in the layout of `type` changes of the
/// elements of `weight`, over that of the elements; infinity if one of them is
/// not finite. Nothing if the elements are not known.
std::optional<double> getWeightError(mlir::Value weight,
                                     mlir::RankedTensorType type);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTERROR_H
