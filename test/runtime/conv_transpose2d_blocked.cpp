// Tests transposed convolution in blocked layouts with vectors of every kind.
#include "runtime/routines/convolution/conv_transpose2d/blocked.h"
#include "runtime/routines/convolution/conv_transpose2d/portable.h"
#include "runtime/routines/convolution/conv_transpose2d/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class T>
using epilogue_of = fused<bias_residual_relu, channel_of<float>, full_of<T>>;
using epilogue = epilogue_of<float>;

/// Returns weights in [c][k][taps] as [k / w][taps][c][w].
floats pack(const floats &x, int c, int k, int taps, int w) {
  floats y(std::size_t(blocks(k, w)) * taps * c * w, 0.0f);
  for (int i = 0; i < c; ++i)
    for (int j = 0; j < k; ++j)
      for (int t = 0; t < taps; ++t)
        y[((std::size_t(j / w) * taps + t) * c + i) * w + j % w] =
            x[(std::size_t(i) * k + j) * taps + t];
  return y;
}

template <class V, int COLS, int OC, class S>
void check(random_source &random, const S &shape, conv_transpose2d_shape s) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  INFO("W=" << W << describe(s));
  const int in = s.h * s.w, out = s.oh * s.ow, taps = s.kh * s.kw;
  const floats x = rounded<T>(random.values(std::size_t(s.n) * s.c * in));
  const floats w = rounded<T>(random.values(std::size_t(s.c) * s.k * taps));
  floats bias = random.values(s.k);
  const floats residual =
      rounded<T>(random.values(std::size_t(s.n) * s.k * out));

  floats want(residual.size()), size(residual.size());
  using plain = conv_transpose2d_f32_portable<conv_transpose2d_shape, epilogue>;
  plain::run(s, x.data(), w.data(), want.data(),
             epilogue{bias.data(), residual.data()}, 0, plain::units(s));
  using sums = conv_transpose2d_f32_portable<conv_transpose2d_shape, none>;
  sums::run(s, magnitudes(x).data(), magnitudes(w).data(), size.data(), none{},
            0, sums::units(s));

  using E = epilogue_of<T>;
  using routine = conv_transpose2d_nchwc_t<V, S, COLS, OC, E>;
  const auto bx = store_all<T>(block_channels(x, s.n, s.c, in, W));
  const auto bw = store_all<T>(pack(w, s.c, s.k, taps, W));
  bias.resize(std::size_t(blocks(s.k, W)) * W, 1.0f);
  auto by = store_all<T>(block_channels(residual, s.n, s.k, out, W));
  const int units = routine::units(shape);
  for (int part : {1, 0})
    routine::run(shape, bx.data(), bw.data(), by.data(),
                 E{bias.data(), by.data()}, part ? units / 2 : 0,
                 part ? units : units / 2);
  const floats got = unblock_channels(load_all(by), s.n, s.k, out, W);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const float bound = error_bound<T>(float(s.c) * taps, size[i]);
    if (!(std::fabs(got[i] - want[i]) <= bound)) {
      INFO("at " << i << ": got " << got[i] << ", want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= bound);
    }
  }
}

template <int C> struct doubling {
  static constexpr int n = 1, c = C, h = 9, w = 13, k = 24, kh = 2, kw = 2;
  static constexpr int sh = 2, sw = 2, dh = 1, dw = 1, pt = 0, pl = 0;
  static constexpr int oh = 18, ow = 26, groups = 1;
};

} // namespace

TEMPLATE_TEST_CASE("blocked transposed convolution of random shapes",
                   "[conv_transpose2d]", NNC_TEST_TILES) {
  using V = TestType;
  random_source r;
  for (int i = 0; i < 80; ++i) {
    const conv_transpose2d_shape s = random_conv_transpose2d(r);
    check<V, 6, 2>(r, s, s);
  }
  check<V, 6, 2>(r, doubling<24>{},
                 {1, 24, 9, 13, 24, 2, 2, 2, 2, 1, 1, 0, 0, 18, 26, 1});
  // With as many channels, weights of floats are taken in parts, too.
  check<V, 6, 2>(r, doubling<700>{},
                 {1, 700, 9, 13, 24, 2, 2, 2, 2, 1, 1, 0, 0, 18, 26, 1});
}
