// Tests direct and pointwise convolution in blocked layouts with vectors of
// every kind.
#include "runtime/routines/convolution/conv2d/direct.h"
#include "runtime/routines/convolution/conv2d/pointwise.h"
#include "runtime/routines/units/caches.h"
#include "test/runtime/conv2d_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int ROWS, int COLS, int OC, class S>
void check_direct(random_source &random, const S &shape,
                  const conv2d_shape &s) {
  using routine = conv2d_nchwc_direct_t<V, S, ROWS, COLS, OC,
                                        conv2d_epilogue_of<element_of<V>>>;
  check_conv2d<V>(random, shape, s, lanes<V>, routine::units(shape),
                  routine::run);
}

template <class V, int COLS, int OC, class S>
void check_pointwise(random_source &random, const S &shape,
                     const conv2d_shape &s) {
  using routine = conv2d_nchwc_pointwise_t<V, S, COLS, OC,
                                           conv2d_epilogue_of<element_of<V>>>;
  check_conv2d<V>(random, shape, s, lanes<V>, routine::units(shape),
                  routine::run);
}

/// Checks that each unit is in the share of exactly one thread, and that the
/// shares are consecutive.
template <class R> void check_shares(const conv2d_shape &s) {
  for (int threads : {1, 2, 3, 16}) {
    REQUIRE(R::share(s, 0, threads) == 0);
    REQUIRE(R::share(s, threads, threads) == R::units(s));
    for (int i = 0; i < threads; ++i)
      REQUIRE(R::share(s, i, threads) <= R::share(s, i + 1, threads));
  }
}

/// A shape of constants, as emitted code has it.
template <int C, int H, int WIDTH, int K, int R, int STRIDE, int PAD,
          int GROUPS = 1>
struct constant_shape {
  static constexpr int n = 1, c = C, h = H, w = WIDTH, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD;
  static constexpr int oh = (H + 2 * PAD - R) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * PAD - R) / STRIDE + 1;
  static constexpr int groups = GROUPS;
};

/// Checks the shape S as a run-time shape, with a tile for which the routine is
/// compiled for random shapes anyway.
template <class V, class S> void check_at_run_time(random_source &random) {
  const conv2d_shape s = run_time_shape<S>();
  check_direct<V, 1, 6, 2>(random, s, s);
}

template <class V, int ROWS, int COLS, int OC, class S>
void check_constant(random_source &random) {
  check_direct<V, ROWS, COLS, OC>(random, S{}, run_time_shape<S>());
}

} // namespace

TEMPLATE_TEST_CASE("direct convolution of random shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 60; ++i) {
    const conv2d_shape s = random_conv2d(random, 20);
    check_direct<V, 1, 6, 2>(random, s, s);
    check_direct<V, 2, 3, 1>(random, s, s);
  }
}

TEST_CASE("threads share all units", "[conv2d]") {
  using V = f32x<4>;
  random_source random;
  for (int i = 0; i < 100; ++i) {
    const conv2d_shape s = random_conv2d(random, 20);
    check_shares<conv2d_nchwc_direct_t<V, conv2d_shape, 1, 6, 2, none>>(s);
    check_shares<conv2d_nchwc_direct_t<V, conv2d_shape, 2, 3, 1, none>>(s);
    check_shares<conv2d_nchwc_pointwise_t<V, conv2d_shape, 5, 2, none>>(s);
  }
  // The last of the seven tiles of 13 x 13 pixels has a single pixel. Threads
  // share the other six evenly, so one of two ends in the middle of the map.
  const conv2d_shape s{1, 512, 13, 13, 64, 1, 1, 1, 1, 1, 1, 0, 0, 13, 13, 1};
  using routine = conv2d_nchwc_pointwise_t<V, conv2d_shape, 28, 1, none>;
  REQUIRE(routine::units(s) == 7 * 16);
  CHECK(routine::share(s, 1, 2) == 3 * 16);
}

TEMPLATE_TEST_CASE("direct convolution of groups of whole blocks", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 10; ++i) {
    conv2d_shape s = random_conv2d(random, 9);
    s.groups = random.between(2, 3);
    s.c = s.groups * lanes<V> * random.between(1, 2);
    s.k = s.groups * lanes<V> * random.between(1, 3);
    check_direct<V, 1, 6, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("direct convolution of constant shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  // Rows that a tile divides, and that it does not; last blocks not full.
  check_constant<V, 1, 7, 2, constant_shape<32, 14, 14, 48, 3, 1, 1>>(random);
  check_at_run_time<V, constant_shape<20, 9, 13, 40, 3, 1, 1>>(random);
  check_constant<V, 2, 7, 2, constant_shape<16, 7, 7, 33, 3, 1, 1>>(random);
  check_constant<V, 1, 4, 3, constant_shape<16, 15, 15, 80, 3, 2, 1>>(random);
  // Taps that reach over an edge by two pixels, and a map of one column.
  check_constant<V, 1, 6, 2, constant_shape<8, 11, 11, 16, 5, 1, 2>>(random);
  check_at_run_time<V, constant_shape<8, 5, 1, 16, 3, 1, 1>>(random);
  check_constant<V, 1, 6, 2, constant_shape<64, 9, 9, 64, 3, 1, 1, 2>>(random);
}

TEMPLATE_TEST_CASE("convolution of weights that are taken in parts", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>, few = level2_weights / (2 * W * 4);
  random_source random;
  // Tiles of at least 12 points take parts from the second-level cache. The
  // first shape consists of one group of tiles, the second of several.
  check_constant<V, 2, 7, 2, constant_shape<few / 4, 7, 9, 3 * W, 3, 1, 1>>(
      random);
  using flat = constant_shape<few + 3 * W, 12, 20, 2 * W + 3, 1, 1, 0>;
  check_pointwise<V, 13, 2>(random, flat{}, run_time_shape<flat>());
  // One block, which takes a third of the code at run time.
  check_pointwise<V, 13, 1>(random, run_time_shape<flat>(),
                            run_time_shape<flat>());
}

TEMPLATE_TEST_CASE("convolution of maps that are cut into strips", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>, bytes = sizeof(element_of<V>);
  random_source random;
  using strided = constant_shape<64, 90, 71, 5 * W, 3, 2, 1>;
  REQUIRE(strips_of_convolution(strided{}, 3, bytes) > 1);
  check_constant<V, 2, 7, 2, strided>(random);
  using groups = constant_shape<64, 90, 71, 6 * W, 1, 1, 0, 2>;
  REQUIRE(strips_of_convolution(groups{}, 3, bytes) > 1);
  check_at_run_time<V, groups>(random);
  using flat = constant_shape<60, 90, 75, 5 * W, 1, 1, 0>;
  REQUIRE(strips_of_convolution(flat{}, 3, bytes) > 1);
  check_pointwise<V, 13, 2>(random, flat{}, run_time_shape<flat>());
  conv2d_shape images = run_time_shape<flat>();
  images.n = 2;
  check_pointwise<V, 13, 1>(random, images, images);
}

TEST_CASE("maps are cut into strips where that reads less", "[conv2d]") {
  // ResNet's at 512 x 512 pixels: 8 MB, of which each strip has 256 KB.
  conv2d_shape s{1, 128, 128, 128, 128, 3, 3, 2, 2, 1, 1, 1, 1, 64, 64, 1};
  CHECK(strips_of_convolution(s, 4, 4) == 32);
  // One run reads the map once anyway.
  CHECK(strips_of_convolution(s, 1, 4) == 1);
  // Every other pixel of every other row is a quarter.
  s.kh = s.kw = 1;
  CHECK(strips_of_convolution(s, 4, 4) == 8);
  CHECK(strips_of_convolution(s, 1, 4) == 1);
  // The second-level cache holds it, or there are too many weights.
  s = {1, 128, 28, 28, 128, 3, 3, 1, 1, 1, 1, 1, 1, 28, 28, 1};
  CHECK(strips_of_convolution(s, 4, 4) == 1);
  s = {1, 1024, 32, 32, 512, 1, 1, 1, 1, 1, 1, 0, 0, 32, 32, 1};
  CHECK(strips_of_convolution(s, 2, 4) == 1);
}

TEMPLATE_TEST_CASE("pointwise convolution", "[conv2d]", NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 40; ++i) {
    conv2d_shape s = random_conv2d(random, 20);
    s.kh = s.kw = 1;
    s.pt = s.pl = 0;
    if (i % 2)
      s.sh = s.sw = 1;
    s.c = random.between(1, 300);
    s.oh = (s.h - 1) / s.sh + 1;
    s.ow = (s.w - 1) / s.sw + 1;
    check_pointwise<V, 6, 2>(random, s, s);
  }
  using flat = constant_shape<80, 7, 7, 72, 1, 1, 0>;
  check_pointwise<V, 13, 2>(random, flat{}, run_time_shape<flat>());
  using strided = constant_shape<80, 14, 14, 72, 1, 2, 0>;
  check_pointwise<V, 7, 2>(random, strided{}, run_time_shape<strided>());
}
