//===- FusionAlternatives.h - Pairs of layers as one, or one as a pair ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_FUSIONALTERNATIVES_H
#define NNC_COMPILER_TUNING_FUSIONALTERNATIVES_H

#include "compiler/routines/FusedForms.h"
#include "compiler/routines/Measurements.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// Choices for a tuning file by which pairs that could be one layer of `form`
/// get the other form than they have in `function`, as far as their costs are
/// so close that measurements could turn them; all else gets the form that it
/// has. None where no pair is close.
std::vector<Subject> chooseOtherForms(mlir::func::FuncOp function,
                                      const FusedForm &form);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_FUSIONALTERNATIVES_H
