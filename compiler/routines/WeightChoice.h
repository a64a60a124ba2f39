//===- WeightChoice.h - Which weights routines read -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTCHOICE_H
#define NNC_COMPILER_ROUTINES_WEIGHTCHOICE_H

#include "compiler/routines/Catalogue.h"
#include "compiler/routines/WeightRules.h"

namespace nnc {

/// Fails with a diagnostic if the encoding of `rules` is not supported.
mlir::LogicalResult verifyWeightRules(const WeightRules &rules,
                                      mlir::Location location);

/// Returns the name that --weights-encoding has for the encoding of the weights
/// that `routine` reads, or "" if there is none.
llvm::StringRef getWeightsKind(const Routine &routine);

/// Returns true if a routine reads weights without an encoding, in any layout.
bool readsOwnValues(const Routine &routine);

/// Returns true if a constant that the layer multiplies by takes fewer bytes in
/// a stored form of the kind `kind`, or of any kind if `kind` is "".
bool isWorthStoring(nn::LayerOp layer, llvm::StringRef kind);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTCHOICE_H
