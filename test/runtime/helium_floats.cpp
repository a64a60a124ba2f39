// Tests tiles of floats in Arm's M-profile vectors, on a board that has them,
// against sums in double. Errors may be up to 4 sqrt(terms) eps sum |a b|.
// fpu.cpp checks more shapes with what other machines compute in place of these
// vectors.
#include "runtime/routines/convolution/conv2d/fpu.h"
#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/matrix/matmul/fpu.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "test/runtime/board.h"

using namespace nnc;
using namespace nnc_test;

#if !defined(NNC_FPU_VECTORS)
#error "the flags of this test are for a machine without vectors"
#endif

namespace {

constexpr int most = 8192;
float x[most], w[most], packed[most], y[most];
double dx[most], dw[most], want[most], sizes[most];

void fill() {
  for (int i = 0; i < most; ++i) {
    dx[i] = x[i] = static_cast<float>(between(-1000, 1000)) / 512;
    dw[i] = w[i] = static_cast<float>(between(-1000, 1000)) / 512;
    y[i] = 99;
    want[i] = sizes[i] = 0;
  }
}
void make_magnitudes() {
  for (int i = 0; i < most; ++i)
    dx[i] = fabs(dx[i]), dw[i] = fabs(dw[i]);
}
/// Checks `count` results, and that nothing was written behind them.
void compare(const char *name, int count, int terms) {
  for (int i = 0; i < count + 8; ++i) {
    const double bound = 4 * sqrt(double(terms)) * 0x1p-24 * sizes[i];
    const double apart = fabs(double(y[i]) - want[i]);
    check(i < count ? apart <= bound : y[i] == 99, name,
          [&] { say("at", i), say("of", count); });
  }
}

/// Returns weights w[k][kh][kw][c] as w[k / Lanes][kh][kw][c][Lanes].
template <int Lanes> const float *pack(const conv2d_shape &s) {
  const int taps = s.kh * s.kw * s.c;
  for (float &v : packed)
    v = 0;
  for (int k = 0; k < s.k; ++k)
    for (int i = 0; i < taps; ++i)
      packed[(k / Lanes * taps + i) * Lanes + k % Lanes] = w[k * taps + i];
  return packed;
}

template <class Reference> void compute_exactly(const conv2d_shape &s) {
  Reference::run(s, dx, dw, want, none{}, 0, Reference::units(s));
  make_magnitudes();
  Reference::run(s, dx, dw, sizes, none{}, 0, Reference::units(s));
}
template <class R>
void check_conv2d(const char *name, const conv2d_shape &s,
                  const float *weights) {
  const int count = s.oh * s.ow * s.k;
  for (int i = 0; i < count; ++i)
    y[i] = 99;
  R::run(s, x, weights, y, none{}, 0, R::units(s));
  compare(name, count, s.kh * s.kw * s.c / s.groups);
}

void check_layers() {
  conv2d_shape s{};
  s.n = s.groups = s.dh = 1;
  s.c = between(1, 9), s.k = between(1, 20);
  s.h = between(3, 7), s.w = between(3, 9), s.kh = between(1, 3);
  s.kw = between(0, 1) ? s.kh : between(1, 3), s.dw = between(1, 2);
  s.sh = between(1, 2), s.sw = between(1, 2);
  s.pt = between(0, s.kh - 1), s.pl = between(0, s.kw - 1);
  s.oh = (s.h + 2 * s.pt - s.kh) / s.sh + 1;
  s.ow = (s.w + 2 * s.pl - (s.kw - 1) * s.dw - 1) / s.sw + 1;
  if (s.ow < 1)
    return;
  using S = conv2d_shape;
  fill();
  compute_exactly<conv2d_nhwc<double, S, none>>(s);
  check_conv2d<conv2d_f32_nhwc_fpu<S, 0, none>>("shared", s, pack<8>(s));
  check_conv2d<conv2d_f32_nhwc_fpu<S, 1, none>>("own", s, pack<8>(s));
  check_conv2d<conv2d_f32_nhwc_few_fpu<S, 0, none>>("few", s, pack<4>(s));
  check_conv2d<conv2d_f32_nhwc_few_fpu<S, 1, none>>("few, own", s, pack<4>(s));
  s.groups = s.c = s.k;
  fill();
  compute_exactly<conv2d_nhwc_depthwise<double, S, none>>(s);
  check_conv2d<conv2d_f32_nhwc_depthwise_fpu<S, 0, none>>("depthwise", s, w);
  check_conv2d<conv2d_f32_nhwc_depthwise_fpu<S, 1, none>>("depthwise, own", s,
                                                          w);
}

template <int INLINE> void check_matmul(const char *name, bool transposed) {
  matmul_shape s{};
  s.batch = 1, s.m = between(1, 5), s.k = between(1, 40), s.n = between(1, 30);
  s.a_batch_stride = s.m * s.k, s.transpose_a = transposed;
  fill();
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j)
      for (int k = 0; k < s.k; ++k) {
        const double product =
            dx[transposed ? k * s.m + i : i * s.k + k] * dw[k * s.n + j];
        want[i * s.n + j] += product;
        sizes[i * s.n + j] += fabs(product);
      }
  using R = matmul_f32_fpu<matmul_shape, INLINE, none>;
  R::run(s, x, w, y, none{}, 0, R::units(s));
  compare(name, s.m * s.n, s.k);
}

} // namespace

int main() {
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    check_layers();
    check_matmul<0>("matmul", false);
    check_matmul<1>("matmul, own", false);
    check_matmul<1>("matmul, transposed", true);
  }
  return finish();
}
