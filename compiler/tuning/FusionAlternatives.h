//===- FusionAlternatives.h - Layer pairs fused and split in turn ---------===//
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

/// Returns choices for a tuning file that give each pair of layers of `form`
/// the other form than it has in `function`: fused pairs are split, and split
/// pairs are fused. Only pairs are changed whose two costs are so close that
/// measurements could reverse the decision; all other pairs keep their form.
/// The list is empty if no pair is that close.
std::vector<Subject> chooseOtherForms(mlir::func::FuncOp function,
                                      const FusedForm &form);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_FUSIONALTERNATIVES_H
