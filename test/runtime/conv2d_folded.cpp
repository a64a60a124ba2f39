// Tests Winograd's convolution of a row-major image with a stride of 2, with
// vectors of every width.
#include "runtime/routines/convolution/conv2d/folded.h"
#include "test/runtime/winograd_test.h"

#include <type_traits>

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int M, int P, int B, class S>
void check_folded(random_source &random, const S &shape,
                  const conv2d_shape &s) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  INFO("M=" << M);
  REQUIRE(folded_winograd_applies(s, M));
  check_sums<V, conv2d_folded_winograd_t<V, M, S, P, B, conv2d_epilogue_of<T>>>(
      random, shape, s, folded_winograd_error(s, M),
      [&](const floats &x, const floats &w) {
        return std::pair(x, folded_winograd_weights(s, w, M, W));
      },
      [&](int threads) {
        return plan_folded_winograd(s, W, M, P, B, sizeof(T))
            .shared(threads)
            .thread_scratch();
      });
}

/// Returns a random convolution with few channels and with 2 * taps or 2 * taps
/// - 1 taps along each axis.
conv2d_shape random_folded(random_source &r, int taps) {
  const int kh = r.between(2 * taps - 1, 2 * taps);
  const int kw = r.between(2 * taps - 1, 2 * taps);
  return random_shape(r, 9, kh, kw, 2, 50);
}

template <int N, int C, int H, int WIDTH, int K, int PAD, int KH, int KW>
struct constant_shape {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K, kh = KH, kw = KW;
  static constexpr int sh = 2, sw = 2, dh = 1, dw = 1, pt = PAD, pl = PAD;
  static constexpr int oh = (H + 2 * pt - KH) / 2 + 1;
  static constexpr int ow = (WIDTH + 2 * pl - KW) / 2 + 1, groups = 1;
};

} // namespace

TEMPLATE_TEST_CASE("folded convolution of random shapes", "[conv2d]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  for (int i = 0; i < 20; ++i) {
    const conv2d_shape four = random_folded(random, 4);
    check_folded<f32x<W>, 3, 5, 2>(random, four, four);
    check_folded<f32x<W>, 5, 6, 1>(random, four, four);
    const conv2d_shape two = random_folded(random, 2);
    check_folded<f32x<W>, 3, 5, 2>(random, two, two);
    check_folded<f32x<W>, 5, 6, 1>(random, two, two);
  }
}

TEMPLATE_TEST_CASE("folded convolution of chosen shapes", "[conv2d]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  // The first checks a shape as a constant. The second checks it as a run-time
  // shape, with tiles for which the routine is compiled for random shapes
  // anyway.
  const auto check_constant = [&](auto outputs, auto shape) {
    constexpr conv2d_shape s = run_time_shape<decltype(shape)>();
    check_folded<f32x<W>, outputs, 6, 2>(random, shape, s);
  };
  const auto check = [&](auto shape) {
    const conv2d_shape s = run_time_shape<decltype(shape)>();
    check_folded<f32x<W>, 3, 5, 2>(random, s, s);
    check_folded<f32x<W>, 5, 6, 1>(random, s, s);
  };
  // The first layer of a ResNet, with patches inside the map, at its edges and
  // over them.
  using resnet = constant_shape<1, 3, 64, 72, 64, 3, 7, 7>;
  check_constant(std::integral_constant<int, 5>(), resnet());
  check(resnet());
  // The first layer of a MobileNet of an odd size, and a layer that folds more
  // channels than a vector holds.
  using mobilenet = constant_shape<2, 3, 33, 47, 24, 1, 3, 3>;
  check_constant(std::integral_constant<int, 3>(), mobilenet());
  check(mobilenet());
  check(constant_shape<1, 5, 31, 30, 17, 0, 8, 7>());
  // Smaller than a patch, and all padding but for one pixel.
  check(constant_shape<1, 1, 3, 2, 9, 3, 7, 7>());
  check(constant_shape<1, 2, 1, 1, 8, 3, 4, 3>());
}

TEST_CASE("folding applies where a stride of 2 is all that it changes",
          "[conv2d]") {
  const conv2d_shape first{1, 3, 224, 224, 64, 7,   7,   2,
                           2, 1, 1,   3,   3,  112, 112, 1};
  const auto changed = [&](auto change) {
    conv2d_shape s = first;
    change(s);
    return folded_winograd_applies(s, 5);
  };
  CHECK(changed([](conv2d_shape &) {}));
  CHECK(changed([](conv2d_shape &s) { s.kw = 8; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.kw = 6; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.kh = s.kw = 9; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.kh = s.kw = 2; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.sh = 1; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.sw = 3; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.dh = 2; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.groups = 3; }));
  CHECK_FALSE(changed([](conv2d_shape &s) { s.c = 17; }));
  CHECK_FALSE(folded_winograd_applies(first, 4));
}
