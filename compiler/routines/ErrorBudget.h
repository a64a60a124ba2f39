//===- ErrorBudget.h - Bounds what fast methods lose to rounding ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_ERRORBUDGET_H
#define NNC_COMPILER_ROUTINES_ERRORBUDGET_H

#include "compiler/routines/Candidates.h"

namespace nnc {

/// Keeps of each layer's candidates the fastest of each schema, so that the
/// errors of all layers stay below `maxError` together, whichever schemas are
/// chosen: rounding errors are independent, so their squares add up. The budget
/// goes where it buys most time: a candidate costs its seconds and a price for
/// its error's square, the same in all layers (a Lagrange multiplier), and the
/// price is the lowest that suffices. The error of what is cheapest then is the
/// layer's share. Where no price suffices, as when layers name their routines,
/// the least error is kept.
void limitError(
    llvm::MutableArrayRef<llvm::SmallVector<Candidate, 0>> candidates,
    double maxError);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_ERRORBUDGET_H
