// Tests convolution of row-major images into blocked channels with vectors of
// every kind.
#include "runtime/routines/convolution/conv2d/first.h"
#include "test/runtime/conv2d_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int COLS, int OC, class S>
void check(random_source &random, const S &shape, const conv2d_shape &s) {
  using routine =
      conv2d_first_t<V, S, COLS, OC, conv2d_epilogue_of<element_of<V>>>;
  check_conv2d<V>(random, shape, s, 1, routine::units(shape), routine::run);
}

template <int C, int H, int WIDTH, int K, int R, int STRIDE, int PAD>
struct constant_shape {
  static constexpr int n = 2, c = C, h = H, w = WIDTH, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD, groups = 1;
  static constexpr int oh = (H + 2 * PAD - R) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * PAD - R) / STRIDE + 1;
};

template <class V, int COLS, int OC, class S>
void check_constant(random_source &random) {
  check<V, COLS, OC>(random, S{}, run_time_shape<S>());
}

} // namespace

TEMPLATE_TEST_CASE("first convolution of random shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(random, 30);
    s.c = random.between(1, 5);
    check<V, 6, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("first convolution of constant shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  check_constant<V, 7, 2, constant_shape<3, 28, 31, 64, 7, 2, 3>>(random);
  check_constant<V, 6, 1, constant_shape<3, 17, 16, 24, 3, 2, 1>>(random);
  check_constant<V, 4, 3, constant_shape<1, 9, 11, 40, 3, 1, 1>>(random);
  // Patches of a vision transformer: taps and stride as wide as each other.
  check_constant<V, 4, 2, constant_shape<3, 32, 32, 20, 8, 8, 0>>(random);
}
