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

/// Reports rules whose bits or encoding there are not.
mlir::LogicalResult verifyWeightRules(const WeightRules &rules,
                                      mlir::Location location);

/// Returns true if `routine` takes weights with fewer bits than the rules allow
/// for choices. A layer may still name such a routine itself.
bool takesTooFewBits(nn::LayerOp layer, const WeightRules &rules,
                     const Routine &routine);

/// Returns how --weights-encoding calls what `routine` reads, or "".
llvm::StringRef getWeightsKind(const Routine &routine);

/// Returns whether a routine reads weights as they are, in whichever order.
bool readsOwnValues(const Routine &routine);

/// Returns whether what a layer multiplies by takes fewer bytes in a form of
/// this kind, or of any if it is "", from which it is decoded again.
bool isWorthStoring(nn::LayerOp layer, llvm::StringRef kind);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTCHOICE_H
