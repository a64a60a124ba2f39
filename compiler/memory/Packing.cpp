//===- Packing.cpp - Places blocks with lifetimes in one arena ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Packing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <random>

using namespace llvm;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Lower bound
//===----------------------------------------------------------------------===//

/// Returns the number of bytes of `block` that are in use in `step`;
/// overlapping extents are counted once.
static int64_t getLiveBytes(const PackingBlock &block, int step,
                            int64_t align) {
  SmallVector<std::pair<int64_t, int64_t>> live;
  for (const Extent &extent : block)
    if (extent.first <= step && step <= extent.last)
      live.push_back({extent.offset, extent.offset + extent.bytes});
  llvm::sort(live);
  int64_t bytes = 0, end = 0;
  for (auto [from, to] : live) {
    bytes += std::max<int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
  }
  // An extent at the start of a block does not share its last cache line.
  bool alone = live.size() == 1 && live[0].first == 0;
  return alone ? alignTo(bytes, align) : bytes;
}

int64_t nnc::getPackingLowerBound(ArrayRef<PackingBlock> blocks,
                                  int64_t align) {
  int last = 0;
  for (const PackingBlock &block : blocks)
    for (const Extent &extent : block)
      last = std::max(last, extent.last);
  SmallVector<int64_t> live(last + 1, 0);
  for (const PackingBlock &block : blocks) {
    int from = last, to = 0;
    for (const Extent &extent : block) {
      from = std::min(from, extent.first);
      to = std::max(to, extent.last);
    }
    for (int step = from; step <= to; ++step)
      live[step] += getLiveBytes(block, step, align);
  }
  return *llvm::max_element(live);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// A constraint between two blocks: if block `other` is at offset o, the block
/// must not start in the open interval (o + low, o + high).
struct Conflict {
  unsigned other;
  int64_t low;
  int64_t high;
};

enum class Fit { Lowest, Tightest };

class Packer {
public:
  Packer(ArrayRef<PackingBlock> blocks, int64_t align);
  Packing pack(ArrayRef<unsigned> order, Fit fit) const;
  /// Moves blocks forward in `order` as long as this makes the packing smaller.
  void improve(SmallVector<unsigned> &order, Fit fit, Packing &best) const;
  /// Returns the cost of one call of pack(), in iterations of its inner loop.
  int64_t getCost() const { return cost; }

  struct Key {
    int64_t bytes = 0, area = 0, duration = 0, first = 0;
  };
  ArrayRef<Key> getKeys() const { return keys; }
  int64_t lowerBound;

private:
  int64_t align;
  int64_t cost = 0;
  SmallVector<SmallVector<Conflict>> conflicts;
  SmallVector<Key> keys;
};
} // namespace

Packer::Packer(ArrayRef<PackingBlock> blocks, int64_t align)
    : lowerBound(getPackingLowerBound(blocks, align)), align(align),
      conflicts(blocks.size()), keys(blocks.size()) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    int first = std::numeric_limits<int>::max(), last = 0;
    for (const Extent &extent : blocks[i]) {
      keys[i].bytes = std::max(keys[i].bytes, extent.offset + extent.bytes);
      first = std::min(first, extent.first);
      last = std::max(last, extent.last);
    }
    keys[i].first = first;
    keys[i].duration = last - first + 1;
    keys[i].area = keys[i].bytes * keys[i].duration;
    for (size_t j = 0; j < i; ++j)
      for (const Extent &a : blocks[i])
        for (const Extent &b : blocks[j]) {
          if (a.first > b.last || b.first > a.last)
            continue;
          int64_t low = b.offset - a.offset - a.bytes;
          int64_t high = b.offset + b.bytes - a.offset;
          conflicts[i].push_back({static_cast<unsigned>(j), low, high});
          conflicts[j].push_back({static_cast<unsigned>(i), -high, -low});
        }
  }
  for (const auto &list : conflicts)
    cost += 1 + list.size();
}

Packing Packer::pack(ArrayRef<unsigned> order, Fit fit) const {
  constexpr int64_t unplaced = -1;
  Packing packing;
  packing.offsets.assign(order.size(), unplaced);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned block : order) {
    taken.clear();
    for (const Conflict &conflict : conflicts[block])
      if (int64_t at = packing.offsets[conflict.other]; at != unplaced)
        taken.push_back({at + conflict.low, at + conflict.high});
    llvm::sort(taken);
    // `start` is the lowest offset that the intervals visited so far leave
    // free.
    int64_t start = 0, best = unplaced, room = 0;
    for (auto [low, high] : taken) {
      if (low >= start && (best == unplaced || low - start < room)) {
        best = start;
        room = low - start;
        if (fit == Fit::Lowest)
          break;
      }
      start = std::max(start, static_cast<int64_t>(
                                  alignTo(std::max<int64_t>(high, 0), align)));
    }
    packing.offsets[block] = best == unplaced ? start : best;
    packing.bytes =
        std::max(packing.bytes, packing.offsets[block] + keys[block].bytes);
  }
  packing.bytes = alignTo(packing.bytes, align);
  return packing;
}

void Packer::improve(SmallVector<unsigned> &order, Fit fit,
                     Packing &best) const {
  // The number of rounds keeps this below a tenth of a second. The seed is
  // fixed, so that the same blocks always get the same places.
  int64_t rounds = std::clamp<int64_t>(1'500'000 / cost, 20, 2000);
  std::minstd_rand random(1);
  for (; rounds > 0 && best.bytes > lowerBound; --rounds) {
    SmallVector<unsigned> top;
    for (auto [position, block] : llvm::enumerate(order))
      if (static_cast<int64_t>(alignTo(best.offsets[block] + keys[block].bytes,
                                       align)) == best.bytes)
        top.push_back(position);
    unsigned from = top[random() % top.size()];
    if (from == 0) {
      // The block is already first: move a random other one instead.
      from = random() % order.size();
    }
    unsigned to = from == 0 ? 0 : random() % from;
    SmallVector<unsigned> next(order);
    std::rotate(next.begin() + to, next.begin() + from,
                next.begin() + from + 1);
    Packing packing = pack(next, fit);
    if (packing.bytes <= best.bytes) {
      best = std::move(packing);
      order = std::move(next);
    }
  }
}

Packing nnc::packBlocks(ArrayRef<PackingBlock> blocks, int64_t align) {
  if (blocks.empty())
    return {};
  Packer packer(blocks, align);
  using Key = Packer::Key;
  static constexpr bool (*kOrders[])(const Key &, const Key &) = {
      [](const Key &a, const Key &b) { return a.bytes > b.bytes; },
      [](const Key &a, const Key &b) { return a.area > b.area; },
      [](const Key &a, const Key &b) { return a.duration > b.duration; },
      [](const Key &a, const Key &b) { return a.first < b.first; },
  };
  struct Try {
    SmallVector<unsigned> order;
    Fit fit;
    Packing packing;
  };
  SmallVector<Try> tries;
  for (auto before : kOrders)
    for (Fit fit : {Fit::Lowest, Fit::Tightest}) {
      SmallVector<unsigned> order =
          llvm::to_vector(llvm::seq<unsigned>(0, blocks.size()));
      ArrayRef<Key> keys = packer.getKeys();
      llvm::sort(order, [&](unsigned a, unsigned b) {
        return before(keys[a], keys[b]) || (!before(keys[b], keys[a]) && a < b);
      });
      Packing packing = packer.pack(order, fit);
      if (packing.bytes == packer.lowerBound)
        return packing;
      tries.push_back({std::move(order), fit, std::move(packing)});
    }
  // The best of the initial packings need not lead to the best final packing.
  Packing best = tries.front().packing;
  for (int round = 0; round < 3 && best.bytes > packer.lowerBound; ++round) {
    auto start = llvm::min_element(tries, [](const Try &a, const Try &b) {
      return a.packing.bytes < b.packing.bytes;
    });
    packer.improve(start->order, start->fit, start->packing);
    if (start->packing.bytes < best.bytes)
      best = start->packing;
    tries.erase(start);
  }
  return best;
}
