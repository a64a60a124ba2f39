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

/// The values of a function, integers of 8 or 16 bits, that may be held as
/// 32-bit floats between layers: each float is an integer less the value's
/// offset, so that both stand for each other exactly. The offset is the integer
/// that a convolution pads the value with, as routines for floats pad with
/// zeros.
///
/// Values have one offset, and are open or not together, if layers only move
/// elements from one to the other, as reshapes, changes of layout and casts do.
class HeldFloats {
public:
  HeldFloats() = default;
  /// Finds the offsets of the values of `function`, none of which is open yet.
  explicit HeldFloats(mlir::func::FuncOp function);

  int64_t getOffset(mlir::Value value) const {
    return offsets.lookup(getLeader(value));
  }
  /// Whether a layer can compute with the value as floats.
  bool isOpen(mlir::Value value) const {
    return open.contains(getLeader(value));
  }
  bool anyOpen() const { return !open.empty(); }
  /// Opens the value and those that are held alike, if they are integers of 8
  /// or 16 bits.
  void setOpen(mlir::Value value);
  /// Lets `to`, of another layer, be held as `from` is.
  void copy(mlir::Value from, mlir::Value to);

private:
  mlir::Value getLeader(mlir::Value value) const;

  /// The value that stands for all that are held alike, by each of them. It is
  /// only a key, as its layer may have been replaced.
  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  llvm::DenseMap<mlir::Value, int64_t> offsets; ///< by leaders
  llvm::DenseSet<mlir::Value> open;             ///< leaders
};

/// Returns whether a layer only moves or selects integers of its operands,
/// which are all computed.
bool movesIntegers(nn::LayerOp layer);

/// Makes a layer that moves integers, which is a copy, move floats that hold
/// them.
void moveHeldFloats(nn::LayerOp layer);

/// Makes a layer, which is a copy, read extra number `extra` as floats less
/// `offset`.
void readHeldFloats(nn::LayerOp layer, unsigned extra, int64_t offset);

/// Makes a layer, which is a copy, store its integers as floats less `offset`.
void storeHeldFloats(nn::LayerOp layer, int64_t offset);

/// Returns whether a layer multiplies integers of 8 or 16 bits and sums the
/// products in 32 bits: a convolution, a transposed one, or a matrix product.
bool multipliesIntegers(nn::LayerOp layer);

/// A product of such integers, with what it takes to compute it with floats.
struct FloatProduct {
  /// The constant extra that the layer adds to its sums first, or none, and the
  /// floats that it becomes: the offset of the operand is made up for.
  std::optional<unsigned> bias;
  llvm::SmallVector<float> biases;

  /// Returns the product of `layer`, whose operands are held as `held` says;
  /// nothing where their offsets cannot be made up for, or where sums of
  /// products, which floats hold below 2^24 in whichever order they are added,
  /// may be larger and may not be rounded.
  static std::optional<FloatProduct> get(nn::LayerOp layer,
                                         const HeldFloats &held, bool mayRound);
  /// Makes `layer`, a copy of `original` whose constant operands are floats,
  /// compute with floats alone, which stand for integers as `held` says.
  /// Returns false where its epilogue has an op on integers that floats do not
  /// compute.
  bool apply(nn::LayerOp layer, const HeldFloats &held,
             nn::LayerOp original) const;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_HELDFLOATS_H
