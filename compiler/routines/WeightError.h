//===- WeightError.h - What rounding weights costs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTERROR_H
#define NNC_COMPILER_ROUTINES_WEIGHTERROR_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Attribute of a function: the least bits that choices may leave of a weight,
/// 24. Without it weights keep the model's 32. Integers of 24 bits share a
/// scale: a weight loses up to 2^-24 of the largest of its group, however small
/// it is itself. No bound of the results' relative error follows that holds for
/// every input, so a user has to ask for them.
inline constexpr llvm::StringLiteral kWeightBitsAttr = "nn.weight_bits";

/// Attribute of a function: the kind of weights that layers have where they
/// can, as WeightEncoding::getKind() or compression::toString(StoredKind) calls
/// it, or "dense" for none. Without it the fastest are chosen.
inline constexpr llvm::StringLiteral kWeightsEncodingAttr =
    "nn.weights_encoding";

/// Attribute of a function: the bytes that all its weights may take together.
inline constexpr llvm::StringLiteral kMaxWeightsAttr = "nn.max_weights";

/// Attribute of a function: the bytes of memory that it may take for values.
/// Weights are not decoded into more.
inline constexpr llvm::StringLiteral kMaxRamAttr = "nn.max_ram";

/// Attribute of a module: the nanoseconds that reading weights as they are
/// stored, or decoding them, takes more than reading them as they are.
inline constexpr llvm::StringLiteral kStoredNsAttr = "nn.stored_ns";

/// Attribute of a module: the names of weights that take no fewer bytes in the
/// form of kWeightsEncodingAttr, in an array.
inline constexpr llvm::StringLiteral kKeptWeightsAttr = "nn.kept_weights";

/// Attribute of a function: that nnc-choose-routines finds the front of
/// weights, which it gives the module as an attribute of this name. That is a
/// list of pairs, the bytes of all weights and the seconds of a run more than
/// the fastest plan takes: first of that plan, then of smaller ones.
inline constexpr llvm::StringLiteral kWeightsFrontAttr = "nn.weights_front";

/// Root mean square of what the encoding in the layout of `type` changes of the
/// elements of `weight`, over that of the elements; infinity if one of them is
/// not finite. Nothing if the elements are not known.
std::optional<double> getWeightError(mlir::Value weight,
                                     mlir::RankedTensorType type);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTERROR_H
