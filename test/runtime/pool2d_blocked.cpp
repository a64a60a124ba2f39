// Tests pooling in blocked layouts with vectors of every width against the
// portable routines.
#include "runtime/routines/pooling/pool2d/blocked.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

#include <limits>

using namespace nnc;
using namespace nnc_test;

namespace {

/// An epilogue that, unlike a ReLU, does not hide NaN.
struct bias_residual {
  template <class V> V operator()(V x, V bias, V residual) const {
    return x + bias + residual;
  }
};
using epilogue = fused<bias_residual, channel_of<float>, full_of<float>>;

template <int W, class Blocked, class Portable, class S>
void check(random_source &random, const S &shape, pool2d_shape s) {
  INFO("W=" << W << describe(s));
  const int in = s.h * s.w, out = s.oh * s.ow;
  floats x = random.values(std::size_t(s.n) * s.c * in);
  x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  x[x.size() / 3] = -std::numeric_limits<float>::infinity();
  floats bias = random.values(s.c);
  const floats residual = random.values(std::size_t(s.n) * s.c * out);
  floats want(residual.size());
  Portable::run(s, x.data(), want.data(),
                epilogue{bias.data(), residual.data()}, 0, Portable::units(s));

  const floats bx = block_channels(x, s.n, s.c, in, W);
  bias.resize(std::size_t(blocks(s.c, W)) * W, 1.0f);
  floats by = block_channels(residual, s.n, s.c, out, W);
  const int units = Blocked::units(shape);
  for (int part : {1, 0})
    Blocked::run(shape, bx.data(), by.data(), epilogue{bias.data(), by.data()},
                 part ? units / 2 : 0, part ? units : units / 2);
  const floats got = unblock_channels(by, s.n, s.c, out, W);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool same =
        std::isnan(want[i])
            ? std::isnan(got[i])
            : std::fabs(got[i] - want[i]) <= 1e-6f || got[i] == want[i];
    if (!same) {
      INFO("at " << i << ": got " << got[i] << ", want " << want[i]);
      REQUIRE(same);
    }
  }
}

template <int W, class S>
void check_both(random_source &random, const S &shape, const pool2d_shape &s) {
  check<W, pool2d_nchwc_t<W, S, pool_largest<W>, epilogue>,
        max_pool2d_portable<pool2d_shape, epilogue>>(random, shape, s);
  check<W, pool2d_nchwc_t<W, S, pool_mean<W>, epilogue>,
        avg_pool2d_f32_portable<pool2d_shape, epilogue>>(random, shape, s);
}

template <int C, int H, int WIDTH, int K, int STRIDE, int PAD>
struct constant_shape {
  static constexpr int n = 1, c = C, h = H, w = WIDTH, kh = K, kw = K;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD, pb = PAD, pr = PAD;
  static constexpr int oh = (H + 2 * PAD - K) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * PAD - K) / STRIDE + 1;
  static constexpr int count_include_pad = 0;
  static pool2d_shape run_time() {
    return {n,
            c,
            h,
            w,
            kh,
            kw,
            sh,
            sw,
            dh,
            dw,
            pt,
            pl,
            pb,
            pr,
            oh,
            ow,
            count_include_pad};
  }
};

template <int W, class S> void check_constant(random_source &random) {
  check_both<W>(random, S{}, S::run_time());
}

} // namespace

TEMPLATE_TEST_CASE("blocked pooling of random shapes", "[pool2d]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  for (int i = 0; i < 200; ++i) {
    const pool2d_shape s = random_pool2d(random);
    check_both<W>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("blocked pooling of constant shapes", "[pool2d]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  check_constant<W, constant_shape<64, 16, 16, 3, 2, 1>>(random);
  check_constant<W, constant_shape<20, 15, 13, 3, 1, 1>>(random);
  check_constant<W, constant_shape<24, 12, 12, 2, 2, 0>>(random);
  check_constant<W, constant_shape<50, 7, 7, 7, 1, 0>>(random); // global
}
