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

/// x * scale + shift with one value for all elements or one for each index of
/// an axis. Kept in double: a chain is rounded once, when it is written out.
struct Affine {
  /// From the least to the greatest of some shifts; empty to begin with.
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
  /// The c_i of Accuracy.h, one range for all elements or for each index: the
  /// ops that are composed here round x * scale + c for these c.
  llvm::SmallVector<Range> rounded = {Range()};

  /// What one op computes that multiplies by `scale` or adds `shift`.
  static Affine scaling(llvm::ArrayRef<double> scale);
  static Affine shifting(llvm::ArrayRef<double> shift);
  /// No change of a value, which has an error of its own if it `isInexact`.
  static Affine startingFrom(mlir::Value value);

  /// Whether, written as elements of `type`, some scale is not 1.
  bool scales(mlir::Type type) const;
  bool shifts() const;
  /// What applying this and then `next` computes.
  Affine then(const Affine &next) const;
  /// Whether all values can be written as finite elements of `type`, and no
  /// shift is so large that rounding to it may be what the model wants.
  bool isHarmless(mlir::Type type) const;
  /// Whether it is a product by a power of two.
  bool isExact() const;
  /// Whether one multiply and one add are about as accurate as the ops that are
  /// composed here, for every x; see Accuracy.h.
  bool isAccurate() const;
  /// Whether one multiply and one add round nothing but their result, and so
  /// are at least as accurate as any ops.
  bool roundsOnce() const;
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
