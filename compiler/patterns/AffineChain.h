//===- AffineChain.h - Scales and shifts that follow each other -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_AFFINECHAIN_H
#define NNC_COMPILER_PATTERNS_AFFINECHAIN_H

#include "compiler/patterns/Affine.h"

namespace nnc {

/// A chain of ops that scale and shift along one axis, in which each op is the
/// only user of the one before it.
struct AffineChain {
  explicit AffineChain(mlir::Value base, int64_t axis = -1)
      : base(base), axis(axis), affine(Affine::startingFrom(base)) {}

  /// The largest number of ops in a chain.
  static constexpr size_t kMostOps = 16;

  mlir::Value base;
  int64_t axis;
  llvm::SmallVector<mlir::Operation *> ops;
  Affine affine;
  bool hasNorm = false; ///< whether an op is a batch normalisation
  bool divides = false; ///< whether a divisor has no exact reciprocal

  /// Appends an op to the chain. Returns false if it cannot be part of it.
  bool append(mlir::Operation *op, const AffineOp &next);
  bool endsInNorm() const { return llvm::isa<nn::BatchNormOp>(ops.back()); }
  /// Returns true if the chain is a single scale or shift rather than a batch
  /// normalisation, which has several.
  bool isOneOp() const { return ops.size() == 1 && !hasNorm; }
  /// Returns true if the bits of the chain's result may reach a step function
  /// (Accuracy.h). The bits of a batch normalisation are not defined, since an
  /// implementation may choose which parts it precomputes for each channel.
  bool reachesStep() const;
  /// Returns the weights into which the scale of the chain can be folded, those
  /// of the convolution or matrix product before it; nullopt if there are none.
  std::optional<WeightView> findWeights() const;
};

/// Returns the longest chain that starts at `first`, may be replaced by a
/// multiply and an add, and, with `normsOnly`, ends in a batch normalisation.
/// The chain has no ops if there is none.
AffineChain followChain(mlir::Operation *first, const AffineOp &match,
                        bool normsOnly);

/// Returns true if scales may be folded into operand `i` of an anchor. Weights
/// that are stored as 8-bit integers must keep their values.
bool mayScaleWeights(mlir::Operation *anchor, unsigned i);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_AFFINECHAIN_H
