//===- WeightError.h - What rounding weights costs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTERROR_H
#define NNC_COMPILER_ROUTINES_WEIGHTERROR_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Attribute of a module: the nanoseconds that reading weights as they are
/// stored, or decoding them, takes more than reading them as they are.
inline constexpr llvm::StringLiteral kStoredNsAttr = "nn.stored_ns";

/// Attribute of a module: the names of weights that take no fewer bytes in the
/// wanted form, in an array.
inline constexpr llvm::StringLiteral kKeptWeightsAttr = "nn.kept_weights";

/// Attribute of a module: the front of weights that nnc-store-weights finds
/// with its option `front`. It is a list of pairs, the bytes of all weights and
/// the seconds of a run more than with all weights as they are: first of the
/// fastest plan, then of smaller ones.
inline constexpr llvm::StringLiteral kWeightsFrontAttr = "nn.weights_front";

/// Root mean square of what the encoding in the layout of `type` changes of the
/// elements of `weight`, over that of the elements; infinity if one of them is
/// not finite. Nothing if the elements are not known.
std::optional<double> getWeightError(mlir::Value weight,
                                     mlir::RankedTensorType type);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTERROR_H
