// Checks pixels.cuh on the CPU's block policy: against sums in double
// precision, and that results do not depend on the order of threads.
#include "test/runtime/check.h"
#include "test/runtime/cuda/gemm_test.h"
#include "test/runtime/cuda/packed_case.h"
#include "test/runtime/cuda/pixels_case.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace nnc_test;

namespace {

using shape = nnc::conv2d_shape;

/// A routine, and what it is called with.
template <class T> struct pixel_routine {
  const char *name;
  gemm_result (*run)(const packed_case<T> &, const device_memory<T> &x,
                     std::uint64_t seed);
};
#define NNC_PIXELS(T, ...) {#__VA_ARGS__, run_pixels<T, __VA_ARGS__>}
template <class T>
const pixel_routine<T> routines[] = {
    NNC_PIXELS(T, oldest<T>, 64, 32, 64, 32, 2, 1),
    NNC_PIXELS(T, 80, 64, 64, 64, 32, 2, 1),
    NNC_PIXELS(T, 80, 16, 32, 64, 16, 3, 3),
};

/// The image in NCHW4c. Channels that do not exist are NaN, or 85 in bytes.
template <class T> device_memory<T> pixels_of(const gemm_case<T> &c) {
  const std::size_t pixels = c.x.size() / c.s.c;
  device_memory<T> x(pixels * nnc::pixel_channels);
  std::memset(static_cast<void *>(x.data()), gemm_case<T>::is_float ? 0xff : 85,
              x.bytes());
  for (std::size_t i = 0; i < pixels; ++i)
    for (int channel = 0; channel < c.s.c; ++channel)
      x[i * nnc::pixel_channels + channel] = c.x[i * c.s.c + channel];
  return x;
}

template <class T> void check_random(int count) {
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
    if (!gemm_case<T>::is_float)
      s.fill = r.between(std::is_signed<T>::value ? -128 : 0, 127);
    REQUIRE(nnc::pixels_apply(s));
    const pixel_routine<T> &routine = routines<T>[r.between(0, 2)];
    INFO(routine.name << describe(s));
    const nnc::pixel_weights weights{s.c, s.k, s.kh * s.kw};
    const packed_case<T> c(s, weights, unsigned(i));
    REQUIRE(c.stored.size() ==
            std::size_t(nnc::gemm_panels(weights.product())) *
                nnc::packed_panel_elements(weights.product(), sizeof(T)));
    const device_memory<T> x = pixels_of(c);
    const gemm_result first = routine.run(c, x, unsigned(i));
    REQUIRE(first.error == "");
    REQUIRE(first.relative <= bound<T>);
    REQUIRE(first.bank_conflicts == 0);
    const gemm_result second = routine.run(c, x, unsigned(i) + 1000);
    REQUIRE(second.error == "");
    REQUIRE(first.bytes == second.bytes);
  }
}

} // namespace

TEST_CASE("convolutions of pixels of halves") { check_random<nnc::f16>(160); }
TEST_CASE("convolutions of pixels of bf16") { check_random<nnc::bf16>(60); }
TEST_CASE("convolutions of pixels of floats") { check_random<float>(140); }
TEST_CASE("convolutions of pixels of signed bytes") {
  check_random<std::int8_t>(60);
}
TEST_CASE("convolutions of pixels of unsigned bytes") {
  check_random<std::uint8_t>(60);
}
