// Checks grouped.cuh on the CPU's block policy: against sums in double
// precision, and that results do not depend on the order of threads.
#include "runtime/routines/convolution/conv2d/grouped.cuh"
#include "test/runtime/check.h"
#include "test/runtime/cuda/gemm_test.h"
#include "test/runtime/cuda/packed_case.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

using namespace nnc_test;

namespace {

using shape = nnc::conv2d_shape;

/// A routine, and what it is called with.
template <class T> struct grouped_routine {
  const char *name;
  gemm_result (*run)(const packed_case<T> &, std::uint64_t seed);
};
template <class T, int ARCH, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int STAGES, int SLICES>
gemm_result run(const packed_case<T> &c, std::uint64_t seed) {
  using routine = std::conditional_t<
      std::is_same<T, float>::value,
      nnc::conv2d_f32_nhwc_grouped_sm75<shape, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                                        STAGES, SLICES, packed_epilogue<float>>,
      nnc::conv2d_grouped<ARCH, shape, ROWS, COLUMNS, DEPTH, WARP_ROWS, 32,
                          STAGES, SLICES, packed_epilogue<T>>>;
  return run_packed<ARCH>(typename routine::kernels{}, c, c.x, SLICES, seed);
}

#define NNC_GROUPED(T, ...) {#__VA_ARGS__, run<T, __VA_ARGS__>}
template <class T>
const grouped_routine<T> routines[] = {
    NNC_GROUPED(T, 80, 64, 32, 64, 32, 4, 1),
    NNC_GROUPED(T, oldest<T>, 64, 64, 64, 32, 2, 1),
    NNC_GROUPED(T, 80, 16, 32, 64, 16, 3, 3),
};

/// A random convolution in groups of a width of all kinds, whose merged groups
/// are whole chunks of `elements` channels.
shape random_groups(random_source &r, int elements) {
  shape s = random_conv2d(r, 8);
  int width = 0;
  switch (r.between(0, 3)) {
  case 0: // merged
  case 1:
    width = 1 << r.between(1, 4);
    s.c = 32 * r.between(1, 3);
    break;
  case 2: // whole panels and others
    width = 16 * r.between(1, 5);
    s.c = width * r.between(2, 3);
    break;
  default: // no whole panels
    width = elements * r.between(1, 5);
    s.c = width * r.between(2, 5);
  }
  s.k = s.c;
  s.groups = s.c / width;
  if (s.groups == 1 || !nnc::grouped_applies(s, elements))
    return random_groups(r, elements);
  return s;
}

template <class T> void check_random(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    shape s = random_groups(r, 16 / int(sizeof(T)));
    if (!gemm_case<T>::is_float)
      s.fill = r.between(std::is_signed<T>::value ? -128 : 0, 127);
    const grouped_routine<T> &routine = routines<T>[r.between(0, 2)];
    INFO(routine.name << describe(s));
    const nnc::grouped_weights weights(s.c / s.groups, s.k, s.kh * s.kw);
    const packed_case<T> c(s, weights, unsigned(i));
    REQUIRE(c.stored.size() == std::size_t(weights.merged_groups()) *
                                   weights.stored_elements(sizeof(T)));
    const gemm_result first = routine.run(c, unsigned(i));
    REQUIRE(first.error == "");
    REQUIRE(first.relative <= bound<T>);
    REQUIRE(first.bank_conflicts == 0);
    const gemm_result second = routine.run(c, unsigned(i) + 1000);
    REQUIRE(second.error == "");
    REQUIRE(first.bytes == second.bytes);
  }
}

} // namespace

TEST_CASE("convolutions of halves in groups") { check_random<nnc::f16>(150); }
TEST_CASE("convolutions of floats in groups") { check_random<float>(150); }
TEST_CASE("convolutions of bf16 in groups") { check_random<nnc::bf16>(60); }
TEST_CASE("convolutions of signed bytes in groups") {
  check_random<std::int8_t>(60);
}
TEST_CASE("convolutions of unsigned bytes in groups") {
  check_random<std::uint8_t>(60);
}

TEST_CASE("groups are merged up to the width of a panel") {
  const auto merged = [](int width, int channels) {
    shape s{};
    s.c = s.k = channels;
    s.groups = channels / width;
    return nnc::merge_groups(s).groups;
  };
  CHECK(merged(4, 128) == 4);
  CHECK(merged(8, 64) == 2);
  CHECK(merged(16, 64) == 2);
  CHECK(merged(32, 64) == 2);
  CHECK(merged(4, 48) == 12);  // 48 channels are no whole panels
  CHECK(merged(24, 96) == 4);  // nor are groups of 24
  CHECK(merged(12, 96) == 8);  // or two of 12, which fill no panel
  CHECK(merged(64, 128) == 2); // wider ones stay as they are
}
