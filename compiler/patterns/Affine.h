//===- Affine.h - Scales and shifts of channels ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_AFFINE_H
#define NNC_COMPILER_PATTERNS_AFFINE_H

#include "dialects/nn/Nn.h"

#include <algorithm>
#include <limits>

namespace nnc {

/// The function x * scale + shift, with one scale and one shift for all
/// elements or one for each index of an axis. They are doubles, so that a chain
/// of ops is rounded only once, when the composed constants are written out.
struct Affine {
  /// The interval from the smallest to the largest of the shifts that were
  /// added; it is empty at first.
  struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void add(double value) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    double getWidth() const { return std::max(0.0, most - least); }
  };

  llvm::SmallVector<double> scale = {1.0};
  llvm::SmallVector<double> shift = {0.0};
  /// The ranges of the c_i of Accuracy.h, one for all elements or one for each
  /// index. For each c of these, one of the composed ops rounds x * scale + c.
  llvm::SmallVector<Range> rounded = {Range()};

  /// Returns the function of a single op that multiplies by `scale` (`scaling`)
  /// or adds `shift` (`shifting`).
  static Affine scaling(llvm::ArrayRef<double> scale);
  static Affine shifting(llvm::ArrayRef<double> shift);
  /// Returns the identity as the head of a chain that begins at `value`. If
  /// `value` is inexact (`isInexact`), its own error counts as a rounding of
  /// c_0 = 0.
  static Affine startingFrom(mlir::Value value);

  /// Returns true if some scale differs from 1 after rounding to the element
  /// type `type`.
  bool scales(mlir::Type type) const;
  bool shifts() const;
  /// Returns the composition: this function first, then `next`.
  Affine then(const Affine &next) const;
  /// Returns true if all scales and shifts are finite as elements of `type`,
  /// and no shift is so large that the model may rely on the rounding that
  /// adding it causes.
  bool isHarmless(mlir::Type type) const;
  /// Returns true if the function is a multiplication by powers of two, which
  /// rounds nothing.
  bool isExact() const;
  /// Returns true if one multiply and one add are about as accurate as the
  /// chain of ops that this function was composed from, for every x; see
  /// Accuracy.h.
  bool isAccurate() const;
  /// Returns true if one multiply and one add round only their final result, so
  /// that no chain of ops is more accurate.
  bool roundsOnce() const;
};

/// An op seen as an Affine function of its operand `x`, with one scale and
/// shift for each index of `axis`, or the same for all elements if `axis` is
/// -1.
struct AffineOp {
  mlir::Value x;
  int64_t axis;
  Affine affine;
};

/// Returns `op` as an AffineOp if it scales and shifts one operand by
/// constants: an add, sub, mul, div, neg or batch_norm on floating point.
/// Otherwise nullopt.
std::optional<AffineOp> matchAffine(mlir::Operation *op);

/// View of a constant weight as an array [outer][channels][inner], where the
/// channels are those that scales and shifts apply to. With groups, each run of
/// `outerPerGroup` outer indices belongs to the next group of channels.
struct WeightView {
  unsigned operand; ///< index of the weight among the op's operands
  int64_t outer, channels, inner, outerPerGroup;

  int64_t getChannel(int64_t outerIndex, int64_t index) const {
    return outerIndex / outerPerGroup * channels + index;
  }
};

/// Returns the weight of a convolution or matrix product viewed by the channels
/// of its result (output view) or of its first operand (input view).
std::optional<WeightView> getOutputView(mlir::Operation *anchor);
std::optional<WeightView> getInputView(mlir::Operation *anchor);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_AFFINE_H
