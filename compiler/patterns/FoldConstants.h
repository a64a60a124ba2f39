//===- FoldConstants.h - Ops on constants become constants ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H
#define NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H

namespace mlir {
class RewritePatternSet;
}

namespace nnc {

/// Adds the pattern that replaces an nn op whose operands are all constants by
/// the constant that the reference evaluation computes for it.
void populateFoldConstants(mlir::RewritePatternSet &patterns);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_FOLDCONSTANTS_H
