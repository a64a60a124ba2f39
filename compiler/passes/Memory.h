//===- Memory.h - How ops of a planned function use memory ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_MEMORY_H
#define NNC_COMPILER_PASSES_MEMORY_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>

namespace nnc {

/// Alignment of the arena, of the weights, and of every buffer that is not part
/// of another: a cache line, and the widest vector.
inline constexpr int64_t kMemoryAlign = 64;

/// Bytes of the tensor `value` in memory, padding included.
int64_t getBytes(mlir::Value value);

/// The routine calls that compute `op`.
llvm::SmallVector<nn::RoutineCall> getCalls(mlir::Operation *op);

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
///
/// Joins of joins can have far more pieces than the function has ops: 25
/// concats of a value with itself, 33 million. A join with too many stands for
/// itself like a computed value, and its parts are copied into it.
class Contents {
public:
  explicit Contents(mlir::func::FuncOp function);
  /// In the order of their places in `value`.
  llvm::ArrayRef<Piece> of(mlir::Value value) const {
    return pieces.find(value)->second;
  }
  /// The bytes [begin, end) of `value`, counted from `begin`.
  Pieces of(mlir::Value value, int64_t begin, int64_t end) const;
  /// Whether moves make the value, which has too many pieces to tell.
  bool isCopied(mlir::Value value) const { return copied.contains(value); }

private:
  llvm::ArrayRef<Piece> follow(mlir::Operation *op, llvm::ArrayRef<Move> moves);
  llvm::ArrayRef<Piece> store(Pieces own);

  llvm::DenseMap<mlir::Value, llvm::ArrayRef<Piece>> pieces;
  llvm::DenseSet<mlir::Value> copied;
  std::deque<Pieces> stored; ///< that `pieces` points into
  int64_t count = 0;         ///< in all of `stored`
};

/// Whether `op` reads its operand number `operand` one element at a time, each
/// just before it writes the result's element at the same offset: then the
/// result may take the operand's place.
bool readsInPlace(mlir::Operation *op, unsigned operand);

/// Bytes from the start of an operand that `op` may read. More than the operand
/// has where the result's last channel block is padded and vectors reach as
/// far.
int64_t getReadBytes(mlir::Operation *op, unsigned operand);

/// How the epilogue of a layer with an anchor reads an extra; nullopt if no
/// kind of operand fits.
std::optional<exec::OperandKind> getOperandKind(nn::LayerOp layer,
                                                unsigned extra);

/// Bytes of working memory that the op's routine wants on so many threads; 0
/// where none is chosen.
int64_t getScratchBytes(mlir::Operation *op, int threads);

/// Where `value` lies: where `nnc-plan-memory` put it, the caller's buffer, or
/// a constant. Null if nothing says so.
exec::PlaceAttr getPlace(mlir::Value value);

/// What `nnc-verify-memory` checks: reports the first op that would read
/// something else than the value of its operand.
mlir::LogicalResult verifyMemory(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_MEMORY_H
