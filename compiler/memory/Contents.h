//===- Contents.h - How ops of a planned function use memory --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_CONTENTS_H
#define NNC_COMPILER_MEMORY_CONTENTS_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

namespace nnc {

/// Alignment of the arena, of the weights, and of every buffer that is not part
/// of another: a cache line, and the widest vector.
inline constexpr int64_t kMemoryAlign = 64;

/// Bytes of the tensor `value` in memory, padding included.
int64_t getBytes(mlir::Value value);

/// `bytes` at `source` bytes from the start of an operand appear unchanged at
/// `target` bytes from the start of the result.
struct Move {
  unsigned operand;
  int64_t source;
  int64_t target;
  int64_t bytes;
};

/// The moves that make up the whole of `op`, in the order of its calls: one for
/// reshape and a slice of the outermost axis, one an operand for concat along
/// it. None if `op` computes something or moves elements one by one.
llvm::SmallVector<Move> getMoves(mlir::Operation *op);

/// Bytes [begin, end) of a value are those from `origin` on of what `root`
/// holds.
struct Piece {
  int64_t begin;
  int64_t end;
  mlir::Value root;
  int64_t origin;
  bool operator==(const Piece &other) const {
    return begin == other.begin && end == other.end && root == other.root &&
           origin == other.origin;
  }
};
using Pieces = llvm::SmallVector<Piece, 1>;

/// Of which computed bytes the values of a function consist: views and joins
/// are other values' bytes, whatever else is its own.
class Contents {
public:
  explicit Contents(mlir::func::FuncOp function);
  llvm::ArrayRef<Piece> of(mlir::Value value) const {
    return pieces.find(value)->second;
  }
  /// The bytes [begin, end) of `value`, counted from `begin`.
  Pieces of(mlir::Value value, int64_t begin, int64_t end) const;

private:
  llvm::DenseMap<mlir::Value, Pieces> pieces;
};

/// Whether `op` reads its operand number `operand` one element at a time, each
/// just before it writes the result's element at the same offset: then the
/// result may take the operand's place.
bool readsInPlace(mlir::Operation *op, unsigned operand);

/// Bytes from the start of an operand that `op` may read. More than the operand
/// has where the result's last channel block is padded and vectors reach as
/// far.
int64_t getReadBytes(mlir::Operation *op, unsigned operand);

/// Where `value` lies: where `nnc-plan-memory` put it, the caller's buffer, or
/// a constant. Null if nothing says so.
exec::PlaceAttr getPlace(mlir::Value value);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_CONTENTS_H
