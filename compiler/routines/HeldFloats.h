//===- HeldFloats.h - Integers that layers hold as floats -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_HELDFLOATS_H
#define NNC_COMPILER_ROUTINES_HELDFLOATS_H

#include "dialects/nn/Nn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnc {

/// The integer values of a function that layers may pass to each other as
/// 32-bit floats. These values have 8 or 16 bits. Each float is the integer
/// minus the value's offset, so that the conversion is exact in both
/// directions. The offset is the integer with which a convolution pads the
/// value, because routines for floats pad with zeros.
///
/// A value is open if it may be held so. Values share one offset, and are open
/// together, if layers only move elements from one to the other, as reshapes,
/// changes of layout and casts do.
class HeldFloats {
public:
  HeldFloats() = default;
  /// Finds the offsets of the values of `function`, none of which is open yet.
  explicit HeldFloats(mlir::func::FuncOp function);

  int64_t getOffset(mlir::Value value) const {
    return offsets.lookup(getLeader(value));
  }
  /// Returns true if layers may compute with the value as floats.
  bool isOpen(mlir::Value value) const {
    return open.contains(getLeader(value));
  }
  bool anyOpen() const { return !open.empty(); }
  /// Opens the value and those that share its offset, if they are integers of 8
  /// or 16 bits.
  void setOpen(mlir::Value value);
  /// Lets `to`, the result of another layer, have the offset and openness of
  /// `from`.
  void copy(mlir::Value from, mlir::Value to);

private:
  mlir::Value getLeader(mlir::Value value) const;

  /// The representative of each group of values that share an offset, by
  /// member. It is only a key, as its layer may have been replaced.
  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  llvm::DenseMap<mlir::Value, int64_t> offsets; ///< keyed by representative
  llvm::DenseSet<mlir::Value> open;             ///< representatives
};

/// Returns true if the layer only moves or selects integers of its operands,
/// none of which is a constant.
bool movesIntegers(nn::LayerOp layer);

/// Makes `layer`, which is a copy and moves integers, move the floats that hold
/// them instead.
void moveHeldFloats(nn::LayerOp layer);

/// Makes `layer`, which is a copy, read its extra with the index `extra` as
/// floats that are the integers minus `offset`.
void readHeldFloats(nn::LayerOp layer, unsigned extra, int64_t offset);

/// Makes `layer`, which is a copy, store its integers as floats that are the
/// integers minus `offset`.
void storeHeldFloats(nn::LayerOp layer, int64_t offset);

/// Returns true if a layer multiplies integers of 8 or 16 bits and sums the
/// products in 32 bits: a convolution, a transposed convolution, or a matrix
/// product.
bool multipliesIntegers(nn::LayerOp layer);

/// The changes to a layer that multiplies integers (multipliesIntegers()) with
/// which it computes with floats instead.
struct FloatProduct {
  /// The index of the constant extra that the layer adds to its sums first, if
  /// there is one, and the floats that replace its values. These floats also
  /// compensate the offset of the operand.
  std::optional<unsigned> bias;
  llvm::SmallVector<float> biases;

  /// Returns the product of `layer`, whose operands are held as `held` says.
  /// Returns nothing if the offsets cannot be compensated. Also returns nothing
  /// if a sum may reach 2^24, above which floats are no longer exact, unless
  /// `mayRound`.
  static std::optional<FloatProduct> get(nn::LayerOp layer,
                                         const HeldFloats &held, bool mayRound);
  /// Makes `layer` compute with floats alone, which hold integers as `held`
  /// says. `layer` is a copy of `original` whose constant operands are already
  /// floats. Returns false if its epilogue has an op on integers that cannot be
  /// computed with floats.
  bool apply(nn::LayerOp layer, const HeldFloats &held,
             nn::LayerOp original) const;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_HELDFLOATS_H
