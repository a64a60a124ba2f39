// Tests resizing and global pooling of row-major and blocked images, of floats
// and halves, with vectors of every width against the portable routines of
// floats.
#include "runtime/routines/resampling/resize/planes.h"
#include "runtime/parallel.h"
#include "runtime/routines/pooling/pool2d/global.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "runtime/routines/resampling/resize/portable.h"
#include "runtime/routines/resampling/resize/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"

using namespace nnc;
using namespace nnc_test;

namespace {

/// Runs all units in two uneven parts, like two threads.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., middle, R::units(s));
  R::run(s, args..., 0, middle);
}

/// Requires that |got - want| <= bound for every element, plus the error of
/// rounding the result to T.
template <class T>
void require_close(const std::vector<T> &got, const floats &want, float bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const float most = bound + rounding_error<T>(std::fabs(want[i]));
    if (!(std::fabs(got[i] - want[i]) <= most)) {
      INFO("element " << i << " got " << got[i] << " want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= most);
    }
  }
}

struct scale_and_residual {
  template <class V> V operator()(V x, V scale, V residual) const {
    return x * scale + residual + V(1.0f);
  }
};
template <class T>
using epilogue_of = fused<scale_and_residual, channel_of<float>, full_of<T>>;
using epilogue = epilogue_of<float>;

resize_shape random_resize(random_source &r) {
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

TEMPLATE_TEST_CASE("resize", "[planes]", wide<1>, wide<2>, wide<4>, wide<8>,
                   wide<16>, wide<8, f16>, wide<16, bf16>) {
  constexpr int W = TestType::W;
  using T = typename TestType::T;
  random_source r;
  for (int round = 0; round < 100; ++round) {
    const resize_shape s = random_resize(r);
    const std::size_t outputs = std::size_t(s.n) * s.c * s.oh * s.ow;
    floats x = rounded<T>(r.values(std::size_t(s.n) * s.c * s.h * s.w)),
           residual = rounded<T>(r.values(outputs)), scale = r.values(s.c),
           want(outputs);
    run<resize_portable<resize_shape, epilogue>>(
        s, x.data(), want.data(), epilogue{scale.data(), residual.data()});
    const floats blocked_want = block_channels(want, s.n, s.c, s.oh * s.ow, W);
    const auto blocked_x =
        store_all<T>(block_channels(x, s.n, s.c, s.h * s.w, W));
    const auto blocked_residual =
        store_all<T>(block_channels(residual, s.n, s.c, s.oh * s.ow, W));
    auto got = store_all<T>(not_written(blocked_want.size()));
    scale.resize(blocks(s.c, W) * W, 5.0f);
    using E = epilogue_of<T>;
    run<resize_planes_t<W, resize_shape, E>>(
        s, blocked_x.data(), got.data(),
        E{scale.data(), blocked_residual.data()});
    require_close(got, blocked_want, 2e-6f);
  }
}

TEMPLATE_TEST_CASE("global average pooling", "[planes]", wide<1>, wide<2>,
                   wide<4>, wide<8>, wide<16>) {
  constexpr int W = TestType::W;
  random_source r;
  for (int round = 0; round < 100; ++round) {
    pool2d_shape s{};
    s.n = r.between(1, 2);
    s.c = r.between(1, 40);
    s.h = s.kh = r.between(1, 24);
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
           got = not_written(blocked_want.size());
    scale.resize(blocks(s.c, W) * W, 5.0f);
    using R = avg_pool2d_nchwc_global_t<W, pool2d_shape, epilogue>;
    const epilogue blocked_epi{scale.data(), blocked_residual.data()};
    R::run(s, blocked_x.data(), got.data(), blocked_epi, 0, R::units(s));
    require_close(got, blocked_want, 2e-6f);
    // Shared, to the same bits.
    const floats alone = got;
    got.assign(got.size(), -1.0f);
    floats sums = not_written(global_pool_scratch(s, W, 2) / sizeof(float));
    auto *scratch = reinterpret_cast<unsigned char *>(sums.data());
    if (sums.empty()) {
      run<R>(s, blocked_x.data(), got.data(), blocked_epi);
    } else {
      run<R>(s, blocked_x.data(), got.data(), scratch, blocked_epi);
      finish<R>(s, blocked_x.data(), got.data(), scratch, blocked_epi);
    }
    REQUIRE(got == alone);
  }
}
