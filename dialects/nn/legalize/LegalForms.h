//===- LegalForms.h - Ops in forms that routines compute --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LEGALIZE_LEGALFORMS_H
#define NNC_DIALECTS_NN_LEGALIZE_LEGALFORMS_H

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Adds patterns that rewrite ops which no routine can compute as they stand
/// into forms that a routine can compute.
void populateLegalForms(mlir::RewritePatternSet &patterns);

/// Adds patterns that rewrite convolutions over three spatial axes into
/// convolutions over two. populateLegalForms() adds them, too.
void populateVolumes(mlir::RewritePatternSet &patterns);

/// Returns true if no pattern of populateLegalForms applies to `op`.
bool hasLegalForm(mlir::Operation *op);

} // namespace nnc

#endif // NNC_DIALECTS_NN_LEGALIZE_LEGALFORMS_H
