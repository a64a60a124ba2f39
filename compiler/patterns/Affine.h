//===- Affine.h - Scales and shifts of channels ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_AFFINE_H
#define NNC_COMPILER_PATTERNS_AFFINE_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// x * scale + shift with one value for all elements or one for each index of
/// an axis. Kept in double: a chain is rounded once, when it is written out.
struct Affine {
  llvm::SmallVector<double> scale = {1.0};
  llvm::SmallVector<double> shift = {0.0};

  /// Whether, written as elements of `type`, some scale is not 1.
  bool scales(mlir::Type type) const;
  bool shifts() const;
  /// What applying this and then `next` computes.
  Affine then(const Affine &next) const;
  /// Whether all values can be written as finite elements of `type`, and no
  /// shift is so large that rounding to it may be what the model wants.
  bool isHarmless(mlir::Type type) const;
};

/// One op as an Affine of its operand `x`, along `axis` (-1: all elements
/// alike).
struct AffineOp {
  mlir::Value x;
  int64_t axis;
  Affine affine;
};

/// `op` if it scales and shifts one operand by constants: add, sub, mul, div,
/// neg, batch_norm on floating point.
std::optional<AffineOp> matchAffine(mlir::Operation *op);

/// A constant weight as [outer][channels][inner]. With groups, the channels of
/// one group follow those of another every `outerPerGroup` steps.
struct WeightView {
  unsigned operand; ///< of the op that the weight belongs to
  int64_t outer, channels, inner, outerPerGroup;

  int64_t getChannel(int64_t outerIndex, int64_t index) const {
    return outerIndex / outerPerGroup * channels + index;
  }
};

/// How the weight of a convolution or product follows the result's channels,
/// or those of its first operand.
std::optional<WeightView> getOutputView(mlir::Operation *anchor);
std::optional<WeightView> getInputView(mlir::Operation *anchor);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_AFFINE_H
