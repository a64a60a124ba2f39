//===- packing_test.cpp - Packing of blocks with lifetimes ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Packing.h"

#include <catch2/catch.hpp>

#include <random>

using namespace nnc;

static void requireValid(llvm::ArrayRef<PackingBlock> blocks,
                         const Packing &packing, int64_t align) {
  REQUIRE(packing.offsets.size() == blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    REQUIRE(packing.offsets[i] >= 0);
    REQUIRE(packing.offsets[i] % align == 0);
    for (const Extent &a : blocks[i]) {
      int64_t from = packing.offsets[i] + a.offset, to = from + a.bytes;
      REQUIRE(to <= packing.bytes);
      for (size_t j = 0; j < i; ++j)
        for (const Extent &b : blocks[j]) {
          int64_t other = packing.offsets[j] + b.offset;
          bool apart = a.last < b.first || b.last < a.first || to <= other ||
                       other + b.bytes <= from;
          REQUIRE(apart);
        }
    }
  }
}

TEST_CASE("What is not alive together shares memory") {
  std::vector<PackingBlock> blocks = {
      {{0, 100, 0, 1}}, {{0, 128, 1, 2}}, {{0, 100, 2, 3}}, {{0, 10, 5, 5}}};
  CHECK(getPackingLowerBound(blocks, 64) == 256);
  Packing packing = packBlocks(blocks, 64);
  requireValid(blocks, packing, 64);
  CHECK(packing.bytes == 256);
}

TEST_CASE("A later tenant of a block's other half leaves room for another") {
  // The second half of the first block is free until step 3.
  std::vector<PackingBlock> blocks = {{{0, 64, 0, 4}, {64, 64, 3, 4}},
                                      {{0, 64, 1, 2}}};
  CHECK(getPackingLowerBound(blocks, 64) == 128);
  Packing packing = packBlocks(blocks, 64);
  requireValid(blocks, packing, 64);
  CHECK(packing.bytes == 128);
}

TEST_CASE("Nothing to pack") {
  Packing packing = packBlocks({}, 64);
  CHECK(packing.bytes == 0);
}

TEST_CASE("Thousands of blocks that are alive together are packed at once") {
  // Too many conflicts to try several orders.
  std::mt19937 random(5);
  std::vector<PackingBlock> blocks;
  for (int i = 0; i < 3000; ++i)
    blocks.push_back({{0, int64_t(random() % 1000), int(random() % 500),
                       500 + int(random() % 500)}});
  for (int i = 0; i < 200; ++i) // what comes later finds room
    blocks.push_back({{0, 500, 1000 + i, 1001 + i}});
  Packing packing = packBlocks(blocks, 64);
  int collisions = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Extent &a = blocks[i][0], &b = blocks[j][0];
      int64_t from = packing.offsets[i], other = packing.offsets[j];
      collisions += a.first <= b.last && b.first <= a.last &&
                    from < other + b.bytes && other < from + a.bytes;
    }
  CHECK(collisions == 0);
  CHECK(packing.bytes <= 2 * getPackingLowerBound(blocks, 64));
}

TEST_CASE("Blocks cut from a full rectangle are put together again") {
  // Guillotine cuts of memory x time: a packing of exactly the bound exists.
  std::mt19937 random(7);
  int64_t got = 0, bound = 0;
  for (int round = 0; round < 30; ++round) {
    struct Rectangle {
      int64_t from, to;
      int first, last;
    };
    std::vector<Rectangle> cut = {{0, 64 * 256, 0, 63}};
    while (cut.size() < 40) {
      size_t i = random() % cut.size();
      Rectangle whole = cut[i], rest = whole;
      if (random() % 2 && whole.to - whole.from > 64) {
        whole.to = whole.from +
                   64 * (1 + random() % ((whole.to - whole.from) / 64 - 1));
        rest.from = whole.to;
      } else if (whole.last > whole.first) {
        whole.last = whole.first + random() % (whole.last - whole.first);
        rest.first = whole.last + 1;
      } else {
        continue;
      }
      cut[i] = whole;
      cut.push_back(rest);
    }
    std::vector<PackingBlock> blocks;
    for (const Rectangle &r : cut)
      blocks.push_back({{0, r.to - r.from, r.first, r.last}});
    CHECK(getPackingLowerBound(blocks, 64) == 64 * 256);
    Packing packing = packBlocks(blocks, 64);
    requireValid(blocks, packing, 64);
    CHECK(packing.bytes >= 64 * 256);
    got += packing.bytes;
    bound += 64 * 256;
  }
  // Much harder than a network: here every byte is in use all the time.
  INFO("on average " << double(got) / bound << " x the bound");
  CHECK(double(got) / bound < 1.15);
}

TEST_CASE("Random blocks with several extents never collide") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<PackingBlock> blocks(1 + random() % 30);
    for (PackingBlock &block : blocks)
      for (int n = 1 + random() % 3; n > 0; --n) {
        int first = random() % 20;
        block.push_back({int64_t(random() % 300), int64_t(random() % 500),
                         first, first + int(random() % 6)});
      }
    Packing packing = packBlocks(blocks, 64);
    requireValid(blocks, packing, 64);
    REQUIRE(packing.bytes >= getPackingLowerBound(blocks, 64));
    REQUIRE(packBlocks(blocks, 64).offsets == packing.offsets);
  }
}
