//===- QuantizedLayers.h - What the patterns of QDQ models share ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_QUANTIZEDLAYERS_H
#define NNC_COMPILER_PATTERNS_QUANTIZEDLAYERS_H

#include "compiler/patterns/Patterns.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Returns the dequantization of integers of at most `maxWidth` bits that
/// computes `value`, or null.
qnn::DequantizeOp getDequantized(mlir::Value value, unsigned maxWidth = 16);

/// Returns the largest magnitude of a stored number minus its zero point.
double getReach(const qnn::Parameters &parameters);

/// Returns the integers of a quantized value.
mlir::Value getIntegers(mlir::PatternRewriter &rewriter, mlir::Value quantized);

/// Returns why a product that computes with floats, nn.conv, nn.conv_transpose
/// or nn.matmul, has no form on integers; empty if it has one.
llvm::StringRef getProductObstacle(mlir::Operation *op);

/// Returns how many of the first operands of `op` hold the elements that it
/// moves or selects; 0 if it computes elements.
unsigned countMoved(mlir::Operation *op);

/// Adds patterns that replace products of dequantized operands by products of
/// integers, whose sums are dequantized or requantized, where
/// `hasIntegers` holds.
void populateQuantizedProducts(mlir::RewritePatternSet &patterns,
                               const ProductChoice &hasIntegers);

/// Adds patterns that move dequantizations behind ops that only move or select
/// elements, and quantizations in front of them, so that the ops work on
/// integers.
void populateQuantizedMoves(mlir::RewritePatternSet &patterns);

/// Adds patterns that multiply in convolutions of floats by the integers of
/// dequantized constant weights, and their sums by the scales.
void populateByteWeights(mlir::RewritePatternSet &patterns);

/// Adds patterns that compute means and layer normalisations of dequantized
/// values as those of the integers.
void populateQuantizedMeans(mlir::RewritePatternSet &patterns);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_QUANTIZEDLAYERS_H
