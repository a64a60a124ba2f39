// Tests tiles of matrices, and the routines that are made of them, against
// simple loops and portable routines. Sums of integers are equal bit for bit.
#include "runtime/simd/matrix_tiles.h"
#include "runtime/routines/convolution/conv2d/gathered_tiles.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv2d/tiles.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/matrix/matmul/tiles.h"
#include "test/runtime/check.h"
#include "test/runtime/integers_test.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/tiles.h"

#include <cmath>
#include <cstdint>
#include <vector>

using namespace nnc;
using namespace nnc_test;

namespace {

using u8 = std::uint8_t;
using i8 = std::int8_t;

/// Adds the products of 16 rows of A and 16 columns of B to each of two tiles
/// of sums, with rows of A that are not adjacent, and compares the sums with
/// those of a loop.
template <class A, class B, class F>
void check_bytes(random_source &r, const F &add) {
  constexpr int stride = 80;
  const auto a = numbers<A>(r, 16 * stride);
  const auto b = numbers<B>(r, 16 * 64);
  const auto c = numbers<std::int32_t>(r, 16 * 16);
  matrix_tiles tiles;
  tiles.load<1>(c.data(), 64);
  tiles.zero<2>();
  tiles.load<4>(a.data(), stride);
  tiles.load<7>(b.data(), 64);
  add(tiles);
  std::int32_t added[16 * 20], alone[16 * 16];
  tiles.store<1>(added, 80);
  tiles.store<2>(alone, 64);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += a[std::size_t(m * stride + k)] *
               b[std::size_t(k / 4 * 64 + n * 4 + k % 4)];
      CHECK(alone[m * 16 + n] == sum);
      CHECK(added[m * 20 + n] == c[std::size_t(m * 16 + n)] + sum);
    }
}

/// Compares a product of bytes of type X with results of type T.
template <int KB, class X, class B, class T, template <class> class F>
void check_matmul(random_source &r, const matmul_shape &s) {
  INFO(describe(s));
  using E = integers_epilogue<F<T>, T>;
  using PE = integers_epilogue<to_scalars<T>, T>;
  const int lefts = s.a_batch_stride ? s.batch : 1;
  const int rights = s.b_batch_stride ? s.batch : 1;
  const axes tensors[] = {s.transpose_a ? axes{"BKM", {lefts, s.k, s.m}}
                                        : axes{"BMK", {lefts, s.m, s.k}},
                          s.transpose_b ? axes{"BNK", {rights, s.n, s.k}}
                                        : axes{"BKN", {rights, s.k, s.n}},
                          axes{"BMN", {s.batch, s.m, s.n}}};
  const std::string layouts[] = {"plain", "NK16n4k", "plain"};
  compare<matmul_i32_nk16n_amxint8<matmul_shape, KB, E>,
          matmul_i32_portable<matmul_shape, PE>, T, E, PE>(
      r, s, s, tensors, layouts, s.n, plan_matmul_tiles(s, 1, KB).scratch(1),
      numbers<X>(r, tensors[0].count()), numbers<B>(r, tensors[1].count()));
}

/// A product of whole steps and of rows that are read in place.
matmul_shape whole_matmul(random_source &r) {
  matmul_shape s{};
  s.batch = r.between(1, 2);
  s.m = r.between(16, 100);
  s.n = r.between(1, 100);
  s.k = 64 * r.between(1, 9);
  s.a_batch_stride = s.m * s.k;
  return s;
}

template <class X, class B, class T, template <class> class F>
void check_matmuls(random_source &r, int count) {
  for (int i = 0; i < count; ++i) {
    check_matmul<1, X, B, T, F>(r, random_matmul(r));
    check_matmul<256, X, B, T, F>(r, random_matmul(r));
    check_matmul<1, X, B, T, F>(r, whole_matmul(r));
    check_matmul<256, X, B, T, F>(r, whole_matmul(r));
  }
}

/// Compares a convolution R of bytes of type X, whose input has the layout
/// `input`, with results of type T.
template <class R, class E, class X, class B, class T>
void check_conv_of(random_source &r, const conv2d_shape &s,
                   const std::string &input, std::ptrdiff_t scratch) {
  INFO(describe(s));
  using PE = integers_epilogue<to_scalars<T>, T>;
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  const std::string layouts[] = {input, "KRSC16k4c", "NCHW16c"};
  compare<R, conv2d_i32_portable<conv2d_shape, PE>, T, E, PE>(
      r, s, s, tensors, layouts, s.k, scratch,
      numbers<X>(r, tensors[0].count()), numbers<B>(r, tensors[1].count()));
}

/// Checks a convolution of taps of many channels. Scratch of little more than
/// one KB makes many strips.
template <int KB, class X, class B, class T, template <class> class F>
void check_conv(random_source &r, conv2d_shape s) {
  s.fill = int(numbers<X>(r, 1)[0]);
  using E = integers_epilogue<F<T>, T>;
  check_conv_of<conv2d_i32_nchw16c_amxint8<conv2d_shape, KB, E>, E, X, B, T>(
      r, s, "NCHW16c", plan_conv2d_tiles(s, 1, KB).scratch(1));
}

/// Checks a convolution whose windows are gathered.
template <int KB, class X, class B, class T, template <class> class F>
void check_gathered(random_source &r, conv2d_shape s) {
  s.fill = int(numbers<X>(r, 1)[0]);
  using E = integers_epilogue<F<T>, T>;
  const std::ptrdiff_t scratch = plan_gathered_tiles(s, 1, KB).scratch(1);
  check_conv_of<conv2d_i32_nchw16c_few_amxint8<conv2d_shape, KB, E>, E, X, B,
                T>(r, s, "NCHW16c", scratch);
  if (s.groups == 1)
    check_conv_of<conv2d_i32_nchw16c_first_amxint8<conv2d_shape, KB, E>, E, X,
                  B, T>(r, s, "NCHW", scratch);
}

/// A convolution of few channels, as those of random_conv2d_of_a_kind() except
/// depthwise ones.
conv2d_shape gathered_conv2d(random_source &r) {
  conv2d_shape s = random_conv2d_of_a_kind(r);
  if (s.groups == s.c)
    s.groups = 1;
  return s;
}

/// A convolution whose taps have at least 61 channels.
conv2d_shape tiled_conv2d(random_source &r) {
  conv2d_shape s = random_conv2d_of_a_kind(r);
  if (r.between(0, 3) == 0) {
    s.groups = r.between(2, 3);
    s.c = s.groups * 16 * r.between(4, 9);
    s.k = s.groups * 16 * r.between(1, 3);
  } else {
    s.groups = 1;
    s.c = r.between(0, 1) ? 64 * r.between(1, 3) : r.between(61, 200);
  }
  return s;
}

template <class X, class B, class T, template <class> class F>
void check_convs(random_source &r, int count) {
  for (int i = 0; i < count; ++i) {
    check_conv<1, X, B, T, F>(r, tiled_conv2d(r));
    check_conv<128, X, B, T, F>(r, tiled_conv2d(r));
    check_gathered<1, X, B, T, F>(r, gathered_conv2d(r));
    check_gathered<256, X, B, T, F>(r, gathered_conv2d(r));
  }
}

} // namespace

TEST_CASE("tiles of bytes", "[matrix_tiles]") {
  random_source r;
  for (int i = 0; i < 20; ++i) {
    check_bytes<i8, i8>(r, [](matrix_tiles &tiles) {
      tiles.add_s8_s8<1, 4, 7>();
      tiles.add_s8_s8<2, 4, 7>();
    });
    check_bytes<i8, u8>(r, [](matrix_tiles &tiles) {
      tiles.add_s8_u8<1, 4, 7>();
      tiles.add_s8_u8<2, 4, 7>();
    });
    check_bytes<u8, i8>(r, [](matrix_tiles &tiles) {
      tiles.add_u8_s8<1, 4, 7>();
      tiles.add_u8_s8<2, 4, 7>();
    });
    check_bytes<u8, u8>(r, [](matrix_tiles &tiles) {
      tiles.add_u8_u8<1, 4, 7>();
      tiles.add_u8_u8<2, 4, 7>();
    });
  }
}

TEST_CASE("tiles of bf16", "[matrix_tiles]") {
  random_source r;
  for (int i = 0; i < 20; ++i) {
    std::vector<bf16> a, b;
    floats c = r.values(16 * 16);
    for (float x : r.values(16 * 32))
      a.push_back(bf16(x));
    for (float x : r.values(16 * 32))
      b.push_back(bf16(x));
    matrix_tiles tiles;
    tiles.load<0>(c.data(), 64);
    tiles.load<3>(a.data(), 64);
    tiles.load<5>(b.data(), 64);
    tiles.add_bf16<0, 3, 5>();
    float got[16 * 16];
    tiles.store<0>(got, 64);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        float first = 0, second = 0;
        double exact = double(c[std::size_t(m * 16 + n)]);
        for (int k = 0; k < 16; ++k) {
          const std::size_t at_a = std::size_t(m * 32 + 2 * k);
          const std::size_t at_b = std::size_t(k * 32 + 2 * n);
          first = std::fma(float(a[at_a]), float(b[at_b]), first);
          second = std::fma(float(a[at_a + 1]), float(b[at_b + 1]), second);
          exact += double(a[at_a]) * double(b[at_b]) +
                   double(a[at_a + 1]) * double(b[at_b + 1]);
        }
        CHECK(got[m * 16 + n] == c[std::size_t(m * 16 + n)] + (first + second));
        CHECK(std::fabs(double(got[m * 16 + n]) - exact) < 1e-5);
      }
  }
}

// Numbers below the normal range count as zero, in factors, sums and results.
TEST_CASE("tiles of small bf16", "[matrix_tiles]") {
  const float tiny = std::ldexp(1.0f, -130), small = std::ldexp(1.0f, -100);
  const struct {
    float a, b, c, want;
  } cases[] = {{tiny, 1.0f, 0.0f, 0.0f},
               {tiny, std::ldexp(1.0f, 100), 1.0f, 1.0f},
               {small, std::ldexp(1.0f, -30), 0.0f, 0.0f},
               {0.0f, 1.0f, tiny, 0.0f},
               {small, 1.0f, -small, 0.0f},
               {small, 1.0f, small, 2 * small}};
  for (const auto &one : cases) {
    std::vector<bf16> a(16 * 32, bf16(0.0f)), b(16 * 32, bf16(0.0f));
    floats c(16 * 16, one.c);
    a[3 * 32 + 7] = bf16(one.a);
    b[3 * 32 + 2 * 5 + 1] = bf16(one.b);
    matrix_tiles tiles;
    tiles.load<0>(c.data(), 64);
    tiles.load<1>(a.data(), 64);
    tiles.load<2>(b.data(), 64);
    tiles.add_bf16<0, 1, 2>();
    tiles.store<0>(c.data(), 64);
    CHECK(c[3 * 16 + 5] == one.want);
  }
}

TEST_CASE("matrix products of bytes on tiles", "[matrix_tiles]") {
  random_source r;
  check_matmuls<u8, i8, u8, to>(r, 40);
  check_matmuls<i8, i8, i8, to>(r, 20);
  check_matmuls<u8, u8, std::int32_t, to>(r, 10);
  check_matmuls<i8, u8, u8, to_scalars>(r, 10);
}

TEST_CASE("convolutions of bytes on tiles", "[matrix_tiles]") {
  random_source r;
  check_convs<u8, i8, u8, to>(r, 40);
  check_convs<i8, i8, i8, to>(r, 20);
  check_convs<u8, u8, std::int32_t, to>(r, 10);
  check_convs<i8, u8, u8, to_scalars>(r, 10);
}

namespace {

/// A convolution of 2 images, whose sizes are constants.
template <int C, int K, int SIDE, int TAPS, int STRIDE> struct constant_conv2d {
  static constexpr int n = 2, c = C, h = SIDE, w = SIDE + 2, k = K;
  static constexpr int kh = TAPS, kw = TAPS, sh = STRIDE, sw = STRIDE;
  static constexpr int dh = 1, dw = 1, pt = TAPS / 2, pl = TAPS / 2;
  static constexpr int oh = (h + 2 * pt - TAPS) / STRIDE + 1;
  static constexpr int ow = (w + 2 * pl - TAPS) / STRIDE + 1;
  static constexpr int groups = 1, fill = 9;
  static conv2d_shape values() {
    return {n,  c,  h,  w,  k,  kh, kw,     sh,  sw,
            dh, dw, pt, pl, oh, ow, groups, fill};
  }
};

template <template <class, int, class> class R, class S>
void check_constant_conv(random_source &r, const char *input,
                         std::ptrdiff_t scratch) {
  using E = integers_epilogue<to<u8>, u8>;
  using PE = integers_epilogue<to_scalars<u8>, u8>;
  const conv2d_shape s = S::values();
  INFO(describe(s));
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  const std::string layouts[] = {input, "KRSC16k4c", "NCHW16c"};
  compare<R<S, 8, E>, conv2d_i32_portable<conv2d_shape, PE>, u8, E, PE>(
      r, S{}, s, tensors, layouts, s.k, scratch,
      numbers<u8>(r, tensors[0].count()), numbers<i8>(r, tensors[1].count()));
}

template <class S> void check_constant(random_source &r) {
  const conv2d_shape s = S::values();
  if constexpr (fills_tiles(S{}, 1)) {
    check_constant_conv<conv2d_i32_nchw16c_amxint8, S>(
        r, "NCHW16c", plan_conv2d_tiles(s, 1, 8).scratch(1));
  } else {
    const std::ptrdiff_t scratch = plan_gathered_tiles(s, 1, 8).scratch(1);
    check_constant_conv<conv2d_i32_nchw16c_few_amxint8, S>(r, "NCHW16c",
                                                           scratch);
    check_constant_conv<conv2d_i32_nchw16c_first_amxint8, S>(r, "NCHW",
                                                             scratch);
  }
}

/// Compares a product of bf16 with sums of doubles. A column of b is infinite,
/// which no other column may notice.
void check_floats(random_source &r, matmul_shape s) {
  s.batch = 1;
  s.a_batch_stride = s.b_batch_stride = s.transpose_b = 0;
  INFO(describe(s));
  std::vector<bf16> a, b;
  for (float x : r.values(std::size_t(s.m * s.k)))
    a.push_back(bf16(x));
  for (float x : r.values(std::size_t(s.n * s.k)))
    b.push_back(bf16(x));
  const int infinite = s.n > 16 ? 16 + r.between(0, s.n - 17) : -1;
  if (infinite >= 0)
    for (int k = 0; k < s.k; ++k)
      b[std::size_t(k * s.n + infinite)] = bf16(INFINITY);
  std::vector<bf16> panels;
  for (int i : places({"KN", {s.k, s.n}}, "NK16n2k"))
    panels.push_back(i < 0 ? bf16(0.0f) : b[std::size_t(i)]);
  using R = matmul_tiles_t<2, matmul_shape, 1, none>;
  std::vector<unsigned char> scratch(
      std::size_t(plan_matmul_tiles(s, 2, 1).scratch(1)), 0xff);
  floats y(std::size_t(s.m * s.n), 55.0f);
  in_parts(R::units(s), [&](int begin, int end) {
    R::run(s, a.data(), panels.data(), y.data(), scratch.data(), none{}, begin,
           end);
  });
  for (int m = 0; m < s.m; ++m)
    for (int n = 0; n < s.n; ++n) {
      double sum = 0, size = 0;
      for (int k = 0; k < s.k; ++k) {
        const int place = s.transpose_a ? k * s.m + m : m * s.k + k;
        const double product = double(float(a[std::size_t(place)])) *
                               double(float(b[std::size_t(k * s.n + n)]));
        sum += product;
        size += std::fabs(product);
      }
      if (n != infinite)
        CHECK(std::fabs(double(y[std::size_t(m * s.n + n)]) - sum) <=
              1e-6 * size + 1e-30);
    }
}

} // namespace

TEST_CASE("convolutions of constant shapes on tiles", "[matrix_tiles]") {
  random_source r;
  check_constant<constant_conv2d<64, 48, 9, 3, 1>>(r);
  check_constant<constant_conv2d<100, 33, 11, 3, 2>>(r);
  check_constant<constant_conv2d<128, 16, 7, 1, 1>>(r);
  check_constant<constant_conv2d<3, 40, 23, 7, 2>>(r);
  check_constant<constant_conv2d<16, 20, 6, 3, 1>>(r);
}

TEST_CASE("matrix products of bf16 on tiles", "[matrix_tiles]") {
  random_source r;
  for (int i = 0; i < 30; ++i) {
    check_floats(r, random_matmul(r));
    matmul_shape s = whole_matmul(r);
    check_floats(r, s);
  }
}
