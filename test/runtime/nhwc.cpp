// Tests routines of images in NHWC against the portable routines of NCHW:
// results of integers are equal bit for bit. The routines are those for any
// machine, those with Arm's DSP extension, and those with its M-profile
// vectors, for which another machine computes the same. helium.cpp runs the
// vectors themselves.
#define NNC_THUMB_PRODUCTS 1 // of bytes, as on Armv6-M
#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/convolution/conv2d/dsp.h"
#include "runtime/routines/convolution/conv2d/helium.h"
#include "runtime/routines/convolution/conv2d/helium_depthwise.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/matrix/matmul/dsp.h"
#include "runtime/routines/matrix/matmul/helium.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/microcontrollers/dsp_plan.h"
#include "runtime/routines/microcontrollers/helium_plan.h"
#include "runtime/routines/normalization/integer_softmax/portable.h"
#include "runtime/routines/normalization/integer_softmax/shape.h"
#include "runtime/routines/pooling/pool2d/helium.h"
#include "runtime/routines/pooling/pool2d/nhwc.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "test/runtime/check.h"
#include "test/runtime/integers_test.h"
#include "test/runtime/layouts.h"
#include "test/runtime/random_shapes.h"

#include <cmath>

using namespace nnc;
using namespace nnc_test;
using i8 = std::int8_t;

namespace {

template <class T>
std::vector<T> pack(const axes &tensor, const char *layout,
                    const std::vector<T> &x) {
  const layout_map map(tensor, layout);
  std::vector<T> packed(map.size());
  map.each([&](std::size_t from, std::size_t to) { packed[to] = x[from]; });
  return packed;
}
template <class T>
std::vector<T> unpack(const axes &tensor, const char *layout,
                      const std::vector<T> &packed) {
  std::vector<T> x(tensor.count());
  layout_map(tensor, layout).each([&](std::size_t to, std::size_t from) {
    x[to] = packed[from];
  });
  return x;
}

/// The expression of a requantization, without and with the member
/// `requantization` by which routines recognize it.
struct plain_expression {
  i8 operator()(int32_t v, int32_t bias, int32_t multiplier,
                int32_t shift) const {
    const int32_t y =
        rescale_double(plus(v, bias), multiplier, shift) + int32_t(5);
    return static_cast<i8>(y < -100 ? -100 : y > 127 ? 127 : y);
  }
};
struct known_expression : plain_expression {
  using requantization = requantization_of<5, -100, 127>;
};
template <class F>
using channels_of =
    fused<F, channel_of<int32_t>, channel_of<int32_t>, channel_of<int32_t>>;

/// The bias, multiplier and shift of each channel. Some shifts are very large,
/// and some sums are so large that twice their value does not fit in 32 bits.
/// Half of all layers have shifts to the right by at least two bits.
struct factors {
  std::vector<int32_t> bias, multiplier, shift;
  factors(random_source &r, int channels) {
    const int least = r.between(0, 1) ? 2 : 0;
    for (int k = 0; k < channels; ++k) {
      const bool is_odd = r.between(0, 9) == 0;
      bias.push_back(is_odd ? r.between(0, 1) ? 2000000000 : -2000000000
                            : r.between(-5000, 5000));
      multiplier.push_back(r.between(0, 9) ? r.between(1 << 30, INT32_MAX) : 0);
      shift.push_back(is_odd ? -31 + r.between(0, 2) : -r.between(least, 12));
      if (multiplier.back() == 0 && r.between(0, 1))
        shift.back() = 0;
    }
  }
  template <class F> channels_of<F> get() const {
    return {bias.data(), multiplier.data(), shift.data()};
  }
};

template <template <class, class> class R>
void check_exact(random_source &r, const conv2d_shape &s, const char *layout,
                 std::size_t scratch) {
  INFO(describe(s));
  const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
  const axes weights = {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}};
  const axes out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
  const auto x = numbers<i8>(r, in.count()),
             w = numbers<i8>(r, weights.count());
  const factors f(r, s.k);
  using plain = channels_of<plain_expression>;
  using known = channels_of<known_expression>;
  std::vector<i8> want(out.count());
  using reference = conv2d_i32_portable<conv2d_shape, plain>;
  reference::run(s, x.data(), w.data(), want.data(), f.get<plain_expression>(),
                 0, reference::units(s));
  const auto px = pack(in, "NHWC", x), pw = pack(weights, layout, w);
  const auto check = [&](auto routine, const auto &epi) {
    using routine_type = decltype(routine);
    std::vector<i8> y(out.count());
    std::vector<std::uint64_t> memory(scratch / 8 + 1);
    in_parts(routine_type::units(s), [&](int begin, int end) {
      routine_type::run(s, px.data(), pw.data(), y.data(),
                        reinterpret_cast<unsigned char *>(memory.data()), epi,
                        begin, end);
    });
    CHECK(unpack(out, "NHWC", y) == want);
  };
  check(R<conv2d_shape, plain>(), f.get<plain_expression>());
  check(R<conv2d_shape, known>(), f.get<known_expression>());
}

template <template <class, class> class R, class X = std::uint8_t>
void check_portable(random_source &r, const conv2d_shape &s,
                    const char *layout) {
  INFO(describe(s));
  const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
  const axes weights = {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}};
  const axes out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
  const auto x = numbers<X>(r, in.count());
  const auto w = numbers<i8>(r, weights.count());
  std::vector<int32_t> want(out.count()), y(out.count());
  using reference = conv2d_i32_portable<conv2d_shape, none>;
  reference::run(s, x.data(), w.data(), want.data(), none{}, 0,
                 reference::units(s));
  const auto px = pack(in, "NHWC", x);
  const auto pw = pack(weights, layout, w);
  using routine = R<conv2d_shape, none>;
  in_parts(routine::units(s), [&](int begin, int end) {
    routine::run(s, px.data(), pw.data(), y.data(), none{}, begin, end);
  });
  CHECK(unpack(out, "NHWC", y) == want);
}

/// Returns the shape with a random `fill`, like that of a quantized x with a
/// zero point.
conv2d_shape with_fill(random_source &r, conv2d_shape s) {
  s.fill = r.between(0, 3) ? r.between(-128, 127) : 0;
  pad_randomly(r, s);
  return s;
}

} // namespace

TEST_CASE("convolutions of NHWC", "[nhwc]") {
  random_source r;
  for (int i = 0; i < 150; ++i) {
    conv2d_shape s = random_conv2d(r, 9);
    s.c = r.between(0, 2) ? r.between(1, 9) : 4 * r.between(1, 6);
    s.k = r.between(1, 13);
    s = with_fill(r, s);
    check_portable<conv2d_i32_nhwc_portable>(r, s, "KRSC");
    check_portable<conv2d_i32_nhwc_portable, i8>(r, s, "KRSC");
    const std::size_t scratch = std::size_t(plan_conv2d_dsp(s).scratch());
    if (s.c == 1)
      check_exact<conv2d_i32_nhwc_first_armdsp>(r, s, "KRCS2k4s", scratch);
    else
      check_exact<conv2d_i32_nhwc_armdsp>(r, s, "KRSC2k4c", scratch);
    check_exact<conv2d_i32_nhwc_helium>(
        r, s, "KRSC", std::size_t(plan_conv2d_helium(s).scratch()));
  }
}

TEST_CASE("depthwise convolutions of NHWC", "[nhwc]") {
  random_source r;
  for (int i = 0; i < 300; ++i) {
    conv2d_shape s = random_conv2d(r, 9);
    const int copies = r.between(1, 3);
    s.groups = s.c = r.between(2, 20);
    s.k = s.c * copies;
    s = with_fill(r, s);
    check_portable<conv2d_i32_nhwc_depthwise_portable>(r, s, "RSKC");
    s.groups = s.c = s.k = 4 * r.between(1, 5);
    if (r.between(0, 1))
      s.kw = 3, s.dw = 1;
    s = with_fill(r, s);
    // Windows of 3 x 3 whose borders are those of networks.
    if (i % 2 == 0) {
      s.kh = s.kw = 3, s.dh = s.dw = 1;
      s.h = r.between(3, 12), s.w = r.between(3, 12);
      s.sh = r.between(1, 3), s.sw = r.between(1, 2);
      s.pt = r.between(0, 3), s.pl = r.between(0, 1);
      s.oh = (s.h + s.pt + r.between(0, 2) - 3) / s.sh + 1;
      s.ow = (s.w + s.pl + r.between(0, s.sw) - 3) / s.sw + 1;
    }
    const auto scratch = std::size_t(plan_depthwise_dsp(s).scratch());
    check_portable<conv2d_i32_nhwc_depthwise_portable, i8>(r, s, "RSKC");
    check_exact<conv2d_i32_nhwc_depthwise_taps_armdsp>(r, s, "RSKC", scratch);
    if (are_dsp_threes(s))
      check_exact<conv2d_i32_nhwc_depthwise_armdsp>(r, s, "RSKC", scratch);
    s.groups = s.c = s.k = r.between(2, 40);
    check_exact<conv2d_i32_nhwc_depthwise_helium>(
        r, s, "RSKC", std::size_t(depthwise_helium_scratch(s)));
  }
}

TEST_CASE("convolutions of floats in NHWC", "[nhwc]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(r, 9);
    s.c = r.between(1, 9), s.k = r.between(1, 9);
    const bool is_depthwise = r.between(0, 1) && s.c > 1;
    if (is_depthwise)
      s.groups = s.c, s.k = s.c;
    INFO(describe(s));
    const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
    const axes weights = {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}};
    const axes out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
    const floats x = r.values(in.count()), w = r.values(weights.count());
    floats want(out.count()), size(out.count()), y(out.count());
    using reference = conv2d_f32_portable<conv2d_shape, none>;
    reference::run(s, x.data(), w.data(), want.data(), none{}, 0,
                   reference::units(s));
    const floats ax = magnitudes(x), aw = magnitudes(w);
    reference::run(s, ax.data(), aw.data(), size.data(), none{}, 0,
                   reference::units(s));
    const floats px = pack(in, "NHWC", x);
    const floats pw = pack(weights, is_depthwise ? "RSKC" : "KRSC", w);
    using whole = conv2d_f32_nhwc_portable<conv2d_shape, none>;
    using depthwise = conv2d_f32_nhwc_depthwise_portable<conv2d_shape, none>;
    if (is_depthwise)
      depthwise::run(s, px.data(), pw.data(), y.data(), none{}, 0,
                     depthwise::units(s));
    else
      whole::run(s, px.data(), pw.data(), y.data(), none{}, 0, whole::units(s));
    const floats got = unpack(out, "NHWC", y);
    const float terms = float(s.c / s.groups * s.kh * s.kw);
    for (std::size_t j = 0; j < want.size(); ++j)
      CHECK(std::fabs(got[j] - want[j]) <=
            8 * std::sqrt(terms) * 0x1p-24f * size[j]);
  }
}

TEST_CASE("pools of NHWC", "[nhwc]") {
  random_source r;
  for (int i = 0; i < 100; ++i) {
    pool2d_shape s = random_pool2d(r);
    INFO(describe(s));
    const axes in = {"NCHW", {s.n, s.c, s.h, s.w}};
    const axes out = {"NCHW", {s.n, s.c, s.oh, s.ow}};
    const auto x = numbers<i8>(r, in.count());
    const auto px = pack(in, "NHWC", x);
    const auto check = [&](auto reference, auto routine, auto type) {
      using Y = decltype(type);
      std::vector<Y> want(out.count()), y(out.count());
      decltype(reference)::run(s, x.data(), want.data(), none{}, 0,
                               decltype(reference)::units(s));
      in_parts(decltype(routine)::units(s), [&](int begin, int end) {
        decltype(routine)::run(s, px.data(), y.data(), none{}, begin, end);
      });
      CHECK(unpack(out, "NHWC", y) == want);
    };
    check(max_pool2d_portable<pool2d_shape, none>(),
          max_pool2d_nhwc_portable<pool2d_shape, none>(), i8());
    check(avg_pool2d_i32_portable<pool2d_shape, none>(),
          avg_pool2d_i32_nhwc_portable<pool2d_shape, none>(), float());
    check(avg_pool2d_rounded_portable<pool2d_shape, none>(),
          avg_pool2d_rounded_nhwc_portable<pool2d_shape, none>(), int32_t());
    check(max_pool2d_portable<pool2d_shape, none>(),
          max_pool2d_nhwc_helium<pool2d_shape, none>(), i8());
    if (s.kh * s.kw > 256)
      continue;
    check(avg_pool2d_i32_portable<pool2d_shape, none>(),
          avg_pool2d_i32_nhwc_helium<pool2d_shape, none>(), float());
    check(avg_pool2d_rounded_portable<pool2d_shape, none>(),
          avg_pool2d_rounded_nhwc_helium<pool2d_shape, none>(), int32_t());
  }
}

TEST_CASE("means of integers round halves away from zero", "[nhwc]") {
  const i8 x[] = {1, 2, -1, -2, 3, 4, -128, -127};
  pool2d_shape s{};
  s.n = 1, s.c = 1, s.h = 1, s.w = 8, s.kh = 1, s.kw = 2, s.sh = 1, s.sw = 2;
  s.dh = s.dw = 1, s.oh = 1, s.ow = 4;
  int32_t y[4];
  avg_pool2d_rounded_portable<pool2d_shape, none>::run(s, x, y, none{}, 0, 1);
  CHECK(std::vector<int32_t>(y, y + 4) == std::vector<int32_t>{2, -2, 4, -128});
}

/// Compares a product with few rows with the portable routine; K is a multiple
/// of `fours`.
template <template <class, class> class R>
void check_rows(random_source &r, const char *layout, int fours) {
  matmul_shape s{};
  s.batch = r.between(1, 2), s.m = r.between(1, 3);
  s.k = fours * r.between(1, 20), s.n = r.between(1, 43);
  s.a_batch_stride = s.m * s.k;
  INFO(describe(s));
  const auto a = numbers<i8>(r, std::size_t(s.batch * s.m * s.k));
  const auto b = numbers<i8>(r, std::size_t(s.k * s.n));
  const factors f(r, s.n);
  std::vector<i8> want(std::size_t(s.batch * s.m * s.n)), y(want.size());
  using E = channels_of<plain_expression>;
  using reference = matmul_i32_portable<matmul_shape, E>;
  reference::run(s, a.data(), b.data(), want.data(), f.get<plain_expression>(),
                 0, reference::units(s));
  const auto pb = pack({"KN", {s.k, s.n}}, layout, b);
  using routine = R<matmul_shape, channels_of<known_expression>>;
  in_parts(routine::units(s), [&](int begin, int end) {
    routine::run(s, a.data(), pb.data(), y.data(), f.get<known_expression>(),
                 begin, end);
  });
  CHECK(y == want);
}

TEST_CASE("products of rows on microcontrollers", "[nhwc]") {
  random_source r;
  for (int i = 0; i < 100; ++i) {
    check_rows<matmul_i32_armdsp>(r, "NK4n4k", 4);
    check_rows<matmul_i32_helium>(r, "NK", 1);
  }
}

TEST_CASE("softmax of integers", "[nhwc]") {
  // Exponentials of differences of 1/16, as TFLite rounds 31 fraction bits.
  std::vector<int32_t> table;
  for (int d = 0; d < 200; ++d)
    table.push_back(d ? int32_t(std::lround(std::exp(-d / 16.0) * 0x1p31))
                      : INT32_MAX);
  random_source r;
  for (int i = 0; i < 50; ++i) {
    const integer_softmax_shape s{r.between(1, 3), r.between(1, 40), 200};
    const auto count = std::size_t(s.outer * s.size);
    const auto x = numbers<i8>(r, count);
    std::vector<i8> y(count);
    std::vector<std::int16_t> wide(count);
    using routine = integer_softmax_portable<integer_softmax_shape, none>;
    routine::run(s, x.data(), table.data(), y.data(), none{}, 0, s.outer);
    routine::run(s, x.data(), table.data(), wide.data(), none{}, 0, s.outer);
    for (int row = 0; row < s.outer; ++row) {
      double sum = 0;
      int largest = -128;
      for (int j = 0; j < s.size; ++j)
        largest = std::max<int>(largest, x[std::size_t(row * s.size + j)]);
      const auto e = [&](int j) {
        const int d = largest - x[std::size_t(row * s.size + j)];
        return d < 200 ? std::exp(-d / 16.0) : 0.0;
      };
      for (int j = 0; j < s.size; ++j)
        sum += e(j);
      for (int j = 0; j < s.size; ++j) {
        const auto at = std::size_t(row * s.size + j);
        CHECK(std::fabs(y[at] + 128 - std::min(255.0, 256 * e(j) / sum)) <= 1);
        CHECK(std::fabs(wide[at] + 32768 -
                        std::min(65535.0, 65536 * e(j) / sum)) <= 2);
      }
    }
  }
}
