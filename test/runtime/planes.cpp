// Resize and global pooling, plain and blocked, at every width against the
// portable routines.
#include "runtime/routines/resize/planes.h"
#include "runtime/routines/pool2d/global.h"
#include "runtime/routines/pool2d/portable.h"
#include "runtime/routines/pool2d/shape.h"
#include "runtime/routines/resize/portable.h"
#include "runtime/routines/resize/shape.h"
#include "test/runtime/blocked.h"

#include <catch2/catch.hpp>

using namespace nnc;
using nnc_test::block_channels;
using nnc_test::floats;

namespace {

/// Runs all units in two uneven parts, as two threads would.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., middle, R::units(s));
  R::run(s, args..., 0, middle);
}

void require_close(const floats &got, const floats &want, float bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) <= bound)) {
      INFO("element " << i << " got " << got[i] << " want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= bound);
    }
}

struct scale_and_residual {
  template <class V> V operator()(V x, V scale, V residual) const {
    return x * scale + residual + V(1.0f);
  }
};
using epilogue = fused<scale_and_residual, channel_of<float>, full_of<float>>;

resize_shape random_resize(nnc_test::random_source &r) {
  resize_shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(1, 40);
  s.h = r.between(1, 9);
  s.w = r.between(1, 9);
  s.oh = r.between(1, 20);
  s.ow = r.between(1, 5) == 1 ? r.between(60, 140) : r.between(1, 20);
  s.mode = r.between(0, 2);
  s.coord = r.between(0, 4);
  s.nearest = r.between(0, 3);
  s.scale_h = static_cast<float>(s.oh) / static_cast<float>(s.h);
  s.scale_w = static_cast<float>(s.ow) / static_cast<float>(s.w);
  s.cubic_a = -0.75f;
  s.exclude_outside = r.between(0, 1);
  return s;
}

} // namespace

TEMPLATE_TEST_CASE_SIG("resize", "[planes]", ((int W), W), 1, 2, 4, 8, 16) {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    const resize_shape s = random_resize(r);
    const std::size_t outputs = std::size_t(s.n) * s.c * s.oh * s.ow;
    floats x = r.values(std::size_t(s.n) * s.c * s.h * s.w),
           residual = r.values(outputs), scale = r.values(s.c), want(outputs);
    run<resize_portable<resize_shape, epilogue>>(
        s, x.data(), want.data(), epilogue{scale.data(), residual.data()});
    floats blocked_x = block_channels(x, s.n, s.c, s.h * s.w, W),
           blocked_residual =
               block_channels(residual, s.n, s.c, s.oh * s.ow, W),
           blocked_want = block_channels(want, s.n, s.c, s.oh * s.ow, W),
           got = nnc_test::not_written(blocked_want.size());
    scale.resize(nnc_test::blocks(s.c, W) * W, 5.0f);
    run<resize_f32_t<W, resize_shape, epilogue>>(
        s, blocked_x.data(), got.data(),
        epilogue{scale.data(), blocked_residual.data()});
    require_close(got, blocked_want, 2e-6f);
  }
}

TEMPLATE_TEST_CASE_SIG("global average pooling", "[planes]", ((int W), W), 1, 2,
                       4, 8, 16) {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    pool2d_shape s{};
    s.n = r.between(1, 2);
    s.c = r.between(1, 40);
    s.h = s.kh = r.between(1, 12);
    s.w = s.kw = r.between(1, 12);
    s.sh = s.sw = s.dh = s.dw = s.oh = s.ow = 1;
    const std::size_t outputs = std::size_t(s.n) * s.c;
    floats x = r.values(outputs * s.h * s.w), residual = r.values(outputs),
           scale = r.values(s.c), want(outputs), plain(outputs);
    const epilogue epi{scale.data(), residual.data()};
    run<avg_pool2d_f32_portable<pool2d_shape, epilogue>>(s, x.data(),
                                                         want.data(), epi);
    run<avg_pool2d_f32_nchw_global_t<W, pool2d_shape, epilogue>>(
        s, x.data(), plain.data(), epi);
    require_close(plain, want, 2e-6f);
    floats blocked_x = block_channels(x, s.n, s.c, s.h * s.w, W),
           blocked_residual = block_channels(residual, s.n, s.c, 1, W),
           blocked_want = block_channels(want, s.n, s.c, 1, W),
           got = nnc_test::not_written(blocked_want.size());
    scale.resize(nnc_test::blocks(s.c, W) * W, 5.0f);
    run<avg_pool2d_nchwc_global_t<W, pool2d_shape, epilogue>>(
        s, blocked_x.data(), got.data(),
        epilogue{scale.data(), blocked_residual.data()});
    require_close(got, blocked_want, 2e-6f);
  }
}
