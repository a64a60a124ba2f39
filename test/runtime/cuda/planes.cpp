// Checks planes.cuh on the CPU's block policy: that it has the bits of
// pixels.cuh for the same image in NCHW4c, in every order of threads.
#include "runtime/routines/convolution/conv2d/planes.cuh"
#include "test/runtime/check.h"
#include "test/runtime/cuda/gemm_test.h"
#include "test/runtime/cuda/packed_case.h"
#include "test/runtime/cuda/pixels_case.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>

using namespace nnc_test;

namespace {

using shape = nnc::conv2d_shape;

/// A tile of both routines, for images of type X and weights of type T.
template <class T, class X> struct plane_routine {
  const char *name;
  gemm_result (*run)(const packed_case<T> &, const device_memory<X> &x,
                     std::uint64_t seed);
  gemm_result (*run_pixels)(const packed_case<T> &, const device_memory<T> &x,
                            std::uint64_t seed);
};
template <class T, class X, int ARCH, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int STAGES>
gemm_result run(const packed_case<T> &c, const device_memory<X> &x,
                std::uint64_t seed) {
  using routine = std::conditional_t<
      std::is_same<T, float>::value,
      nnc::conv2d_f32_nchw_pixels_sm75<shape, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                                       STAGES, packed_epilogue<float>>,
      nnc::conv2d_planes<ARCH, shape, ROWS, COLUMNS, DEPTH, WARP_ROWS, 32,
                         STAGES, packed_epilogue<T>>>;
  return run_packed<ARCH>(typename routine::kernels{}, c, x, 1, seed);
}
#define NNC_PLANES(T, X, ...)                                                  \
  {#__VA_ARGS__, run<T, X, __VA_ARGS__>, run_pixels<T, __VA_ARGS__, 1>}
template <class T, class X>
const plane_routine<T, X> routines[] = {
    NNC_PLANES(T, X, oldest<T>, 64, 32, 64, 32, 2),
    NNC_PLANES(T, X, 80, 64, 64, 64, 32, 2),
    NNC_PLANES(T, X, 80, 16, 32, 64, 16, 3),
};

/// The image in NCHW4c.
template <class T> device_memory<T> pixels_of(const gemm_case<T> &c) {
  const std::size_t pixels = c.x.size() / c.s.c;
  device_memory<T> x(pixels * nnc::pixel_channels);
  std::memset(static_cast<void *>(x.data()), 0xff, x.bytes());
  for (std::size_t i = 0; i < pixels; ++i)
    for (int channel = 0; channel < c.s.c; ++channel)
      x[i * nnc::pixel_channels + channel] = c.x[i * c.s.c + channel];
  return x;
}

/// The image in NCHW. Floats that are rounded to halves differ from these by
/// up to a quarter of their last place.
template <class X, class T>
device_memory<X> planes_of(const gemm_case<T> &c, unsigned seed) {
  std::mt19937 engine(seed);
  const std::size_t plane = std::size_t(c.s.h) * c.s.w;
  device_memory<X> x(c.x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = i / plane % c.s.c;
    const std::size_t pixel = i / plane / c.s.c * plane + i % plane;
    float value = static_cast<float>(c.x[pixel * c.s.c + channel]);
    if constexpr (!std::is_same<X, T>::value)
      value *= 1.0f + (int(engine() % 2001) - 1000) / 1000.0f / 8192.0f;
    x[i] = static_cast<X>(value);
  }
  return x;
}

template <class T, class X> void check_random(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    shape s = random_conv2d(r, 16);
    s.c = r.between(0, 1) ? 3 : r.between(1, 4);
    if (r.between(0, 3) == 0) { // the window of many first layers
      s.h = s.w = r.between(9, 16);
      s.kh = s.kw = 7;
      s.sh = s.sw = 2;
      s.dh = s.dw = 1;
      pad_randomly(r, s);
    }
    REQUIRE(nnc::planes_apply(s));
    const plane_routine<T, X> &routine = routines<T, X>[r.between(0, 2)];
    INFO(routine.name << describe(s));
    const nnc::pixel_weights weights{s.c, s.k, s.kh * s.kw};
    const packed_case<T> c(s, weights, unsigned(i));
    const device_memory<X> x = planes_of<X>(c, unsigned(i));
    const gemm_result first = routine.run(c, x, unsigned(i));
    REQUIRE(first.error == "");
    REQUIRE(first.relative <= bound<T>);
    REQUIRE(first.bank_conflicts == 0);
    const gemm_result second = routine.run(c, x, unsigned(i) + 1000);
    REQUIRE(second.error == "");
    REQUIRE(first.bytes == second.bytes);
    const gemm_result pixels = routine.run_pixels(c, pixels_of(c), unsigned(i));
    REQUIRE(pixels.error == "");
    REQUIRE(first.bytes == pixels.bytes);
  }
}

} // namespace

TEST_CASE("convolutions of planes of floats, rounded to halves") {
  check_random<nnc::f16, float>(160);
}
TEST_CASE("convolutions of planes of halves") {
  check_random<nnc::f16, nnc::f16>(120);
}
TEST_CASE("convolutions of planes of bf16, and of floats rounded to it") {
  check_random<nnc::bf16, float>(50);
  check_random<nnc::bf16, nnc::bf16>(30);
}
TEST_CASE("convolutions of planes of floats") {
  check_random<float, float>(120);
}
TEST_CASE("convolutions of planes have a limit of elements") {
  shape s{};
  s.groups = s.n = 1;
  s.c = 3;
  s.h = s.w = 18918; // two images have 2^31 - 1 elements at most
  REQUIRE(nnc::planes_apply(s));
  s.w = 18920;
  REQUIRE(!nnc::planes_apply(s));
}
