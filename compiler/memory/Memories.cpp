//===- Memories.cpp - Divides blocks among several memories ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Memories.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <numeric>

using namespace nnc;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Returns the size of a block in bytes: the largest end of its extents.
static int64_t getBlockBytes(const PackingBlock &block) {
  int64_t bytes = 0;
  for (const Extent &extent : block)
    bytes = std::max(bytes, extent.offset + extent.bytes);
  return bytes;
}

namespace {
/// The blocks assigned to one memory while it is being filled.
class Filling {
public:
  Filling(ArrayRef<PackingBlock> blocks, int64_t limit, int64_t align)
      : all(blocks), limit(limit), align(align) {}

  /// Assigns the blocks of `order` to this memory up to the first that does not
  /// fit, and then each later block that still fits. Returns the remaining
  /// ones.
  SmallVector<unsigned> fill(ArrayRef<unsigned> order) {
    // Packing takes time, so the first block that does not fit is found by
    // bisection.
    size_t fits = 0, tooMany = order.size() + 1;
    while (tooMany - fits > 1) {
      size_t middle = fits == 0 && tooMany == order.size() + 1
                          ? order.size()
                          : (fits + tooMany) / 2;
      (tryAll(order.take_front(middle)) ? fits : tooMany) = middle;
    }
    take(order.take_front(fits));
    SmallVector<unsigned> left;
    for (unsigned block : order.drop_front(fits)) {
      SmallVector<unsigned> more(taken);
      more.push_back(block);
      if (tryAll(more))
        take(block);
      else
        left.push_back(block);
    }
    return left;
  }

  void take(ArrayRef<unsigned> blocks) { llvm::append_range(taken, blocks); }

  /// Writes the memory and the offset of each assigned block to `division`.
  void place(unsigned memory, Division &division) const {
    Packing packing = packBlocks(getBlocks(taken), align);
    division.bytes[memory] = packing.bytes;
    division.fits &= packing.bytes <= limit;
    for (auto [block, offset] : llvm::zip_equal(taken, packing.offsets)) {
      division.memories[block] = memory;
      division.offsets[block] = offset;
    }
  }

private:
  SmallVector<PackingBlock> getBlocks(ArrayRef<unsigned> numbers) const {
    return llvm::map_to_vector(numbers,
                               [&](unsigned block) { return all[block]; });
  }
  bool tryAll(ArrayRef<unsigned> numbers) const {
    SmallVector<PackingBlock> blocks = getBlocks(numbers);
    return getPackingLowerBound(blocks, align) <= limit &&
           packBlocks(blocks, align).bytes <= limit;
  }

  ArrayRef<PackingBlock> all;
  int64_t limit, align;
  SmallVector<unsigned> taken;
};
} // namespace

/// Fills one memory after the other with the blocks in the given order.
static Division fillInOrder(ArrayRef<PackingBlock> blocks,
                            SmallVector<unsigned> order,
                            ArrayRef<MemoryLimit> memories, int64_t align) {
  Division division;
  division.memories.resize(blocks.size());
  division.offsets.resize(blocks.size());
  division.bytes.resize(memories.size());
  SmallVector<unsigned> filled = llvm::to_vector(
      llvm::seq<unsigned>(0, static_cast<unsigned>(memories.size())));
  llvm::sort(filled, [&](unsigned a, unsigned b) {
    return std::pair(memories[a].slow, a) < std::pair(memories[b].slow, b);
  });
  for (unsigned memory : filled) {
    Filling filling(blocks, memories[memory].bytes, align);
    order = filling.fill(order);
    if (memory == filled.back())
      filling.take(order);
    filling.place(memory, division);
  }
  return division;
}

Division nnc::divideBlocks(ArrayRef<PackingBlock> blocks,
                           ArrayRef<int64_t> accesses,
                           ArrayRef<MemoryLimit> memories, int64_t align) {
  SmallVector<int64_t> bytes = llvm::map_to_vector(blocks, getBlockBytes);
  SmallVector<unsigned> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  auto getDensity = [&](unsigned block) {
    return static_cast<double>(accesses[block]) /
           static_cast<double>(std::max<int64_t>(bytes[block], 1));
  };
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-getDensity(a), a) < std::pair(-getDensity(b), b);
  });
  Division division = fillInOrder(blocks, order, memories, align);
  if (division.fits)
    return division;
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-bytes[a], a) < std::pair(-bytes[b], b);
  });
  Division other = fillInOrder(blocks, order, memories, align);
  return other.fits ? other : division;
}
