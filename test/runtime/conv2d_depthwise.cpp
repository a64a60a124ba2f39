// Tests depthwise convolution in blocked layouts with vectors of every kind.
#include "runtime/routines/convolution/conv2d/depthwise.h"
#include "test/runtime/conv2d_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int COLS, class S>
void check(random_source &random, const S &shape, const conv2d_shape &s) {
  using routine =
      conv2d_nchwc_depthwise_t<V, S, COLS, conv2d_epilogue_of<element_of<V>>>;
  check_conv2d<V>(random, shape, s, 1, routine::units(shape),
                  [](auto &&...arguments) { routine::run(arguments...); });
}

template <int C, int H, int WIDTH, int R, int T, int STRIDE, int PAD,
          int DILATION = 1>
struct constant_shape {
  static constexpr int n = 2, c = C, h = H, w = WIDTH, k = C, kh = R, kw = T;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = DILATION, dw = DILATION;
  static constexpr int pt = PAD, pl = PAD;
  static constexpr int oh = (H + 2 * PAD - (R - 1) * DILATION - 1) / STRIDE + 1;
  static constexpr int ow =
      (WIDTH + 2 * PAD - (T - 1) * DILATION - 1) / STRIDE + 1;
  static constexpr int groups = C;
};

template <class V, int COLS, class S> void check_constant(random_source &r) {
  check<V, COLS>(r, S{}, run_time_shape<S>());
}

} // namespace

TEMPLATE_TEST_CASE("depthwise convolution of random shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 100; ++i) {
    conv2d_shape s = random_conv2d(random, 20);
    s.groups = s.c = s.k = random.between(2, 50);
    check<V, 6>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("depthwise convolution of constant shapes", "[conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  check_constant<V, 7, constant_shape<32, 14, 14, 3, 3, 1, 1>>(random);
  check_constant<V, 7, constant_shape<20, 15, 16, 3, 3, 2, 1>>(random);
  check_constant<V, 4, constant_shape<19, 9, 11, 5, 5, 1, 2>>(random);
  check_constant<V, 4, constant_shape<16, 12, 13, 5, 3, 2, 2>>(random);
  check_constant<V, 8, constant_shape<16, 6, 3, 7, 7, 1, 3>>(random);
  check_constant<V, 8, constant_shape<8, 13, 17, 3, 3, 1, 2, 2>>(random);
  check_constant<V, 8, constant_shape<8, 13, 17, 3, 3, 1, 0>>(random);
}
