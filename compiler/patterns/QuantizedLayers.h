//===- QuantizedLayers.h - Helpers of patterns for QDQ models ---*- C++ -*-===//
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

/// Returns the dequantization that computes `value` from integers of at most
/// `maxWidth` bits, or null.
qnn::DequantizeOp getDequantized(mlir::Value value, unsigned maxWidth = 16);

/// Returns the largest magnitude that a stored integer minus its zero point can
/// have.
double getReach(const qnn::Parameters &parameters);

/// Returns the stored integers of a quantized value.
mlir::Value getIntegers(mlir::PatternRewriter &rewriter, mlir::Value quantized);

/// Returns the reason why a product of floats, an nn.conv, nn.conv_transpose or
/// nn.matmul, cannot be computed with integers; empty if it can.
llvm::StringRef getProductObstacle(mlir::Operation *op);

/// Returns the number of leading operands of `op` whose elements it moves or
/// selects; 0 if it computes new elements.
unsigned countMoved(mlir::Operation *op);

/// Adds patterns that replace products of dequantized operands, for which
/// `hasIntegers` returns true, by products of integers, whose sums are
/// dequantized or requantized.
void populateQuantizedProducts(mlir::RewritePatternSet &patterns,
                               const ProductChoice &hasIntegers);

/// Adds patterns that move dequantizations behind ops that only move or select
/// elements, and quantizations in front of them, so that the ops work on
/// integers.
void populateQuantizedMoves(mlir::RewritePatternSet &patterns);

/// Adds patterns for convolutions of floats with dequantized constant weights:
/// they multiply by the integers, as floats, and multiply the sums by the
/// scales.
void populateByteWeights(mlir::RewritePatternSet &patterns);

/// Adds patterns that compute means and layer normalisations of dequantized
/// values from the integers.
void populateQuantizedMeans(mlir::RewritePatternSet &patterns);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_QUANTIZEDLAYERS_H
