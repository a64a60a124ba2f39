//===- EmptyTensors.h - Folds tensors without elements ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_EMPTYTENSORS_H
#define NNC_COMPILER_PATTERNS_EMPTYTENSORS_H

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Adds patterns that replace ops whose result has no elements, or that read no
/// elements, by constants.
void populateEmptyTensors(mlir::RewritePatternSet &patterns);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_EMPTYTENSORS_H
