//===- Contents.h - How ops of a planned function use memory --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_CONTENTS_H
#define NNC_COMPILER_MEMORY_CONTENTS_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>

namespace nnc {

/// Returns the alignment in bytes of a device's part of the arena, of its
/// weights, and of every buffer there that is not part of another: that of the
/// device's memory space in the target of the module which holds `op`, or the
/// usual one if it has none. An empty name is the host's.
int64_t getMemoryAlign(mlir::Operation *op, llvm::StringRef device = "");

/// Returns the alignment in bytes of all memory that the program of a planned
/// function gets, and of its weights: the largest of those of its devices.
int64_t getProgramAlign(mlir::func::FuncOp function);

/// Returns the device whose memory `op` computes in: that of its first result;
/// empty for the host.
llvm::StringRef getDevice(mlir::Operation *op);

/// Returns the size in bytes of the tensor `value` in memory, including the
/// padding of its layout.
int64_t getBytes(mlir::Value value);

/// A copy of consecutive bytes: the `bytes` bytes at offset `source` of operand
/// number `operand` appear unchanged at offset `target` of the result. All
/// fields but `operand` are in bytes.
struct Move {
  unsigned operand;
  int64_t source;
  int64_t target;
  int64_t bytes;
};

/// Returns the moves that together do everything that `op` does, in the order
/// of its calls: one move for a reshape and for a slice of the outermost axis,
/// one per operand for a concat along that axis. The list is empty if `op`
/// computes something or its copies are not contiguous.
llvm::SmallVector<Move> getMoves(mlir::Operation *op);

/// A byte range of a value and its origin: the bytes [begin, end) of the value
/// are the bytes of the value `root` that begin at offset `origin`.
struct ByteRange {
  int64_t begin;
  int64_t end;
  mlir::Value root;
  int64_t origin;
  bool operator==(const ByteRange &other) const {
    return begin == other.begin && end == other.end && root == other.root &&
           origin == other.origin;
  }
};
using ByteRanges = llvm::SmallVector<ByteRange, 1>;

/// Maps every value of a function, and of the functions that its ops run, to
/// the byte ranges of computed values that it consists of. The results of views
/// and of contiguous slices and concats consist of bytes of other values; every
/// other value is a single range whose root is the value itself.
///
/// Concats of concats can have far more ranges than the function has ops: 25
/// concats of a value with itself have 33 million. The result of a concat with
/// too many ranges is its own root, like a computed value, and the operands are
/// copied into it.
class Contents {
public:
  explicit Contents(mlir::func::FuncOp function);
  /// Returns the ranges of `value` in the order of their offsets.
  llvm::ArrayRef<ByteRange> of(mlir::Value value) const {
    return ranges.find(value)->second;
  }
  /// Returns the ranges of the bytes [begin, end) of `value`, with offsets
  /// relative to `begin`.
  ByteRanges of(mlir::Value value, int64_t begin, int64_t end) const;
  /// Returns the result of nnc::getMoves() for an op of the function. It is
  /// computed once, since a concat is asked for each of its parts.
  llvm::ArrayRef<Move> getMoves(mlir::Operation *op) const {
    auto found = moves.find(op);
    return found == moves.end() ? llvm::ArrayRef<Move>() : found->second;
  }
  /// Returns true if moves make `value` but it has too many ranges to follow.
  bool isCopied(mlir::Value value) const { return copied.contains(value); }

private:
  void add(mlir::func::FuncOp function);
  void addControl(nn::ControlOpInterface op);
  llvm::ArrayRef<ByteRange> follow(mlir::Operation *op,
                                   llvm::ArrayRef<Move> moves);
  llvm::ArrayRef<ByteRange> store(ByteRanges own);

  llvm::DenseMap<mlir::Value, llvm::ArrayRef<ByteRange>> ranges;
  /// The moves of each op that has any.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Move, 1>> moves;
  llvm::DenseSet<mlir::Value> copied;
  std::deque<ByteRanges> stored; ///< owns the ranges that `ranges` refers to
  int64_t count = 0;             ///< number of ranges in `stored`
};

/// Returns true if `op` reads each element of its operand number `operand` just
/// before it writes the element of the result at the same offset, so that the
/// result may overwrite the operand in place.
bool readsInPlace(mlir::Operation *op, unsigned operand);

/// Returns the number of bytes from the start of operand number `operand` that
/// `op` may read. It exceeds the operand's size if the last channel block of
/// the result is padded, because vector loads then reach past the operand's
/// end.
int64_t getReadBytes(mlir::Operation *op, unsigned operand);

/// Returns the numbers of the carried values of `loop` that take their next
/// value from another carried value or a part of one. `end` is the last op of
/// the body, whose operands are the next values. Since the other carried value
/// may be overwritten first, the scratch memory of `end` holds a copy of each
/// of these next values.
llvm::SmallVector<unsigned> getExchanged(nn::LoopOp loop, mlir::Operation *end,
                                         const Contents &contents);

/// Returns the byte offsets in the scratch memory of `end` at which the next
/// values of `values`, the numbers that getExchanged() returns, are kept,
/// followed by the size of that scratch memory in bytes. `end` is the last op
/// of the body of a loop.
llvm::SmallVector<int64_t> getExchangeOffsets(mlir::Operation *end,
                                              llvm::ArrayRef<unsigned> values);

/// Returns the place of `value` in memory: the one that `nnc-plan-memory`
/// assigned, the caller's buffer for a function argument, or the weights for a
/// constant. Null if no place is known.
exec::PlaceAttr getPlace(mlir::Value value);

/// Returns the pool that holds an argument of a function: the caller's inputs
/// or its state.
exec::Pool getPool(mlir::BlockArgument argument);

/// Returns the place that result number `result` of a function must have when
/// the function ends: an output, the arena if the results are there, or a state
/// if the result is its next value.
exec::PlaceAttr getFinalPlace(mlir::func::FuncOp function, unsigned result);

/// Returns the numbers of the results in the order in which they are copied to
/// their final places: first the outputs, then the states. A state whose old
/// value is the next value of another state comes after that one.
llvm::SmallVector<unsigned> getFinishOrder(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_CONTENTS_H
