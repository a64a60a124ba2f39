//===- Packing.h - Places blocks with lifetimes in one arena --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_PACKING_H
#define NNC_COMPILER_MEMORY_PACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace nnc {

/// A live range of a part of a block: the bytes [offset, offset + bytes) of the
/// block are in use in the steps from `first` to `last`, both included.
struct Extent {
  int64_t offset;
  int64_t bytes;
  int first;
  int last;
};

/// A unit of allocation, whose extents keep their offsets relative to each
/// other: one buffer, or several buffers that are parts of each other or use
/// the same bytes one after another. Extents of one block may overlap.
using PackingBlock = llvm::SmallVector<Extent, 1>;

/// An assignment of blocks to the arena: the byte offset of each block, a
/// multiple of the alignment, and the total size in bytes.
struct Packing {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Returns a lower bound on the bytes of any packing: the largest number of
/// bytes that are in use in the same step.
int64_t getPackingLowerBound(llvm::ArrayRef<PackingBlock> blocks,
                             int64_t align);

/// Gives each block a place so that no two extents of different blocks overlap
/// in both memory and time. It tries several orders of the blocks (largest
/// first, longest first, ...), placing each block where it fits lowest or
/// tightest, and then improves the best order by moving blocks at the top of
/// the arena forward. The result depends on the arguments only.
Packing packBlocks(llvm::ArrayRef<PackingBlock> blocks, int64_t align);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_PACKING_H
