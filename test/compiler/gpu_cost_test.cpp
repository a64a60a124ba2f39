//===- gpu_cost_test.cpp - Estimated times of launches on a GPU -----------===//

#include "test/compiler/GpuLayers.h"

using namespace gpu_layers;

namespace {

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
    INFO(target);
    CHECK(one > 1e-3 * least);
    CHECK(one < 5e-3 * least);
    CHECK(many > 1e-3 * leastOfMany);
    CHECK(many < 5e-3 * leastOfMany);
    // Many samples fill the GPU, which one does not.
    CHECK(many < 64 * one / 2);
  }
  CHECK(getSeconds("cuda-sm90", 1) < 2e-3);
}
