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
#include <map>
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

/// The limit on the number of extents of one block that are examined in all
/// steps together. It matters for blocks of ten thousand values.
static constexpr int64_t kMaxLookups = int64_t(1) << 27;

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
    // The result remains a lower bound if some steps are left out.
    int64_t steps = kMaxLookups / static_cast<int64_t>(block.size());
    to = static_cast<int>(std::min<int64_t>(to, from + steps));
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
  /// Returns true if there are too many conflicts to try several orders.
  bool isTooLarge() const { return cost > kMaxConflicts; }
  int64_t lowerBound;

private:
  /// The limit on the number of conflicts. No known network comes near it; with
  /// several thousand values alive at once, the lists would take gigabytes and
  /// each try seconds.
  static constexpr int64_t kMaxConflicts = int64_t(1) << 22;

  void findConflicts(ArrayRef<PackingBlock> blocks, unsigned i);

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
    ++cost;
    findConflicts(blocks, i);
  }
}

/// Finds the conflicts of block `i` with the blocks before it.
void Packer::findConflicts(ArrayRef<PackingBlock> blocks, unsigned i) {
  for (unsigned j = 0; j < i && !isTooLarge(); ++j) {
    if (keys[i].first >= keys[j].first + keys[j].duration ||
        keys[j].first >= keys[i].first + keys[i].duration)
      continue;
    for (const Extent &a : blocks[i])
      for (const Extent &b : blocks[j]) {
        if (a.first > b.last || b.first > a.last)
          continue;
        int64_t low = b.offset - a.offset - a.bytes;
        int64_t high = b.offset + b.bytes - a.offset;
        conflicts[i].push_back({j, low, high});
        conflicts[j].push_back({i, -high, -low});
        cost += 2;
      }
  }
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
    // Invariant: `start` is the lowest offset that the intervals visited so far
    // leave free.
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
  int64_t least = std::min<int64_t>(20, 4'000'000 / cost);
  int64_t rounds = std::clamp<int64_t>(1'500'000 / cost, least, 2000);
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

/// Places each block, in the order of their first steps, at the lowest offset
/// that is free during its whole lifetime. Takes hardly more time than sorting.
static Packing packInOrder(ArrayRef<PackingBlock> blocks,
                           ArrayRef<Packer::Key> keys, int64_t align) {
  Packing packing;
  packing.offsets.resize(blocks.size());
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, blocks.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(keys[a].first, a) < std::pair(keys[b].first, b);
  });
  // Free ranges by their offsets, and live blocks by the step after their last
  // one.
  std::map<int64_t, int64_t> free = {{0, std::numeric_limits<int64_t>::max()}};
  std::multimap<int64_t, unsigned> alive;
  auto getBytes = [&](unsigned block) {
    return static_cast<int64_t>(alignTo(keys[block].bytes, align));
  };
  for (unsigned block : order) {
    while (!alive.empty() && alive.begin()->first <= keys[block].first) {
      unsigned gone = alive.begin()->second;
      alive.erase(alive.begin());
      int64_t from = packing.offsets[gone], to = from + getBytes(gone);
      auto next = free.lower_bound(from);
      if (next != free.end() && next->first == to) {
        to = next->second;
        next = free.erase(next);
      }
      if (next != free.begin() && std::prev(next)->second == from)
        std::prev(next)->second = to;
      else
        free[from] = to;
    }
    int64_t bytes = getBytes(block);
    auto room = llvm::find_if(free, [&](const auto &place) {
      return place.second - place.first >= bytes;
    });
    auto [from, to] = *room;
    free.erase(room);
    if (from + bytes < to)
      free[from + bytes] = to;
    packing.offsets[block] = from;
    packing.bytes = std::max(packing.bytes, from + bytes);
    alive.insert({keys[block].first + keys[block].duration, block});
  }
  return packing;
}

Packing nnc::packBlocks(ArrayRef<PackingBlock> blocks, int64_t align) {
  if (blocks.empty())
    return {};
  Packer packer(blocks, align);
  if (packer.isTooLarge())
    return packInOrder(blocks, packer.getKeys(), align);
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
