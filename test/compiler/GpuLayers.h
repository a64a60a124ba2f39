//===- GpuLayers.h - Convolutions on a GPU, for tests of estimates --------===//

#ifndef NNC_TEST_COMPILER_GPULAYERS_H
#define NNC_TEST_COMPILER_GPULAYERS_H

#include "compiler/routines/GpuCost.h"
#include "runtime/routines/catalogue/expressions.h"

#include <catch2/catch.hpp>

/// Convolutions, their work, and tiles, for the tests of GpuCost.
namespace gpu_layers {

using namespace mlir;
using namespace nnc;

inline target::GpuAttr getGpu(MLIRContext &context, StringRef target) {
  auto machine = target::getMachine(target, UnknownLoc::get(&context));
  REQUIRE(succeeded(machine));
  return cast<target::GpuAttr>(machine->getHost().getCost());
}

/// The model of a GPU, whose network has weights that no cache holds.
inline GpuCost makeCost(MLIRContext &context, StringRef target) {
  return GpuCost(getGpu(context, target), /*weightBytes=*/100 << 20);
}

/// A convolution with as much padding as keeps the size of the image for a
/// stride of 1. `size` is that of the output.
inline conv2d_shape makeConv(int n, int size, int c, int k, int kernel,
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

inline RoutineShape makeCall(const conv2d_shape &s) {
  return RoutineShape(*findFamily("conv2d"), std::make_shared<conv2d_shape>(s));
}

inline LayerWork makeWork(const conv2d_shape &s, int elementBytes = 2) {
  LayerWork work;
  const int64_t outputs = int64_t(s.n) * s.k * s.oh * s.ow;
  work.operations = double(outputs) * s.c * s.kh * s.kw;
  work.weightBytes = int64_t(elementBytes) * s.k * s.c * s.kh * s.kw;
  work.activationBytes =
      elementBytes * (outputs + int64_t(s.n) * s.c * s.h * s.w);
  return work;
}

/// A convolution on tensor cores, whose params are those of gemm_efficiency().
inline Routine makeTiles(StringRef elements = "f16") {
  Routine routine{};
  routine.name = "conv2d_tiles_sm80";
  routine.header = "runtime/routines/convolution/conv2d/tiles.cuh";
  routine.isa = "sm80";
  routine.family = findFamily("conv2d");
  routine.elements = routine.otherElements = elements;
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

inline ArrayRef<Tile> getTiles() {
  static SmallVector<Tile> tiles;
  if (!tiles.empty())
    return tiles;
  for (int64_t slices : {1, 2, 4, 8, 16})
    for (Tile tile :
         {Tile{128, 256, 64, 3}, Tile{128, 128, 64, 4}, Tile{128, 64, 64, 4},
          Tile{64, 64, 64, 4}, Tile{64, 64, 128, 3}, Tile{32, 32, 128, 4},
          Tile{16, 32, 64, 5}}) {
      tile.push_back(slices);
      tiles.push_back(tile);
    }
  return tiles;
}

inline double estimate(const GpuCost &cost, const conv2d_shape &s,
                       const Tile &tile, const Routine &routine = makeTiles()) {
  return cost.estimate(routine, makeCall(s), tile, makeWork(s));
}

/// Returns the tile with the shortest estimate.
inline Tile choose(const GpuCost &cost, const conv2d_shape &s) {
  return *llvm::min_element(getTiles(), [&](const Tile &a, const Tile &b) {
    return estimate(cost, s, a) < estimate(cost, s, b);
  });
}

} // namespace gpu_layers

#endif // NNC_TEST_COMPILER_GPULAYERS_H
