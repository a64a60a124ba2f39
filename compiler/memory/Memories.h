//===- Memories.h - Divides blocks among several memories -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_MEMORIES_H
#define NNC_COMPILER_MEMORY_MEMORIES_H

#include "compiler/memory/Packing.h"

namespace nnc {

/// A memory of a machine: how many bytes blocks may take there, and whether
/// each access takes longer than one of a memory that is not slow.
struct MemoryLimit {
  int64_t bytes;
  bool slow;
};

/// An assignment of blocks to memories: the number of the memory of each block,
/// its offset there, a multiple of the alignment, and the bytes that are taken
/// of each memory.
struct Division {
  llvm::SmallVector<unsigned> memories;
  llvm::SmallVector<int64_t> offsets;
  llvm::SmallVector<int64_t> bytes;
  bool fits = true; ///< whether no memory has more bytes than its limit
};

/// Divides blocks among memories, each of which packBlocks() packs.
/// `accesses[i]` is how many bytes of block i are read and written in all, each
/// as often as that happens.
/// Memories that are not slow are filled first, in the given order, by the
/// blocks with the most accesses a byte; the order of the largest blocks first
/// is taken where it fits and the other does not. The last memory takes what is
/// left, and has more bytes than its limit where no order fits. The result
/// depends on the arguments only.
Division divideBlocks(llvm::ArrayRef<PackingBlock> blocks,
                      llvm::ArrayRef<int64_t> accesses,
                      llvm::ArrayRef<MemoryLimit> memories, int64_t align);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_MEMORIES_H
