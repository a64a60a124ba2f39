//===- Memories.h - Divides blocks among several memories -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_MEMORIES_H
#define NNC_COMPILER_MEMORY_MEMORIES_H

#include "compiler/memory/Packing.h"

namespace nnc {

/// A memory of a machine: its capacity in bytes, and whether its accesses are
/// slower than those of the other memories.
struct MemoryLimit {
  int64_t bytes;
  bool slow;
};

/// An assignment of blocks to memories. For each block, it holds the number of
/// its memory and its byte offset there, a multiple of the alignment; for each
/// memory, the number of bytes in use.
struct Division {
  llvm::SmallVector<unsigned> memories;
  llvm::SmallVector<int64_t> offsets;
  llvm::SmallVector<int64_t> bytes;
  bool fits = true; ///< whether each memory holds at most its capacity
};

/// Divides blocks among memories and packs the blocks of each memory with
/// packBlocks(). `accesses[i]` is the number of bytes of block i that a run
/// reads and writes; a byte that is accessed several times counts each time.
/// Memories that are not slow are filled first, each group in the given order.
/// Blocks are assigned in descending order of accesses per byte or, if only
/// that order fits, in descending order of size. The last memory takes the
/// remaining blocks and exceeds its capacity if neither order fits. The result
/// depends on the arguments only.
Division divideBlocks(llvm::ArrayRef<PackingBlock> blocks,
                      llvm::ArrayRef<int64_t> accesses,
                      llvm::ArrayRef<MemoryLimit> memories, int64_t align);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_MEMORIES_H
