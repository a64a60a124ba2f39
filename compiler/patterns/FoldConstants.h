//===- FoldConstants.h - Ops on constants become constants ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H
#define NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace nnc {

/// Adds the pattern that replaces an nn op whose operands are all constants by
/// the constant that the reference evaluation computes for it.
void populateFoldConstants(mlir::RewritePatternSet &patterns);

/// Returns true if the result of `op`, a tensor, is no larger as a constant
/// than a model should become by folding, and is computed fast enough.
bool isWorthFolding(mlir::Operation *op);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H
