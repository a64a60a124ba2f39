//===- memories_test.cpp - Blocks among several memories ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Memories.h"

#include <catch2/catch.hpp>

#include <random>

using namespace nnc;

/// Requires that blocks in one memory do not overlap while both are alive, and
/// that all blocks lie inside the memories.
static void requireValid(const std::vector<PackingBlock> &blocks,
                         const std::vector<MemoryLimit> &memories,
                         const Division &division, int64_t align) {
  REQUIRE(division.memories.size() == blocks.size());
  REQUIRE(division.bytes.size() == memories.size());
  bool fits = true;
  for (size_t memory = 0; memory < memories.size(); ++memory)
    fits &= division.bytes[memory] <= memories[memory].bytes;
  REQUIRE(division.fits == fits);
  for (size_t i = 0; i < blocks.size(); ++i) {
    REQUIRE(division.offsets[i] % align == 0);
    for (const Extent &a : blocks[i]) {
      int64_t from = division.offsets[i] + a.offset, to = from + a.bytes;
      REQUIRE(from >= 0);
      REQUIRE(to <= division.bytes[division.memories[i]]);
      for (size_t j = 0; j < i; ++j)
        for (const Extent &b : blocks[j]) {
          int64_t other = division.offsets[j] + b.offset;
          bool apart = division.memories[i] != division.memories[j] ||
                       a.last < b.first || b.last < a.first || to <= other ||
                       other + b.bytes <= from;
          REQUIRE(apart);
        }
    }
  }
}

TEST_CASE("The blocks with most accesses a byte go into the fast memory") {
  std::vector<PackingBlock> blocks = {
      {{0, 64, 0, 3}}, {{0, 128, 0, 3}}, {{0, 64, 0, 3}}};
  std::vector<MemoryLimit> memories = {{1024, true}, {128, false}};
  Division division = divideBlocks(blocks, {640, 256, 128}, memories, 8);
  requireValid(blocks, memories, division, 8);
  CHECK(division.fits);
  // The second does not fit beside the first, the third does.
  CHECK(division.memories == llvm::SmallVector<unsigned>{1, 0, 1});
}

TEST_CASE("Blocks that are not alive together share the fast memory") {
  std::vector<PackingBlock> blocks = {
      {{0, 128, 0, 1}}, {{0, 128, 2, 3}}, {{0, 128, 1, 2}}};
  std::vector<MemoryLimit> memories = {{128, false}, {128, true}};
  Division division = divideBlocks(blocks, {500, 500, 400}, memories, 8);
  requireValid(blocks, memories, division, 8);
  CHECK(division.memories == llvm::SmallVector<unsigned>{0, 0, 1});
}

TEST_CASE("A large block gets its place where the order by accesses has none") {
  // By accesses the small one would take the only memory for the large one.
  std::vector<PackingBlock> blocks = {{{0, 64, 0, 1}}, {{0, 256, 0, 1}}};
  std::vector<MemoryLimit> memories = {{256, false}, {64, true}};
  Division division = divideBlocks(blocks, {1000, 300}, memories, 8);
  requireValid(blocks, memories, division, 8);
  CHECK(division.fits);
  CHECK(division.memories == llvm::SmallVector<unsigned>{1, 0});
}

TEST_CASE("What does not fit is in the last memory") {
  std::vector<PackingBlock> blocks = {{{0, 64, 0, 1}}, {{0, 256, 0, 1}}};
  std::vector<MemoryLimit> memories = {{64, false}, {128, false}};
  Division division = divideBlocks(blocks, {64, 64}, memories, 8);
  requireValid(blocks, memories, division, 8);
  CHECK(!division.fits);
  CHECK(division.bytes[1] == 256);
}

TEST_CASE("No blocks and no room") {
  Division division = divideBlocks({}, {}, {{0, false}, {0, true}}, 8);
  CHECK(division.fits);
  CHECK(division.bytes == llvm::SmallVector<int64_t>{0, 0});
}

TEST_CASE("Random blocks are apart in their memories") {
  std::mt19937 random(3);
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int fitting = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<PackingBlock> blocks(draw(1, 30));
    std::vector<int64_t> accesses;
    for (PackingBlock &block : blocks) {
      for (int i = draw(1, 3); i > 0; --i) {
        int first = draw(0, 20);
        block.push_back(
            {draw(0, 8) * 8, draw(0, 200), first, first + draw(0, 5)});
      }
      accesses.push_back(draw(0, 1000));
    }
    std::vector<MemoryLimit> memories(draw(1, 4));
    for (MemoryLimit &memory : memories)
      memory = {draw(0, 1000), draw(0, 1) == 1};
    Division division = divideBlocks(blocks, accesses, memories, 8);
    requireValid(blocks, memories, division, 8);
    fitting += division.fits;
  }
  CHECK(fitting > 10);
  CHECK(fitting < 90);
}
