// Tests register tiles of single floats, for machines without vectors, against
// the definition in double. Errors may be up to 4 sqrt(terms) eps sum |a b|.
// Machines without these instructions compute the same results.
#include "runtime/routines/convolution/conv2d/fpu.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv_transpose2d/fpu.h"
#include "runtime/routines/convolution/conv_transpose2d/portable.h"
#include "runtime/routines/matrix/matmul/fpu.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "test/runtime/check.h"
#include "test/runtime/layouts.h"
#include "test/runtime/random_shapes.h"

#include <cmath>

using namespace nnc;
using namespace nnc_test;

namespace {

floats pack(const axes &tensor, const char *layout, const floats &x) {
  const layout_map map(tensor, layout);
  floats packed(map.size());
  map.each([&](std::size_t from, std::size_t to) { packed[to] = x[from]; });
  return packed;
}
floats unpack(const axes &tensor, const char *layout, const floats &packed) {
  floats x(tensor.count());
  layout_map(tensor, layout).each([&](std::size_t to, std::size_t from) {
    x[to] = packed[from];
  });
  return x;
}

/// The sum of a value, a bias of the channel and a residual with the result's
/// layout.
struct sum_expression {
  template <class V> V operator()(V v, V bias, V residual) const {
    return v + bias + residual;
  }
};
using epilogue = fused<sum_expression, channel_of<float>, full_of<float>>;

std::vector<double> doubles(const floats &x) { return {x.begin(), x.end()}; }

/// The expected results of a layer without epilogue, in double, and the sums of
/// the magnitudes of their terms.
struct exact_sums {
  std::vector<double> sum, size;
  template <class R, class S>
  static exact_sums make(const S &s, const floats &x, const floats &w,
                         std::size_t count) {
    exact_sums e{std::vector<double>(count), std::vector<double>(count)};
    const auto run = [&](const floats &a, const floats &b, auto &y) {
      R::run(s, doubles(a).data(), doubles(b).data(), y.data(), none{}, 0,
             R::units(s));
    };
    run(x, w, e.sum);
    run(magnitudes(x), magnitudes(w), e.size);
    return e;
  }
  /// Checks results with a bias of the channel and a residual.
  template <class F>
  void check(const floats &y, const floats &bias, const floats &residual,
             double terms, const F &channel) const {
    double worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double b = bias[channel(i)], r = residual[i];
      const double allowed =
          4 * std::sqrt(terms) * 0x1p-24 * size[i] +
          4 * 0x1p-24 * (size[i] + std::fabs(b) + std::fabs(r));
      const double error = std::fabs(y[i] - (sum[i] + b + r));
      worst = std::isfinite(y[i]) ? std::max(worst, error / allowed) : 1e9;
    }
    CHECK(worst <= 1);
  }
};

/// Runs a routine on weights in the layout `packing` and images in `layout`,
/// and returns the results in row-major order.
template <template <class, int, class> class R, int INLINE, class S>
floats compute(const S &s, const axes &in, const axes &weights, const axes &out,
               const char *layout, const char *packing, const floats &x,
               const floats &w, const floats &bias, const floats &residual) {
  using routine = R<S, INLINE, epilogue>;
  const floats px = pack(in, layout, x), pw = pack(weights, packing, w),
               pr = pack(out, layout, residual);
  floats y(out.count(), NAN);
  in_parts(routine::units(s), [&](int begin, int end) {
    routine::run(s, px.data(), pw.data(), y.data(),
                 epilogue{bias.data(), pr.data()}, begin, end);
  });
  return unpack(out, layout, y);
}

template <template <class, int, class> class R>
void check_conv2d(random_source &r, const conv2d_shape &s, const char *layout,
                  const char *packing) {
  INFO(layout << " " << packing << describe(s));
  const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
  const axes weights = {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}};
  const axes out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
  const floats x = r.values(in.count()), w = r.values(weights.count()),
               bias = r.values(std::size_t(s.k)),
               residual = r.values(out.count());
  const auto want = exact_sums::make<conv2d_f64_portable<conv2d_shape, none>>(
      s, x, w, out.count());
  const double terms = s.c / s.groups * s.kh * s.kw;
  const auto pixels = std::size_t(s.oh * s.ow), channels = std::size_t(s.k);
  const auto channel = [&](std::size_t i) { return i / pixels % channels; };
  want.check(
      compute<R, 0>(s, in, weights, out, layout, packing, x, w, bias, residual),
      bias, residual, terms, channel);
  want.check(
      compute<R, 1>(s, in, weights, out, layout, packing, x, w, bias, residual),
      bias, residual, terms, channel);
}

/// A layer whose sizes are constants.
struct three_by_three {
  static constexpr int n = 1, c = 3, h = 9, w = 10, k = 12, kh = 3, kw = 3,
                       sh = 1, sw = 1, dh = 1, dw = 1, pt = 1, pl = 1, oh = 9,
                       ow = 10, groups = 1, fill = 0;
};
struct depthwise_three_by_three : three_by_three {
  static constexpr int c = 13, k = 13, groups = 13;
};
template <class S> conv2d_shape run_time_shape() {
  return {S::n,  S::c,  S::h,  S::w,  S::k,  S::kh, S::kw,     S::sh,  S::sw,
          S::dh, S::dw, S::pt, S::pl, S::oh, S::ow, S::groups, S::fill};
}
/// Checks that constant and run-time shapes give the same bits.
template <class S, template <class, int, class> class R>
void check_constant(random_source &r, std::size_t weights) {
  const auto count = [](int a, int b, int c) { return std::size_t(a * b * c); };
  const floats x = r.values(count(S::c, S::h, S::w)), w = r.values(weights);
  floats want(count(S::k, S::oh, S::ow), NAN), y(want.size(), NAN);
  const conv2d_shape s = run_time_shape<S>();
  R<conv2d_shape, 0, none>::run(s, x.data(), w.data(), want.data(), none{}, 0,
                                R<conv2d_shape, 0, none>::units(s));
  R<S, 1, none>::run(S{}, x.data(), w.data(), y.data(), none{}, 0,
                     R<S, 1, none>::units(S{}));
  CHECK(y == want);
}

} // namespace

TEST_CASE("convolutions in tiles of single floats", "[fpu]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(r, 11);
    s.c = r.between(1, 9), s.k = r.between(1, 20);
    if (i % 4 == 0)
      s.kh = s.kw = 1;
    if (i % 8 == 0)
      s.sh = s.sw = 1;
    pad_randomly(r, s);
    check_conv2d<conv2d_f32_nhwc_fpu>(r, s, "NHWC", "KRSC8k");
    check_conv2d<conv2d_f32_nhwc_few_fpu>(r, s, "NHWC", "KRSC4k");
    check_conv2d<conv2d_f32_nchw_fpu>(r, s, "NCHW", "KCRS8k");
    check_conv2d<conv2d_f32_nchw_few_fpu>(r, s, "NCHW", "KCRS4k");
  }
}

TEST_CASE("depthwise convolutions in tiles of single floats", "[fpu]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(r, 11);
    s.groups = s.c = s.k = r.between(2, 23);
    pad_randomly(r, s);
    check_conv2d<conv2d_f32_nhwc_depthwise_fpu>(r, s, "NHWC", "RSKC");
    check_conv2d<conv2d_f32_nchw_depthwise_fpu>(r, s, "NCHW", "KCRS");
  }
}

TEST_CASE("constant and run-time sizes give the same tiles", "[fpu]") {
  random_source r;
  check_constant<three_by_three, conv2d_f32_nhwc_fpu>(r, 9 * 3 * 16);
  check_constant<three_by_three, conv2d_f32_nhwc_few_fpu>(r, 9 * 3 * 12);
  check_constant<three_by_three, conv2d_f32_nchw_fpu>(r, 9 * 3 * 16);
  check_constant<three_by_three, conv2d_f32_nchw_few_fpu>(r, 9 * 3 * 12);
  using depthwise = depthwise_three_by_three;
  check_constant<depthwise, conv2d_f32_nhwc_depthwise_fpu>(r, 9 * 13);
  check_constant<depthwise, conv2d_f32_nchw_depthwise_fpu>(r, 9 * 13);
}

TEST_CASE("transposed convolutions in tiles of single floats", "[fpu]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    conv_transpose2d_shape s = random_conv_transpose2d(r);
    s.c = r.between(1, 9), s.k = r.between(1, 20);
    INFO(describe(s));
    const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
    const axes weights = {"KCRS", {s.c, s.k, s.kh, s.kw}};
    const axes out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
    const floats x = r.values(in.count()), w = r.values(weights.count()),
                 bias = r.values(std::size_t(s.k)),
                 residual = r.values(out.count());
    using reference =
        conv_transpose2d_f64_portable<conv_transpose2d_shape, none>;
    const auto want = exact_sums::make<reference>(s, x, w, out.count());
    const auto pixels = std::size_t(s.oh * s.ow), channels = std::size_t(s.k);
    const auto channel = [&](std::size_t j) { return j / pixels % channels; };
    const double terms = s.c * s.kh * s.kw;
    want.check(compute<conv_transpose2d_f32_nchw_fpu, 0>(
                   s, in, weights, out, "NCHW", "CRSK8c", x, w, bias, residual),
               bias, residual, terms, channel);
    want.check(compute<conv_transpose2d_f32_nchw_fpu, 1>(
                   s, in, weights, out, "NCHW", "CRSK8c", x, w, bias, residual),
               bias, residual, terms, channel);
  }
}

TEST_CASE("matrix products in tiles of single floats", "[fpu]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    matmul_shape s{};
    s.batch = r.between(1, 2), s.m = r.between(1, 5), s.n = r.between(1, 40);
    s.k = r.between(1, 30), s.transpose_a = r.between(0, 1);
    s.a_batch_stride = s.m * s.k;
    s.b_batch_stride = r.between(0, 1) ? s.k * s.n : 0;
    INFO(describe(s));
    const auto results = std::size_t(s.batch * s.m * s.n);
    const floats a = r.values(std::size_t(s.batch * s.m * s.k)),
                 b = r.values(std::size_t(s.batch * s.k * s.n)),
                 bias = r.values(std::size_t(s.n)),
                 residual = r.values(results);
    const auto want =
        exact_sums::make<matmul_portable<matmul_shape, none>>(s, a, b, results);
    const auto check = [&](auto routine) {
      floats y(results, NAN);
      in_parts(decltype(routine)::units(s), [&](int begin, int end) {
        decltype(routine)::run(s, a.data(), b.data(), y.data(),
                               epilogue{bias.data(), residual.data()}, begin,
                               end);
      });
      want.check(y, bias, residual, s.k,
                 [&](std::size_t j) { return j % std::size_t(s.n); });
    };
    check(matmul_f32_fpu<matmul_shape, 0, epilogue>());
    check(matmul_f32_fpu<matmul_shape, 1, epilogue>());
  }
}
