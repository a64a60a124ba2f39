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

/// Bytes [offset, offset + bytes) of a block hold something in the steps from
/// `first` to `last`, both included.
struct Extent {
  int64_t offset;
  int64_t bytes;
  int first;
  int last;
};

/// What has to stay together: one buffer, or several that are parts or later
/// tenants of the same bytes. Extents of one block may overlap.
using PackingBlock = llvm::SmallVector<Extent, 1>;

/// Where each block starts, in multiples of the alignment, and how much memory
/// that takes.
struct Packing {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// No packing takes less: the most bytes that are in use in one step.
int64_t getPackingLowerBound(llvm::ArrayRef<PackingBlock> blocks,
                             int64_t align);

/// Gives each block a place so that no two extents of different blocks overlap
/// in memory and in time. Tries the blocks in several orders (largest first,
/// longest first, ...), each where it fits lowest or tightest, then improves
/// the best order by moving what lies on top forward. Depends on nothing but
/// its arguments.
Packing packBlocks(llvm::ArrayRef<PackingBlock> blocks, int64_t align);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_PACKING_H
