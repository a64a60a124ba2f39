//===- gpu_tiles_test.cpp - Estimated times of tiles on tensor cores ------===//

#include "test/compiler/GpuLayers.h"

#include <cmath>
#include <random>

using namespace gpu_layers;

TEST_CASE("Large layers take large tiles, small layers small ones or slices") {
  MLIRContext context;
  for (StringRef target : {"cuda-sm80", "cuda-sm90"}) {
    INFO(target.str());
    GpuCost cost = makeCost(context, target);
    Tile large = choose(cost, makeConv(64, 56, 64, 64, 3));
    CHECK(large[0] * large[1] >= 128 * 64);
    CHECK(large[4] == 1);
    Tile small = choose(cost, makeConv(1, 7, 512, 512, 3));
    CHECK(small[0] * small[1] <= 64 * 64);
    CHECK(small[4] >= 4);
    // A short sum is not worth slices.
    CHECK(choose(cost, makeConv(1, 56, 64, 64, 1))[4] == 1);
  }
}

TEST_CASE("A tile loses what is beyond the last row, filter and block") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm80");
  const Tile tile = {128, 128, 64, 4, 1};
  // 64 filters need a tile as 128 do.
  CHECK(estimate(cost, makeConv(64, 56, 256, 64, 3), tile) >
        0.95 * estimate(cost, makeConv(64, 56, 256, 128, 3), tile));
  // 12 x 9 tiles are a wave of the A100, and more of them begin another one.
  auto rows = [](int count) {
    conv2d_shape s = makeConv(1, 1, 8192, 9 * 128, 1);
    s.w = s.ow = count;
    return s;
  };
  const double wave = estimate(cost, rows(12 * 128), tile);
  CHECK(estimate(cost, rows(11 * 128 + 1), tile) > 0.98 * wave);
  CHECK(estimate(cost, rows(12 * 128 + 1), tile) > 1.5 * wave);
}

TEST_CASE("No tile reaches more than the peak, or fits where it does not") {
  MLIRContext context;
  std::mt19937 random(7);
  auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (StringRef target : {"cuda-sm75", "cuda-sm86", "cuda-sm90"}) {
    GpuCost cost = makeCost(context, target);
    target::GpuAttr gpu = getGpu(context, target);
    for (int i = 0; i < 200; ++i) {
      const conv2d_shape s = makeConv(draw(1, 64), draw(1, 60), draw(1, 600),
                                      draw(1, 600), 2 * draw(0, 2) + 1);
      const double peak = gpu.getTensorPeakF16() * block_costs::tile_share;
      for (const Tile &tile : getTiles()) {
        const double seconds = estimate(cost, s, tile);
        CHECK(seconds > makeWork(s).operations / peak);
        const int64_t shared = (tile[0] + tile[1]) * tile[2] * tile[3];
        if (shared > 1024 * gpu.getSharedKb())
          CHECK(std::isinf(seconds));
        else if (tile[4] == 1)
          CHECK(std::isfinite(seconds));
      }
    }
  }
}

TEST_CASE(
    "Bytes are twice as fast as halves, and floats have no tensor cores") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm80");
  const conv2d_shape s = makeConv(64, 14, 1024, 1024, 3);
  const Tile tile = {128, 128, 64, 4, 1};
  const double halves = estimate(cost, s, tile),
               bytes = estimate(cost, s, tile, makeTiles("i8")),
               floats = estimate(cost, s, tile, makeTiles("f32"));
  CHECK(halves / bytes > 1.7);
  CHECK(halves / bytes < 2.2);
  CHECK(floats > 8 * halves);
}

TEST_CASE("Few stages wait for copies, and small tiles copy more") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm90");
  // Eight blocks have a multiprocessor each, where no other block multiplies.
  const conv2d_shape few = makeConv(1, 7, 512, 512, 3);
  CHECK(estimate(cost, few, {64, 64, 64, 2, 1}) >
        1.5 * estimate(cost, few, {64, 64, 64, 4, 1}));
  CHECK(estimate(cost, few, {64, 64, 64, 4, 1}) >
        1.1 * estimate(cost, few, {64, 64, 128, 4, 1}));
  const conv2d_shape many = makeConv(64, 28, 512, 512, 3);
  CHECK(estimate(cost, many, {64, 64, 64, 4, 1}) >
        1.3 * estimate(cost, many, {128, 128, 64, 4, 1}));
}
