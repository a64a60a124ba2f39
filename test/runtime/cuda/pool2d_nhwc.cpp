// Checks the kernels of pooling in NHWC on the CPU's block policy: against
// plain C++ in double precision, and that their results do not depend on the
// order of threads.
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "test/runtime/cuda/block_launch.h"

#include <cstddef>
#include <limits>
#include <type_traits>

using namespace nnc_test;

namespace {

/// A random pooling: windows of all sizes, pads on any side, windows beyond
/// them, or of a whole image.
nnc::pool2d_shape random_pool(random_source &r, int i) {
  nnc::pool2d_shape s{};
  s.n = r.between(1, 2);
  const int wholes[] = {4, 8, 16};
  s.c = r.between(0, 1) ? wholes[r.between(0, 2)] * r.between(1, 12)
                        : r.between(1, 90);
  s.h = r.between(1, 9);
  s.w = r.between(1, 9);
  s.count_include_pad = r.between(0, 1);
  s.sh = r.between(1, 3);
  s.sw = r.between(1, 3);
  s.dh = r.between(1, 2);
  s.dw = r.between(1, 2);
  if (i % 4 == 0) { // global, of maps of all sizes
    const bool many = i % 16 == 0;
    s.kh = s.h = many ? r.between(32, 40) : r.between(1, 12);
    s.kw = s.w = many ? r.between(30, 40) : r.between(1, 12);
    s.dh = s.dw = s.oh = s.ow = 1;
    return s;
  }
  const int side = i % 4 == 1 ? 8 : 3;
  s.kh = r.between(1, side);
  s.kw = r.between(1, side);
  const auto pad = [&](int in, int taps, int dilation, int stride, int &before,
                       int &after, int &out) {
    before = r.between(0, taps - 1);
    after = r.between(0, taps - 1);
    const int reach = (taps - 1) * dilation + 1;
    if (in + before + after < reach)
      after = reach - in - before;
    // A window more, which may lie beyond the pads.
    out = (in + before + after - reach) / stride + 1 + (r.between(0, 3) == 0);
  };
  pad(s.h, s.kh, s.dh, s.sh, s.pt, s.pb, s.oh);
  pad(s.w, s.kw, s.dw, s.sw, s.pl, s.pr, s.ow);
  return s;
}

template <class T> struct pool_case {
  tensor<T> x, residual;
  tensor<float> channels;
};

template <class T, int ARCH, bool MAX, bool FUSED, class S>
std::vector<char> run_pool(const S &s, const pool_case<T> &c, bool shifted,
                           unsigned seed) {
  tensor<T> y(c.residual.size(), shifted);
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  const auto run = [&](const auto &epi) {
    using epilogue = std::decay_t<decltype(epi)>;
    using kind = std::conditional_t<MAX, nnc::pool2d_maximum, nnc::pool2d_mean>;
    using routine = nnc::pool2d_nhwc_sm75<T, kind, S, epilogue>;
    return launch<ARCH>(
        typename routine::kernels(), seed, s,
        [&](auto &grid) {
          grid.may_read(c.x.data(), c.x.bytes());
          grid.may_read(c.channels.data(), c.channels.bytes());
          grid.may_write(y.data(), y.bytes());
        },
        static_cast<const T *>(c.x.data()), y.data(), epi);
  };
  std::string error;
  if constexpr (FUSED)
    error = run(bias_residual_epilogue<T>(c.channels.data(), y.data()));
  else
    error = run(nnc::none());
  REQUIRE(error == "");
  return y.content();
}

/// The largest value or the mean of a window of channel `channel`.
template <bool MAX, class T>
double pooled(const nnc::pool2d_shape &s, const tensor<T> &x, int pixel,
              int channel) {
  const int image = pixel / s.ow / s.oh;
  const int top = pixel / s.ow % s.oh * s.sh - s.pt;
  const int left = pixel % s.ow * s.sw - s.pl;
  double best = -std::numeric_limits<double>::infinity(), sum = 0;
  int inside = 0, counted = 0;
  for (int i = 0; i < s.kh; ++i)
    for (int j = 0; j < s.kw; ++j) {
      const int row = top + i * s.dh, column = left + j * s.dw;
      counted += row >= -s.pt && row < s.h + s.pb && column >= -s.pl &&
                 column < s.w + s.pr;
      if (row < 0 || row >= s.h || column < 0 || column >= s.w)
        continue;
      ++inside;
      const double v = static_cast<double>(static_cast<float>(
          x[((std::size_t(image) * s.h + row) * s.w + column) * s.c +
            channel]));
      best = std::isnan(v) || v > best ? v : best;
      sum += v;
    }
  const int by = s.count_include_pad ? counted : inside;
  return MAX ? inside ? best : 0 : by ? sum / by : 0;
}

template <class T, int ARCH, bool MAX, bool FUSED> void check_pool(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    const nnc::pool2d_shape s = random_pool(r, i);
    const auto shifts = [&] { return r.between(0, 9) == 0; };
    const std::size_t all = std::size_t(s.n) * s.oh * s.ow * s.c;
    const pool_case<T> c{{std::size_t(s.n) * s.h * s.w * s.c, shifts()},
                         {all, false},
                         {std::size_t(s.c), FUSED && shifts()}};
    std::vector<float> values = r.values(c.x.size());
    const float specials[] = {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(),
                              -60000.0f};
    for (int k = r.between(0, 3) ? 0 : r.between(1, 20); k > 0; --k)
      values[r.between(0, int(values.size()) - 1)] = specials[r.between(0, 3)];
    c.x.set(values);
    c.residual.set(r.values(all));
    c.channels.set(r.values(s.c));
    const bool shifted = shifts();
    INFO(describe(s) << " shifted " << shifted);
    const std::vector<char> bytes =
        run_pool<T, ARCH, MAX, FUSED>(s, c, shifted, unsigned(i));
    REQUIRE((bytes ==
             run_pool<T, ARCH, MAX, FUSED>(s, c, shifted, unsigned(i) + 999)));
    const T *y = reinterpret_cast<const T *>(bytes.data());
    for (std::size_t k = 0; k < all; ++k) {
      const int channel = int(k % s.c);
      double want = pooled<MAX>(s, c.x, int(k / s.c), channel);
      const double error = MAX && !FUSED ? 0 : 4e-6 + 1e-6 * std::fabs(want);
      if (FUSED) {
        want += static_cast<double>(c.channels[channel]) +
                static_cast<double>(static_cast<float>(c.residual[k]));
        want = want > 0 ? want : 0; // and 0 for NaN
      }
      REQUIRE(agrees(y[k], want, error));
    }
  }
}

/// Shapes of constants, as emitted modules have them.
struct constant_pool { // of ResNet-50
  static constexpr int n = 1, c = 16, h = 12, w = 11, kh = 3, kw = 3, sh = 2,
                       sw = 2, dh = 1, dw = 1, pt = 1, pl = 1, pb = 1, pr = 1,
                       oh = 6, ow = 6, count_include_pad = 0;
};
struct constant_global_pool {
  static constexpr int n = 2, c = 100, h = 7, w = 7, kh = 7, kw = 7, sh = 1,
                       sw = 1, dh = 1, dw = 1, pt = 0, pl = 0, pb = 0, pr = 0,
                       oh = 1, ow = 1, count_include_pad = 0;
};

template <class T, class S> void check_constants(const S &c) {
  const nnc::pool2d_shape s{c.n,
                            c.c,
                            c.h,
                            c.w,
                            c.kh,
                            c.kw,
                            c.sh,
                            c.sw,
                            c.dh,
                            c.dw,
                            c.pt,
                            c.pl,
                            c.pb,
                            c.pr,
                            c.oh,
                            c.ow,
                            c.count_include_pad};
  random_source r;
  const std::size_t all = std::size_t(s.n) * s.oh * s.ow * s.c;
  const pool_case<T> operands{{std::size_t(s.n) * s.h * s.w * s.c, false},
                              {all, false},
                              {std::size_t(s.c), false}};
  operands.x.set(r.values(operands.x.size()));
  operands.residual.set(r.values(all));
  operands.channels.set(r.values(s.c));
  const std::vector<char> first =
      run_pool<T, 75, false, true>(s, operands, false, 0);
  for (unsigned seed = 0; seed < 8; ++seed)
    REQUIRE((run_pool<T, 75, false, true>(c, operands, false, seed) == first));
}

} // namespace

TEST_CASE("max_pool2d on blocks") {
  check_pool<float, 75, true, false>(150);
  check_pool<nnc::f16, 80, true, false>(150);
  check_pool<nnc::f16, 75, true, true>(100);
  check_pool<nnc::bf16, 80, true, true>(60);
}
TEST_CASE("avg_pool2d on blocks") {
  check_pool<float, 75, false, false>(150);
  check_pool<nnc::f16, 80, false, false>(150);
  check_pool<float, 90, false, true>(100);
  check_pool<nnc::bf16, 80, false, false>(60);
}
TEST_CASE("pooling with constant shapes has the same bits in every order") {
  check_constants<float>(constant_pool());
  check_constants<nnc::f16>(constant_pool());
  check_constants<nnc::f16>(constant_global_pool());
  check_constants<float>(constant_global_pool());
}
