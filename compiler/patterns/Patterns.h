//===- Patterns.h - The rewrites that passes are made of ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each populate function is one file of this folder.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_PATTERNS_H
#define NNC_COMPILER_PATTERNS_PATTERNS_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Applies `patterns` and the ops' folders to a fixed point. Constants keep
/// their locations, and memory of constants that the patterns made is freed as
/// soon as no op uses it.
mlir::LogicalResult applyPatterns(mlir::func::FuncOp function,
                                  mlir::RewritePatternSet &&patterns);

/// x + 0, x * 1 and their like; what is left of broadcasts and paddings.
void populateIdentities(mlir::RewritePatternSet &patterns);

/// Batch normalisation into the weights of the convolution or product before
/// it, with what stands between them; else into a multiply and an add.
void populateFoldBatchNorm(mlir::RewritePatternSet &patterns);

/// All scales and shifts of channels into one of each, and into the weights of
/// the convolution or product on either side.
void populateFoldAffine(mlir::RewritePatternSet &patterns);

/// Means of what a 1 x 1 convolution computes, before it.
void populatePooling(mlir::RewritePatternSet &patterns);

/// Activations that exporters write as expressions.
void populateActivations(mlir::RewritePatternSet &patterns);

/// Variances that are differences of large numbers become means of squares.
void populateVariances(mlir::RewritePatternSet &patterns);

/// Layer normalisation and softmax that exporters write as expressions.
void populateNormalizations(mlir::RewritePatternSet &patterns);

/// Products, softmax and product that are nn.attention, whose operands are read
/// where they lie.
void populateAttention(mlir::RewritePatternSet &patterns);

/// What no routine takes as it stands, in forms that one does.
void populateLegalForms(mlir::RewritePatternSet &patterns);

/// Transposes of a product's operands become its flags.
void populateMatMulForms(mlir::RewritePatternSet &patterns);

/// Transposed convolutions to few channels become convolutions whose results
/// are put in their places.
void populateSubPixels(mlir::RewritePatternSet &patterns);

/// Whether no pattern of populateLegalForms applies to `op`.
bool hasLegalForm(mlir::Operation *op);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_PATTERNS_H
