// Tests Winograd's convolution with vectors of every width and tiles of every
// size.
#include "runtime/routines/convolution/conv2d/winograd.h"
#include "test/runtime/winograd_test.h"

#include <type_traits>

using namespace nnc;
using namespace nnc_test;

namespace {

/// Checks Winograd's method with tiles of M x M outputs and SUM channels that
/// are summed up at a time. For halves, SUM is at most the default.
template <class V, int M, int P, int B, int SUM = winograd_summed,
          int STRIDE = 1, int STRIP = usual_strip, class S>
void check_winograd(random_source &random, const S &shape,
                    const conv2d_shape &s) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  constexpr int summed =
      std::is_same<T, float>::value ? SUM : smaller(SUM, winograd_summed);
  INFO("M=" << M << " SUM=" << summed);
  check_sums<V, conv2d_nchwc_winograd_t<V, M, S, P, B, conv2d_epilogue_of<T>,
                                        summed, STRIP, STRIDE>>(
      random, shape, s, winograd_error(s, M, summed),
      [&](const floats &x, const floats &w) {
        return std::pair(block_channels(x, s.n, s.c, s.h * s.w, W),
                         winograd_weights(s, w, M, W));
      },
      [&](int threads) {
        return plan_winograd(s, W, M, P, B, sizeof(T), STRIP)
            .shared(threads)
            .thread_scratch();
      });
}

template <class V, int M, int P, int B, int SUM, class S>
void check_outputs(random_source &random, const S &shape,
                   const conv2d_shape &s) {
  if constexpr (winograd_takes(S::kh, M) && winograd_takes(S::kw, M))
    check_winograd<V, M, P, B, SUM>(random, shape, s);
}
template <class V, int P, int B, int SUM, class S>
void check_all(random_source &random, const S &shape, const conv2d_shape &s) {
  check_outputs<V, 2, P, B, SUM>(random, shape, s);
  if constexpr (std::is_same<element_of<V>, float>::value) {
    check_outputs<V, 4, P, B, SUM>(random, shape, s);
    check_outputs<V, 6, P, B, SUM>(random, shape, s);
  }
}

template <class V, int M, int P, int B, int SUM = winograd_summed, class S>
void check_strided(random_source &random, const S &shape,
                   const conv2d_shape &s) {
  REQUIRE(strided_winograd_applies(s, M));
  check_winograd<V, M, P, B, SUM, 2>(random, shape, s);
}
/// Checks the method for stride 2 with all sizes of tiles; halves have only M =
/// 2.
template <class V, int P, int B, int SUM, class S>
void check_all_strided(random_source &random, const S &shape,
                       const conv2d_shape &s) {
  check_strided<V, 2, P, B, SUM>(random, shape, s);
  if constexpr (std::is_same<element_of<V>, float>::value) {
    check_strided<V, 3, P, B, SUM>(random, shape, s);
    check_strided<V, 4, P, B, SUM>(random, shape, s);
  }
}

/// A shape whose taps are constants and whose other fields are run-time values.
template <int KH, int KW> struct shape_of_taps {
  int n, c, h, w, k, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  static constexpr int kh = KH, kw = KW;
};

template <int KH, int KW>
shape_of_taps<KH, KW> with_taps(const conv2d_shape &s) {
  return {s.n,  s.c,  s.h,  s.w,  s.k,  s.sh, s.sw,
          s.dh, s.dw, s.pt, s.pl, s.oh, s.ow, s.groups};
}

/// The size M of the tiles in tests that need only one. Halves have only M = 2.
template <class V>
constexpr int usual_outputs = std::is_same<element_of<V>, float>::value ? 4 : 2;

template <class V, int KH, int KW>
void check_random(random_source &r, int side, int times) {
  for (int i = 0; i < times; ++i) {
    const conv2d_shape s = random_shape(r, KH == KW ? 90 : 40, KH, KW, 1, side);
    const auto shape = with_taps<KH, KW>(s);
    check_all<V, 5, 1, 32>(r, shape, s);
    // Another tile of products is the same for other taps and outputs.
    if constexpr (KH == KW)
      check_winograd<V, usual_outputs<V>, 6, 2, 64>(r, shape, s);
  }
}

template <class V, int R>
void check_random_strided(random_source &r, int side, int times) {
  for (int i = 0; i < times; ++i) {
    const conv2d_shape s = random_shape(r, 40, R, R, 2, side);
    check_all_strided<V, 5, 1, 32>(r, with_taps<R, R>(s), s);
  }
}

template <int N, int C, int H, int WIDTH, int K, int PAD, int KH = 3,
          int KW = 3, int STRIDE = 1>
struct constant_shape {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K, kh = KH, kw = KW;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = KH > 1 ? PAD : 0, pl = KW > 1 ? PAD : 0;
  static constexpr int oh = (H + 2 * pt - KH) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * pl - KW) / STRIDE + 1;
  static constexpr int groups = 1;
};

} // namespace

TEST_CASE("the matrices of Winograd's convolution are those of a product of "
          "polynomials",
          "[conv2d]") {
  // With B^T and A^T from winograd_transform, F(M, R) of single taps and inputs
  // is one where the tap meets the input, else zero.
  const auto check = [](auto transform, int taps, int stride = 1) {
    using t = decltype(transform);
    constexpr int n = t::points;
    const winograd_filter filter =
        make_winograd_filter(t::outputs, taps, stride);
    REQUIRE(filter.points == n);
    for (int tap = 0; tap < taps; ++tap)
      for (int i = 0; i < n; ++i) {
        float x[n] = {}, v[n];
        x[i] = 1;
        t::input(x, v);
        for (int p = 0; p < n; ++p)
          v[p] *= float(filter.rows[p][tap]);
        float out[t::outputs];
        t::output(v, out);
        for (int o = 0; o < t::outputs; ++o)
          CHECK(out[o] ==
                Approx(stride * o + tap == i ? 1.0f : 0.0f).margin(1e-5));
      }
  };
  check(winograd_transform<2, 3>(), 3);
  check(winograd_transform<4, 3>(), 3);
  check(winograd_transform<6, 3>(), 3);
  check(winograd_transform<2, 5>(), 5);
  check(winograd_transform<2, 7>(), 7);
  // Transforms with an odd number of points.
  check(winograd_transform<2, 2>(), 2);
  check(winograd_transform<4, 2>(), 2);
  check(winograd_transform<3, 3>(), 3);
  check(winograd_transform<5, 3>(), 3);
  // With a stride.
  check(strided_winograd_transform<2, 3>(), 3, 2);
  check(strided_winograd_transform<3, 3>(), 3, 2);
  check(strided_winograd_transform<4, 3>(), 3, 2);
  check(strided_winograd_transform<3, 5>(), 5, 2);
  check(strided_winograd_transform<4, 7>(), 7, 2);
}

TEST_CASE("errors of products grow as the matrices say", "[conv2d]") {
  // Each product off by a number of its own, all of one mean square beside the
  // products of random taps and inputs: by how much that is more beside the
  // outputs.
  random_source random;
  const auto check = [&](auto transform, int taps, int stride = 1) {
    using t = decltype(transform);
    constexpr int n = t::points, times = 20000;
    const winograd_filter filter =
        make_winograd_filter(t::outputs, taps, stride);
    double off = 0, sums = 0;
    for (int i = 0; i < times; ++i) {
      const floats x = random.values(n), w = random.values(taps);
      const floats noise = random.values(n);
      float in[n], v[n], out[t::outputs];
      std::copy(x.begin(), x.end(), in);
      t::input(in, v);
      for (int p = 0; p < n; ++p) {
        double u = 0;
        for (int tap = 0; tap < taps; ++tap)
          u += filter.rows[p][tap] * w[tap];
        v[p] *= float(u) * noise[p];
      }
      t::output(v, out);
      for (float o : out)
        off += double(o) * o;
      for (int o = 0; o < t::outputs; ++o)
        for (int tap = 0; tap < taps; ++tap)
          sums += 1.0 / 27; // of a tap, an input and a number, 1/3 each
    }
    CHECK(off / sums == Approx(filter.error_growth).epsilon(0.1));
  };
  check(winograd_transform<2, 3>(), 3);
  check(winograd_transform<6, 3>(), 3);
  check(winograd_transform<4, 2>(), 2);
  check(winograd_transform<5, 3>(), 3);
  check(strided_winograd_transform<2, 3>(), 3, 2);
  check(strided_winograd_transform<4, 7>(), 7, 2);
}

TEMPLATE_TEST_CASE("Winograd's convolution with a stride", "[conv2d]",
                   NNC_TEST_TILES) {
  random_source random;
  check_random_strided<TestType, 3>(random, 30, 20);
  check_random_strided<TestType, 5>(random, 30, 5);
  check_random_strided<TestType, 7>(random, 30, 5);
  // All known, as ResNets and Inception have them; then nothing.
  constexpr bool halves = std::is_same<element_of<TestType>, f16>::value;
  const auto check = [&](auto outputs, auto shape) {
    constexpr conv2d_shape s = run_time_shape<decltype(shape)>();
    check_strided<TestType, halves ? 2 : outputs, 6, 2, 64>(random, shape, s);
  };
  check(std::integral_constant<int, 4>(),
        constant_shape<1, 65, 56, 56, 40, 1, 3, 3, 2>());
  check(std::integral_constant<int, 3>(),
        constant_shape<2, 16, 35, 17, 24, 0, 3, 3, 2>());
  for (int taps : {3, 5, 7}) {
    const conv2d_shape s = random_shape(random, 40, taps, taps, 2, 20);
    check_strided<TestType, 2, 5, 1>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("Winograd's convolution of random shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  random_source random;
  check_random<TestType, 3, 3>(random, 20, 30);
  check_random<TestType, 1, 7>(random, 20, 10);
  check_random<TestType, 5, 1>(random, 20, 10);
  // Taps, too, may be known only when it runs.
  for (int taps : {3, 5})
    for (bool rows : {false, true})
      for (bool cols : {false, true}) {
        const conv2d_shape s{
            1, 9, 11, 8, 17, rows ? taps : 1,       cols ? taps : 1,     1,
            1, 1, 1,  0, 0,  rows ? 12 - taps : 11, cols ? 9 - taps : 8, 1};
        if (rows || cols)
          check_winograd<TestType, usual_outputs<TestType>, 5, 1>(random, s, s);
      }
}

TEMPLATE_TEST_CASE("Winograd's convolution of chosen shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  random_source random;
  // A shape that is known changes the same code for each tile, so one tile is
  // enough here. The tests above cover the others.
  constexpr bool halves = std::is_same<element_of<TestType>, f16>::value;
  const auto check = [&](auto outputs, auto shape) {
    check_winograd<TestType, halves ? 2 : outputs, 6, 2, 64>(
        random, shape, run_time_shape<decltype(shape)>());
  };
  // Uses tiles for which the routine is compiled for random shapes anyway.
  const auto check_at_run_time = [&](auto shape) {
    constexpr conv2d_shape s = run_time_shape<decltype(shape)>();
    check_all<TestType, 5, 1, 32>(random, with_taps<s.kh, s.kw>(s), s);
  };
  // Whole tiles, tiles over the edges, channels that do not fill their blocks.
  check(std::integral_constant<int, 4>(),
        constant_shape<2, 20, 9, 13, 40, 1>());
  check_at_run_time(constant_shape<1, 32, 12, 12, 32, 1>());
  check_at_run_time(constant_shape<1, 16, 7, 7, 33, 0>());
  check_at_run_time(constant_shape<1, 8, 5, 1, 16, 1>());
  // Other taps.
  check(std::integral_constant<int, 2>(),
        constant_shape<1, 16, 9, 17, 33, 3, 7, 1>());
  check_at_run_time(constant_shape<1, 17, 9, 9, 32, 2, 5, 5>());
  check_at_run_time(constant_shape<1, 17, 5, 17, 16, 1, 1, 7>());
  // More than one strip.
  check_at_run_time(constant_shape<1, 130, 45, 41, 24, 1>());
}

TEST_CASE("threads share Winograd's convolution without a difference",
          "[conv2d]") {
  random_source random;
  using routine = conv2d_nchwc_winograd_t<f32x<4>, 4, conv2d_shape, 5, 2, none>;
  // One shape has most of its work in pixels, the other in channels.
  for (const auto &[side, channels] : {std::pair{29, 12}, {5, 90}}) {
    const conv2d_shape s{1, channels, side, side, channels, 3,    3,    1,
                         1, 1,        1,    1,    1,        side, side, 1};
    const floats x =
        block_channels(random.values(std::size_t(channels) * side * side), 1,
                       channels, side * side, 4);
    const floats u = winograd_weights(
        s, random.values(std::size_t(channels) * channels * 9), 4, 4);
    floats want;
    int most_units = 0;
    for (int threads = 1; threads <= most_threads; ++threads) {
      floats y =
          not_written(std::size_t(blocks(channels, 4)) * 4 * side * side);
      const int units = routine::units(s, threads);
      REQUIRE(units >= 1);
      REQUIRE(units <= threads);
      most_units = larger(most_units, units);
      floats scratch(
          plan_winograd(s, 4, 4, 5, 2).shared(threads).thread_scratch() /
          sizeof(float));
      in_parts(units, [&](int begin, int end) {
        routine::run(s, x.data(), u.data(), y.data(),
                     reinterpret_cast<unsigned char *>(scratch.data()), none{},
                     begin, end, threads);
      });
      if (threads == 1)
        want = y;
      REQUIRE(y == want);
    }
    CHECK(most_units > most_threads / 2);
  }
}

TEST_CASE("Winograd's convolution in longer strips", "[conv2d]") {
  random_source random;
  const conv2d_shape s{1, 130, 40, 40, 36, 3, 3, 1, 1, 1, 1, 1, 1, 40, 40, 1};
  REQUIRE(plan_winograd(s, 4, 4, 5, 2).strip_groups <
          plan_winograd(s, 4, 4, 5, 2, 4, 1280).strip_groups);
  check_winograd<f32x<4>, 4, 5, 2, winograd_summed, 1, 1280>(random, s, s);
}

TEST_CASE("strips are longer where weights come from memory for each",
          "[conv2d]") {
  const conv2d_shape deep{1, 512, 28, 28, 512, 3,  3,  1,
                          1, 1,   1,  1,  1,   28, 28, 1};
  conv2d_shape flat = deep;
  flat.c = flat.k = 128;
  tile_limits large = avx512_tile;
  large.core.level2_bytes = 2 << 20;
  const auto gain = [](const tile_limits &tile, const conv2d_shape &s) {
    return winograd_efficiency(tile, s, 4, 10, 2, winograd_summed, 1280) /
           winograd_efficiency(tile, s, 4, 10, 2);
  };
  CHECK(gain(large, deep) > 1.05);
  CHECK(gain(large, flat) == 0);       // which the cache holds
  CHECK(gain(avx512_tile, deep) == 0); // has no room for the strip
  large.core.crowding = 0.5;           // all are in the last cache
  CHECK(gain(large, deep) == 0);
}

TEST_CASE("longer sums are faster and lose more", "[conv2d]") {
  conv2d_shape s{1, 64, 28, 28, 64, 3, 3, 1, 1, 1, 1, 1, 1, 28, 28, 1};
  CHECK(winograd_efficiency(avx2_tile, s, 4, 6, 2, 64) >
        winograd_efficiency(avx2_tile, s, 4, 6, 2, 32));
  CHECK(winograd_error(s, 4, 64) > 1.2 * winograd_error(s, 4, 32));
  // With 32 channels both compute one sum, and the shorter is enough.
  s.c = 32;
  CHECK(winograd_efficiency(avx2_tile, s, 4, 6, 2, 64) == 0);
}

TEST_CASE("what would be read or made twice decides how threads share it",
          "[conv2d]") {
  // Most of 7 x 7 pixels of 512 channels is weights, of 224 x 224 of 64 input.
  const transformed_plan deep =
      plan_transformed(1, 4, 4, 16, 512, 512, 16, 8, 2);
  const transformed_plan wide =
      plan_transformed(1, 38, 38, 64, 64, 64, 16, 14, 2);
  CHECK(deep.shared(2).parts == 1);
  CHECK(deep.shared(2).run_parts == 2);
  CHECK(wide.shared(2).parts == 2);
  CHECK(wide.shared(2).run_parts == 1);
  for (const transformed_plan &p : {deep, wide})
    for (int threads = 1; threads < most_threads; ++threads) {
      const transformed_plan few = p.shared(threads);
      CHECK(p.shared(threads + 1).unit_time() <= few.unit_time());
      CHECK(few.units() * few.thread_scratch() <= p.scratch(threads));
    }
}
