//===- ErrorBudget.h - Bounds the rounding errors of fast methods ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_ERRORBUDGET_H
#define NNC_COMPILER_ROUTINES_ERRORBUDGET_H

#include "compiler/routines/Candidates.h"

namespace nnc {

/// Reduces the candidates of each layer to the fastest one of each schema whose
/// error is within the layer's share of the budget, so that the errors of all
/// layers together stay below `maxError`, whichever schemas are chosen.
/// Rounding errors are independent, so their squares add up. The shares are
/// those that save most time: with one price per squared error for all layers
/// (a Lagrange multiplier), the cheapest candidate of a layer minimises its
/// seconds plus the price of its error, and its error is the layer's share. The
/// price is the lowest at which the errors fit the budget. If they fit at no
/// price, for instance because layers name their routines, each layer keeps the
/// candidates with the least error.
void limitError(
    llvm::MutableArrayRef<llvm::SmallVector<Candidate, 0>> candidates,
    double maxError);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_ERRORBUDGET_H
