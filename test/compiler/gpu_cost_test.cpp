//===- gpu_cost_test.cpp - Estimated times of launches on a GPU -----------===//

#include "compiler/routines/GpuCost.h"
#include "runtime/routines/catalogue/expressions.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace mlir;
using namespace nnc;

namespace {

target::GpuAttr getGpu(MLIRContext &context, StringRef target) {
  auto machine = target::getMachine(target, UnknownLoc::get(&context));
  REQUIRE(succeeded(machine));
  return cast<target::GpuAttr>(machine->getHost().getCost());
}

/// The model of a GPU, whose network has weights that no cache holds.
GpuCost makeCost(MLIRContext &context, StringRef target) {
  return GpuCost(getGpu(context, target), /*weightBytes=*/100 << 20);
}

/// A convolution with as much padding as keeps the size of the image for a
/// stride of 1. `size` is that of the output.
conv2d_shape makeConv(int n, int size, int c, int k, int kernel,
                      int stride = 1) {
  conv2d_shape s{};
  s.n = n, s.c = c, s.k = k;
  s.h = s.w = size * stride;
  s.kh = s.kw = kernel;
  s.sh = s.sw = stride;
  s.dh = s.dw = s.groups = 1;
  s.pt = s.pl = kernel / 2;
  s.oh = s.ow = size;
  return s;
}

RoutineShape makeCall(const conv2d_shape &s) {
  return RoutineShape(*findFamily("conv2d"), std::make_shared<conv2d_shape>(s));
}

LayerWork makeWork(const conv2d_shape &s, int elementBytes = 2) {
  LayerWork work;
  const int64_t outputs = int64_t(s.n) * s.k * s.oh * s.ow;
  work.operations = double(outputs) * s.c * s.kh * s.kw;
  work.weightBytes = int64_t(elementBytes) * s.k * s.c * s.kh * s.kw;
  work.activationBytes =
      elementBytes * (outputs + int64_t(s.n) * s.c * s.h * s.w);
  return work;
}

/// A convolution on tensor cores, whose params are those of gemm_efficiency().
Routine makeTiles(StringRef elements = "f16") {
  Routine routine{};
  routine.name = "conv2d_tiles_sm80";
  routine.header = "runtime/routines/convolution/conv2d/tiles.cuh";
  routine.isa = "sm80";
  routine.family = findFamily("conv2d");
  routine.elements = elements;
  routine.efficiency = [](const void *shape, const int *p,
                          const core_limits &core) {
    return gemm_efficiency(portable_tile.on(core),
                           *static_cast<const conv2d_shape *>(shape), p[0],
                           p[1], p[2], p[3], p[4]);
  };
  return routine;
}

/// Rows and columns of a tile, bytes of a step, stages, and slices.
using Tile = SmallVector<int64_t, 5>;

ArrayRef<Tile> getTiles() {
  static SmallVector<Tile> tiles;
  if (!tiles.empty())
    return tiles;
  for (int64_t slices : {1, 2, 4, 8, 16})
    for (Tile tile :
         {Tile{128, 128, 64, 4}, Tile{128, 64, 64, 4}, Tile{64, 64, 64, 4},
          Tile{64, 64, 128, 3}, Tile{32, 32, 128, 4}, Tile{16, 32, 64, 5}}) {
      tile.push_back(slices);
      tiles.push_back(tile);
    }
  return tiles;
}

double estimate(const GpuCost &cost, const conv2d_shape &s, const Tile &tile,
                const Routine &routine = makeTiles()) {
  return cost.estimate(routine, makeCall(s), tile, makeWork(s));
}

/// Returns the tile with the shortest estimate.
Tile choose(const GpuCost &cost, const conv2d_shape &s) {
  return *llvm::min_element(getTiles(), [&](const Tile &a, const Tile &b) {
    return estimate(cost, s, a) < estimate(cost, s, b);
  });
}

const Routine &find(StringRef name) {
  const Routine *routine = Catalogue::get().findRoutine(name);
  REQUIRE(routine);
  return *routine;
}

/// Returns the estimate of a Relu of so many floats.
double estimateRelu(const GpuCost &cost, int count) {
  const Routine &relu = find("elementwise_portable");
  LayerWork work;
  work.operations = count, work.activationBytes = int64_t(8) * count;
  elementwise_shape all{};
  all.rank = 1, all.dims[0] = count;
  RoutineShape call(*relu.family, std::make_shared<elementwise_shape>(all));
  return cost.estimate(relu, call, relu.candidates.front(), work);
}

/// Outputs, channels and filters of the convolutions of ResNet-50 v1.5.
SmallVector<conv2d_shape> getResNet50(int batch) {
  SmallVector<conv2d_shape> layers = {makeConv(batch, 112, 3, 64, 7, 2)};
  int channels = 64, size = 56, width = 64;
  for (int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      const int stride = block == 0 && width > 64 ? 2 : 1;
      layers.push_back(makeConv(batch, size * stride, channels, width, 1));
      layers.push_back(makeConv(batch, size, width, width, 3, stride));
      layers.push_back(makeConv(batch, size, width, 4 * width, 1));
      if (block == 0)
        layers.push_back(makeConv(batch, size, channels, 4 * width, 1, stride));
      channels = 4 * width;
    }
    size /= 2, width *= 2;
  }
  layers.push_back(makeConv(batch, 1, 2048, 1000, 1));
  return layers;
}

} // namespace

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
    // A short sum is not worth a second launch.
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

TEST_CASE("A fused epilogue is cheaper than a launch of its own") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm90");
  for (int batch : {1, 64}) {
    const conv2d_shape s = makeConv(batch, 14, 256, 256, 3);
    const Tile tile = choose(cost, s);
    LayerWork fused = makeWork(s);
    fused.epilogueOperations = double(batch) * 256 * 14 * 14;
    const double one = cost.estimate(makeTiles(), makeCall(s), tile, fused);
    const double two = estimate(cost, s, tile) +
                       estimateRelu(cost, int(fused.epilogueOperations));
    CHECK(one < (batch == 1 ? 0.8 : 0.97) * two);
  }
}

TEST_CASE("Each call of a layer is a launch") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm90");
  const Routine &copy = find("copy_portable");
  LayerWork work;
  work.operations = 4096, work.activationBytes = 8 * 4096;
  auto getSeconds = [&](int calls) {
    copy_shape part{};
    part.rank = 1, part.dims[0] = 4096 / calls;
    SmallVector<RoutineShape> parts(
        calls, RoutineShape(*copy.family, std::make_shared<copy_shape>(part)));
    return cost.estimate(copy, parts, {}, work);
  };
  CHECK(getSeconds(1) > 750e-9);
  CHECK(getSeconds(1) < 3e-6);
  CHECK(getSeconds(4) > getSeconds(1) + 3 * 750e-9);
}

TEST_CASE("A thread an element is slower than blocks, a thread a row slowest") {
  MLIRContext context;
  GpuCost cost = makeCost(context, "cuda-sm90");
  const conv2d_shape s = makeConv(1, 28, 128, 128, 3);
  auto getSeconds = [&](StringRef name) {
    return cost.estimate(find(name), makeCall(s), {}, makeWork(s, 4));
  };
  auto getThreads = [&](StringRef name) {
    return GpuCost::getThreads(find(name), makeCall(s), {});
  };
  CHECK(getThreads("conv2d_f32_portable") == 128 * 28 * 28);
  CHECK(getThreads("conv2d_f32_nhwc_portable") == 28);
  const double elements = getSeconds("conv2d_f32_portable");
  CHECK(getSeconds("conv2d_f32_nhwc_portable") > 10 * elements);
  CHECK(elements > 2 * estimate(cost, s, choose(cost, s)));
}

TEST_CASE("A pass over much data takes the time of memory") {
  MLIRContext context;
  const int count = 64 << 20;
  const double seconds = estimateRelu(makeCost(context, "cuda-sm80"), count);
  CHECK(seconds > 8.0 * count / 1555e9);
  CHECK(seconds < 1.2 * 8.0 * count / 1555e9);
}

TEST_CASE("ResNet-50 in f16 takes a plausible time") {
  MLIRContext context;
  auto getSeconds = [&](StringRef target, int batch) {
    GpuCost cost = makeCost(context, target);
    double seconds = 0;
    for (const conv2d_shape &s : getResNet50(batch))
      seconds += estimate(cost, s, choose(cost, s));
    return seconds;
  };
  double work = 0;
  for (const conv2d_shape &s : getResNet50(1))
    work += makeWork(s).operations;
  CHECK(work == Approx(4.09e9).epsilon(0.01));
  // At least so many ms for 1 and for 64 samples, and less than five times.
  for (auto [target, least, leastOfMany] :
       {std::tuple("cuda-sm75", 0.4, 10.0), std::tuple("cuda-sm80", 0.2, 2.5),
        std::tuple("cuda-sm90", 0.2, 1.3)}) {
    const double one = getSeconds(target, 1), many = getSeconds(target, 64);
    INFO(target << ": " << one << " s and " << many << " s");
    CHECK((one > 1e-3 * least && one < 5e-3 * least));
    CHECK((many > 1e-3 * leastOfMany && many < 5e-3 * leastOfMany));
    // Many samples fill the GPU, which one does not.
    CHECK(many < 64 * one / 2);
  }
  CHECK(getSeconds("cuda-sm90", 1) < 2e-3);
}
