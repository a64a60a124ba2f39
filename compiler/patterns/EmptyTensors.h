//===- EmptyTensors.h - Results that no element goes into -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_EMPTYTENSORS_H
#define NNC_COMPILER_PATTERNS_EMPTYTENSORS_H

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Ops whose result, or one of whose operands, has no elements become
/// constants.
void populateEmptyTensors(mlir::RewritePatternSet &patterns);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_EMPTYTENSORS_H
