//===- Patterns.h - The rewrites that passes are made of ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each populate function is defined in a file of its own in this folder.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_PATTERNS_H
#define NNC_COMPILER_PATTERNS_PATTERNS_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

#include <functional>

namespace nnc {

/// Returns `pads`, the padding of a convolution of images, with that of `pad`,
/// which computes the images, added; nullopt if `pad` pads other axes, too, or
/// cuts images.
std::optional<llvm::SmallVector<int64_t>>
joinPads(nn::PadOp pad, llvm::ArrayRef<int64_t> pads);

/// Adds patterns that remove identities: x + 0, x * 1 and the like, and
/// broadcasts and paddings that change nothing.
void populateIdentities(mlir::RewritePatternSet &patterns);

/// Adds patterns that fold a batch normalisation, with the scales and shifts in
/// front of it, into the weights of the convolution or matrix product before
/// them, or else turn it into a multiply and an add.
void populateFoldBatchNorm(mlir::RewritePatternSet &patterns);

/// Adds patterns that compose a chain of scales and shifts of channels into one
/// multiply and one add, and fold these into the weights of the convolution or
/// matrix product before or after them.
void populateFoldAffine(mlir::RewritePatternSet &patterns);

/// Adds patterns that move an average pooling from behind a 1 x 1 convolution
/// to its input, so that the convolution computes fewer pixels.
void populatePooling(mlir::RewritePatternSet &patterns);

/// Adds patterns that recognise activations which exporters write as
/// expressions.
void populateActivations(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn a variance computed as a difference of large numbers
/// into a mean of squared deviations.
void populateVariances(mlir::RewritePatternSet &patterns);

/// Adds patterns that recognise layer normalisation and softmax which exporters
/// write as expressions.
void populateNormalizations(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn product, softmax and product into nn.attention,
/// which reads its operands in place, without transposed copies.
void populateAttention(mlir::RewritePatternSet &patterns);

/// Adds patterns that compute matrix products in the shape of their operands
/// where these are reshaped for the product alone.
void populateProductShapes(mlir::RewritePatternSet &patterns);

/// Adds patterns for attention that gives zeros where a mask hides all keys:
/// it is computed first, and such rows are cleared behind it.
void populateHiddenRows(mlir::RewritePatternSet &patterns);

/// Adds patterns that fold transposes of a matrix product's operands into its
/// transpose flags.
void populateMatMulForms(mlir::RewritePatternSet &patterns);

/// Adds patterns that turn a transposed convolution to few channels into a
/// convolution that computes all output phases as channels, followed by a
/// rearrangement into their positions (sub-pixel convolution).
void populateSubPixels(mlir::RewritePatternSet &patterns);

/// Adds patterns that move transposes behind elementwise ops if a later
/// transpose undoes them.
void populateTransposes(mlir::RewritePatternSet &patterns);

/// A function that returns true if the target can compute a product of floats,
/// an nn.conv, nn.conv_transpose or nn.matmul, with integers.
using ProductChoice = std::function<bool(mlir::Operation *)>;

/// Adds patterns that replace a float op between dequantized operands and a
/// quantized result by the op on integers, if the results differ by at most one
/// unit. Products are replaced only if `hasIntegers` returns true for them.
void populateQuantizedLayers(mlir::RewritePatternSet &patterns,
                             const ProductChoice &hasIntegers);

/// Adds a pattern for products that remain products of floats: they multiply by
/// dequantized constant weights of at most 8 bits in their stored form.
void populateBlockWeights(mlir::RewritePatternSet &patterns);

/// Marks, by kByteWeightsAttr, products whose 8-bit constants are still
/// dequantized after these patterns, if nnc-choose-routines can store the
/// constants as bytes. Returns the number of such constants that become floats
/// instead.
int64_t markByteWeights(mlir::func::FuncOp function);

/// Returns the reason why `op`, which still computes with floats after these
/// patterns, cannot be computed with integers; empty for ops that run no
/// routine of their own.
std::string getFloatObstacle(mlir::Operation *op,
                             const ProductChoice &hasIntegers);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_PATTERNS_H
