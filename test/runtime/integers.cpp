// Tests convolutions and matrix products of 8-bit and 16-bit integers against
// the portable routines: results are equal bit for bit. Many numbers are the
// ends of the ranges of their types.
#include "runtime/routines/convolution/conv2d/integers.h"
#include "runtime/routines/catalogue/applies.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise.h"
#include "runtime/routines/convolution/conv2d/integers_winograd.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/matrix/matmul/bytes.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/pooling/pool2d/bytes.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "runtime/simd/requantize.h"
#include "test/runtime/integers_test.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

using namespace nnc;
using namespace nnc_test;

namespace {

/// Returns the end of the name of the layout of weights for D, which multiplies
/// groups of elements of `axis`: "" if groups have one element.
template <class D> std::string group_of(const char *axis) {
  return D::group == 1 ? "" : std::to_string(D::group) + axis;
}

template <class D, bool PLAIN, class X, class W, class T,
          template <class> class F, class S>
void check_conv(random_source &r, const S &shape, conv2d_shape s) {
  INFO(describe(s));
  constexpr int C = D::lanes == 16 ? 5 : 3, B = 2;
  using R = conv2d_integers_t<D, PLAIN, S, C, B, integers_epilogue<F<T>, T>>;
  using PE = integers_epilogue<to_scalars<T>, T>;
  const std::string lanes = std::to_string(D::lanes);
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  const std::string layouts[] = {PLAIN ? "plain" : "NCHW" + lanes + "c",
                                 "KCRS" + lanes + "k" + group_of<D>("c"),
                                 "NCHW" + lanes + "c"};
  const auto p =
      plan_conv2d_integers(s, D::lanes, int(sizeof(typename D::point)), C,
                           PLAIN ? D::group : D::together);
  compare<R, conv2d_i32_portable<conv2d_shape, PE>, T,
          integers_epilogue<F<T>, T>, PE>(
      r, shape, s, tensors, layouts, s.k, p.scratch(1),
      numbers<X>(r, tensors[0].count()), numbers<W>(r, tensors[1].count()));
}

template <class D, class X, class W, class T, template <class> class F, class S>
void check_depthwise(random_source &r, const S &shape, conv2d_shape s) {
  INFO(describe(s));
  using R = conv2d_integers_depthwise_t<D, S, 5, integers_epilogue<F<T>, T>>;
  using PE = integers_epilogue<to_scalars<T>, T>;
  const std::string lanes = std::to_string(D::lanes);
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, 1, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  const std::string layouts[] = {"NCHW" + lanes + "c",
                                 "KCSR" + lanes + "k" + group_of<D>("r"),
                                 "NCHW" + lanes + "c"};
  compare<R, conv2d_i32_portable<conv2d_shape, PE>, T,
          integers_epilogue<F<T>, T>, PE>(
      r, shape, s, tensors, layouts, s.k,
      integers_depthwise_scratch(s, D::lanes, D::group, 1),
      numbers<X>(r, tensors[0].count()), numbers<W>(r, tensors[1].count()));
}

template <class D, class X, class W, class T, template <class> class F>
void check_matmul(random_source &r, matmul_shape s) {
  INFO(describe(s));
  using R = matmul_bytes_t<D, matmul_shape, 3, 2, integers_epilogue<F<T>, T>>;
  using PE = integers_epilogue<to_scalars<T>, T>;
  const int lefts = s.a_batch_stride ? s.batch : 1;
  const int rights = s.b_batch_stride ? s.batch : 1;
  const axes tensors[] = {s.transpose_a ? axes{"BKM", {lefts, s.k, s.m}}
                                        : axes{"BMK", {lefts, s.m, s.k}},
                          s.transpose_b ? axes{"BNK", {rights, s.n, s.k}}
                                        : axes{"BKN", {rights, s.k, s.n}},
                          axes{"BMN", {s.batch, s.m, s.n}}};
  const std::string layouts[] = {
      "plain", "NK" + std::to_string(D::lanes) + "n" + group_of<D>("k"),
      "plain"};
  compare<R, matmul_i32_portable<matmul_shape, PE>, T,
          integers_epilogue<F<T>, T>, PE>(
      r, s, s, tensors, layouts, s.n,
      plan_matmul_bytes(s, D::group, int(sizeof(typename D::point)), 3)
          .scratch(1),
      numbers<X>(r, tensors[0].count()), numbers<W>(r, tensors[1].count()));
}

/// Checks Winograd's method for integers against the portable convolution, with
/// the transformed weights that dialects/nn/encodings/ stores. With `highest`,
/// all inputs and weights are as large as they can be.
template <int W, class X, class T, template <class> class F>
void check_winograd(random_source &r, conv2d_shape s, bool highest = false) {
  INFO(describe(s));
  using Y = std::uint8_t;
  using E = integers_epilogue<F<Y>, Y>;
  using PE = integers_epilogue<to_scalars<Y>, Y>;
  using R = conv2d_integers_winograd_t<W, conv2d_shape, 3, 2, E>;
  const auto p = plan_integers_winograd(s, W, 3, 2);
  const std::string lanes = std::to_string(W);
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c, 3, 3}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  const std::string layouts[] = {"NCHW" + lanes + "c", "plain",
                                 "NCHW" + lanes + "c"};
  const auto make = [&](auto type, std::size_t count) {
    using N = decltype(type);
    return highest ? std::vector<N>(count, std::numeric_limits<N>::max())
                   : numbers<N>(r, count);
  };
  const auto w = make(T(), tensors[1].count());
  const int filter[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  std::vector<std::int16_t> points(std::size_t(s.k * s.c * 16));
  for (int f = 0; f < s.k * s.c; ++f)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        int sum = 0;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            sum +=
                filter[i][a] * w[std::size_t(f * 9 + a * 3 + b)] * filter[j][b];
        points[std::size_t(f * 16 + i * 4 + j)] = std::int16_t(sum);
      }
  const auto packed =
      pack(points, places({"KCRS", {s.k, s.c, 4, 4}}, "KRSC" + lanes + "k2c"));
  compare_with<conv2d_i32_portable<conv2d_shape, PE>, Y, E, PE>(
      r, s, tensors, layouts, s.k, p.scratch(1), make(X(), tensors[0].count()),
      w, R::units(s),
      [&](const X *x, const T *, Y *y, unsigned char *scratch, const E &epi,
          int begin, int end) {
        R::run(s, x, reinterpret_cast<const std::int8_t *>(packed.data()), y,
               scratch, epi, begin, end);
      });
}

/// An expression that requantizes a mean. from_mean_of_scalars is the same for
/// scalars alone.
template <class T> struct from_mean {
  template <class V> auto operator()(V mean, like<V, T> residual) const {
    return nnc::cast<T>(nnc::add(nnc::round(nnc::mul(mean, nnc::same<V>(0.7f))),
                                 nnc::cast<float>(residual)));
  }
};
template <class T> struct from_mean_of_scalars {
  T operator()(float mean, T residual) const {
    return from_mean<T>()(mean, residual);
  }
};

template <int W, class X, template <class> class F>
void check_pools(random_source &r, const pool2d_shape &s) {
  INFO(describe(s));
  const axes input{"NCHW", {s.n, s.c, s.h, s.w}};
  const axes output{"NCHW", {s.n, s.c, s.oh, s.ow}};
  const std::string layout = "NCHW" + std::to_string(W) + "c";
  const auto x = numbers<X>(r, input.count());
  const auto packed = pack(x, places(input, layout));
  const auto at = places(output, layout);
  std::vector<X> want(output.count()), got(at.size(), X(55));
  using largest = max_pool2d_portable<pool2d_shape, none>;
  largest::run(s, x.data(), want.data(), none{}, 0, largest::units(s));
  using M = max_pool2d_bytes_t<W, pool2d_shape, none>;
  in_parts(M::units(s), [&](int begin, int end) {
    M::run(s, packed.data(), got.data(), none{}, begin, end);
  });
  // Windows without taps are not compared.
  bool has_taps = true;
  for (int i = 0; i < s.oh; ++i)
    has_taps =
        has_taps && pool_range(i * s.sh - s.pt, s.dh, s.kh, 0, s.h).count();
  for (int i = 0; i < s.ow; ++i)
    has_taps =
        has_taps && pool_range(i * s.sw - s.pl, s.dw, s.kw, 0, s.w).count();
  if (has_taps)
    CHECK(got == pack(want, at));

  const auto residual = numbers<X>(r, output.count());
  const auto packed_residual = pack(residual, at);
  using PE = fused<from_mean_of_scalars<X>, full_of<X>>;
  using P = avg_pool2d_i32_portable<pool2d_shape, PE>;
  P::run(s, x.data(), want.data(), PE{residual.data()}, 0, P::units(s));
  using E = fused<F<X>, full_of<X>>;
  using R = avg_pool2d_bytes_t<W, pool2d_shape, E>;
  in_parts(R::units(s), [&](int begin, int end) {
    R::run(s, packed.data(), got.data(), E{packed_residual.data()}, begin, end);
  });
  CHECK(got == pack(want, at));
}

constexpr int W = widest;
using u8 = std::uint8_t;
using i8 = std::int8_t;
using i16 = std::int16_t;

template <class X> int random_fill(random_source &r) {
  return int(numbers<X>(r, 1)[0]);
}

conv2d_shape random_shape(random_source &r, bool grouped) {
  conv2d_shape s = random_conv2d(r, 14);
  if (grouped) {
    s.groups = r.between(2, 3);
    s.c = s.groups * W * r.between(1, 2);
    s.k = s.groups * W * r.between(1, 3);
  } else if (r.between(0, 2) == 0) { // 1 x 1, of all pixels or every second
    s.kh = s.kw = s.dh = s.dw = 1;
    s.sh = s.sw = r.between(1, 2);
    s.pt = s.pl = 0;
    s.oh = (s.h - 1) / s.sh + 1;
    s.ow = (s.w - 1) / s.sw + 1;
  }
  return s;
}

/// Returns the number of repetitions: `count`, times NNC_TEST_REPEAT if that is
/// set. The slow tests check ten thousand layers in this way.
int repeated(int count) {
  const char *times = std::getenv("NNC_TEST_REPEAT");
  return times ? count * std::atoi(times) : count;
}

template <class D, class X, class W, class T, template <class> class F>
void check_random(random_source &r, int count) {
  for (int i = 0; i < repeated(count); ++i) {
    conv2d_shape s = random_shape(r, i % 4 == 3);
    s.fill = random_fill<X>(r);
    check_conv<D, false, X, W, T, F>(r, s, s);
    if (s.groups == 1)
      check_conv<D, true, X, W, T, F>(r, s, s);
    s = random_conv2d(r, 14);
    s.groups = s.c = s.k = r.between(2, 50);
    s.fill = random_fill<X>(r);
    check_depthwise<D, X, W, T, F>(r, s, s);
    check_matmul<D, X, W, T, F>(r, random_matmul(r));
  }
}

template <int C, int H, int WIDTH, int K, int R, int STRIDE, int PAD, int FILL>
struct constant_shape {
  static constexpr int n = 2, c = C, h = H, w = WIDTH, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD;
  static constexpr int oh = (H + 2 * PAD - R) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * PAD - R) / STRIDE + 1;
  static constexpr int groups = 1, fill = FILL;
  static conv2d_shape values() {
    return {n,  c,  h,  w,  k,  kh, kw,     sh,  sw,
            dh, dw, pt, pl, oh, ow, groups, fill};
  }
};
template <class D, class X, class S> void check_constant(random_source &r) {
  check_conv<D, false, X, i8, u8, to>(r, S{}, S::values());
  check_conv<D, true, X, i8, u8, to>(r, S{}, S::values());
}

} // namespace

TEST_CASE("pairs of random integers", "[integers]") {
  random_source r;
  check_random<pair_dots<W>, u8, i8, u8, to>(r, 40);
  check_random<pair_dots<W>, i8, i8, i8, to>(r, 20);
  check_random<pair_dots<W>, i8, u8, std::int32_t, to>(r, 10);
  check_random<pair_dots<W>, u8, i16, i16, to>(r, 10);
  check_random<pair_dots<W>, u8, i8, u8, to_scalars>(r, 10);
}

// Only RISC-V has routines with single products; others stand in for it where
// vectors are portable.
#if defined(NNC_RVV_VECTORS) || defined(NNC_PORTABLE_SIMD)
TEST_CASE("single products of random integers", "[integers]") {
  random_source r;
  check_random<single_dots<W>, u8, i8, u8, to>(r, 40);
  check_random<single_dots<W>, i8, i8, i8, to>(r, 20);
  check_random<single_dots<W>, u8, i16, i16, to>(r, 10);
  check_random<single_dots<W>, i8, u8, u8, to_scalars>(r, 10);
  check_constant<single_dots<W>, i8,
                 constant_shape<20, 9, 11, 19, 3, 1, 1, -7>>(r);
  check_constant<single_dots<W>, u8,
                 constant_shape<3, 13, 17, 35, 3, 2, 1, 128>>(r);
}
#endif

TEST_CASE("pairs of numbers of 16 bits", "[integers]") {
  random_source r;
  for (int i = 0; i < repeated(20); ++i) {
    conv2d_shape s = random_shape(r, i % 4 == 3);
    s.fill = random_fill<i16>(r);
    check_conv<pair_dots<W>, false, i16, i16, u8, to>(r, s, s);
    if (s.groups == 1)
      check_conv<pair_dots<W>, true, i16, i8, i16, to>(r, s, s);
    check_matmul<pair_dots<W>, i16, i16, std::int32_t, to>(r, random_matmul(r));
  }
}

TEST_CASE("fours of random bytes", "[integers]") {
  random_source r;
  check_random<byte_dots<W>, u8, i8, u8, to>(r, 40);
  check_random<byte_dots<W>, u8, i8, i8, to>(r, 10);
}

TEST_CASE("fours of signed bytes", "[integers]") {
  random_source r;
  check_random<signed_dots, i8, i8, i8, to>(r, 40);
  check_random<signed_dots, i8, i8, u8, to_scalars>(r, 10);
}

TEST_CASE("matrices of signed bytes", "[integers]") {
  random_source r;
  for (int i = 0; i < 40; ++i) {
    conv2d_shape s = random_shape(r, i % 4 == 3);
    s.fill = random_fill<i8>(r);
    check_conv<matrix_dots, false, i8, i8, i8, to>(r, s, s);
    check_matmul<matrix_dots, i8, i8, i8, to>(r, random_matmul(r));
  }
}

TEST_CASE("integers of constant shapes", "[integers]") {
  random_source r;
  check_constant<pair_dots<W>, i8, constant_shape<20, 9, 11, 19, 3, 1, 1, -7>>(
      r);
  check_constant<pair_dots<W>, u8, constant_shape<3, 13, 17, 35, 3, 2, 1, 128>>(
      r);
  check_constant<byte_dots<W>, u8, constant_shape<33, 8, 7, 40, 3, 1, 1, 255>>(
      r);
  check_constant<byte_dots<W>, u8, constant_shape<32, 8, 8, 32, 1, 1, 0, 0>>(r);
  check_constant<byte_dots<W>, u8, constant_shape<32, 9, 9, 18, 1, 2, 0, 0>>(r);
  check_constant<signed_dots, i8, constant_shape<33, 8, 7, 40, 3, 1, 1, -128>>(
      r);
  check_constant<signed_dots, i8, constant_shape<32, 8, 8, 32, 1, 1, 0, 0>>(r);
  check_constant<matrix_dots, i8, constant_shape<33, 8, 7, 40, 3, 1, 1, -128>>(
      r);
  check_constant<matrix_dots, i8, constant_shape<20, 9, 9, 18, 1, 2, 0, 0>>(r);
}

TEST_CASE("Winograd's method on bytes", "[integers]") {
  random_source r;
  for (int i = 0; i < repeated(60); ++i) {
    conv2d_shape s = random_conv2d(r, 14);
    s.kh = s.kw = 3;
    s.sh = s.sw = s.dh = s.dw = 1;
    s.h = r.between(3, 14);
    s.w = r.between(3, 14);
    pad_randomly(r, s);
    s.fill = random_fill<u8>(r);
    check_winograd<W, u8, i8, to>(r, s);
    check_winograd<W, u8, u8, to_scalars>(r, s);
    s.fill = random_fill<i8>(r);
    check_winograd<W, i8, i8, to>(r, s);
  }
  // The largest sums, of as many channels as the catalogue allows.
  conv2d_shape s{1, 917, 5, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 5, 5, 1, 255};
  CHECK(integers_winograd_applies(s));
  check_winograd<W, u8, u8, to>(r, s, true);
  check_winograd<W, u8, u8, to>(r, s);
  s.c = 918;
  CHECK(!integers_winograd_applies(s));
  // Sums that wrap around on the way.
  check_winograd<W, u8, i8, to>(
      r, {1, 1024, 5, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 5, 5, 1, 255});
}

TEST_CASE("pools of bytes", "[integers]") {
  random_source r;
  for (int i = 0; i < repeated(60); ++i) {
    check_pools<W, u8, from_mean>(r, random_pool2d(r));
    check_pools<W, i8, from_mean>(r, random_pool2d(r));
    check_pools<W, i8, from_mean_of_scalars>(r, random_pool2d(r));
  }
}

TEST_CASE("long rows are cut into strips", "[integers]") {
  random_source r;
  conv2d_shape s{1, 64, 3, 900, 5, 3, 3, 1, 1, 1, 1, 1, 1, 3, 900, 1, 9};
  check_conv<pair_dots<W>, false, u8, i8, u8, to>(r, s, s);
  s = {1, 130, 9, 200, 5, 1, 1, 1, 1, 1, 1, 0, 0, 9, 200, 1, 0};
  check_conv<pair_dots<W>, false, u8, i8, u8, to>(r, s, s);
}

TEST_CASE("casts of vectors", "[integers]") {
  const float at[] = {NAN,    INFINITY, -INFINITY,     3e9f,
                      -3e9f,  255.0f,   256.0f,        -129.0f,
                      127.0f, -0.0f,    2147483520.0f, -2147483648.0f,
                      -1.0f,  1.5f,     300.7f,        -1000.25f};
  random_source r;
  const auto check_as = [&](auto type, const float *x) {
    using T = decltype(type);
    T got[W];
    vector_memory<T, W>::store(got, cast<T>(f32x<W>::load(x)));
    for (int i = 0; i < W; ++i) {
      INFO(x[i]);
      CHECK(got[i] == cast<T>(x[i]));
    }
  };
  for (int first = 0; first + W <= 16; first += W) {
    check_as(u8(), at + first);
    check_as(i8(), at + first);
    check_as(i16(), at + first);
    check_as(std::int32_t(), at + first);
  }
  for (int i = 0; i < 200; ++i) {
    const auto x = numbers<std::int16_t>(r, W);
    const auto v = vector_memory<i16, W>::load(x.data());
    u8 bytes[W];
    i8 signs[W];
    vector_memory<u8, W>::store(bytes, cast<u8>(v));
    vector_memory<i8, W>::store(signs, cast<i8>(v));
    for (int j = 0; j < W; ++j) {
      CHECK(bytes[j] == cast<u8>(x[std::size_t(j)]));
      CHECK(signs[j] == cast<i8>(x[std::size_t(j)]));
    }
  }
}

namespace {
/// The lanes of vectors that hold one byte in each: on AArch64, registers of 16
/// bytes are such vectors, besides those with four lanes of 32 bits.
constexpr int byte_widths[] = {W, W == 4 ? 16 : W};

template <int W> void check_lookups() {
  random_source r;
  u8 table[256];
  i8 other[256];
  for (int i = 0; i < 256; ++i) {
    table[i] = u8(r.between(0, 255));
    other[i] = i8(r.between(-128, 127));
  }
  for (int first = 0; first < 256; first += W) {
    u8 x[W], unsigned_bytes[W];
    i8 y[W], signed_bytes[W];
    for (int i = 0; i < W; ++i) {
      x[i] = u8(first + i);
      y[i] = i8(first + i - 128);
    }
    vector_memory<i8, W>::store(signed_bytes,
                                lookup(other, vector_memory<u8, W>::load(x)));
    vector_memory<u8, W>::store(unsigned_bytes,
                                lookup(table, vector_memory<i8, W>::load(y)));
    for (int i = 0; i < W; ++i) {
      CHECK(signed_bytes[i] == lookup(other, x[i]));
      CHECK(unsigned_bytes[i] == lookup(table, y[i]));
    }
  }
}
} // namespace

TEST_CASE("bytes are looked up in tables", "[integers]") {
  check_lookups<byte_widths[0]>();
  check_lookups<byte_widths[1]>();
}

namespace {
/// Returns a / b rounded to nearest, with halves rounded up or, if `away`, away
/// from zero. b is positive.
std::int64_t divide(std::int64_t a, std::int64_t b, bool away) {
  std::int64_t down = a / b - (a % b < 0), rest = a - down * b;
  return down + (2 * rest > b || (2 * rest == b && !(away && a < 0)));
}
} // namespace

TEST_CASE("integers times fixed-point numbers", "[integers]") {
  random_source r;
  for (int round = 0; round < 400; ++round) {
    std::int32_t x[W], multiplier[W], shift[W], doubles[W], singles[W];
    for (int i = 0; i < W; ++i) {
      multiplier[i] = r.between(0, 9) ? r.between(1 << 30, INT32_MAX) : 0;
      shift[i] = r.between(-31, 12);
      // Small numbers meet halves; a shift to the left must not overflow.
      const int most = INT32_MAX >> (shift[i] > 0 ? shift[i] + 1 : 1);
      x[i] = round % 2 ? r.between(-300, 300) : r.between(-most, most);
      if (round % 4 == 1)
        multiplier[i] = 1 << 30;
    }
    using memory = vector_memory<std::int32_t, W>;
    const auto v = memory::load(x), m = memory::load(multiplier),
               s = memory::load(shift);
    memory::store(doubles, rescale_double(v, m, s));
    memory::store(singles, rescale_single(v, m, s));
    for (int i = 0; i < W; ++i) {
      INFO(x[i] << " * " << multiplier[i] << " * 2^" << shift[i] - 31);
      const int left = shift[i] > 0 ? shift[i] : 0, right = left - shift[i];
      const std::int64_t high = divide(
          std::int64_t(x[i]) * (1 << left) * multiplier[i], 1LL << 31, false);
      const auto twice =
          std::int32_t(divide(high, std::int64_t(1) << right, true));
      const auto once =
          std::int32_t(divide(std::int64_t(x[i]) * multiplier[i],
                              std::int64_t(1) << (31 - shift[i]), false));
      CHECK(rescale_double(x[i], multiplier[i], shift[i]) == twice);
      CHECK(rescale_single(x[i], multiplier[i], shift[i]) == once);
      CHECK(doubles[i] == twice);
      CHECK(singles[i] == once);
    }
  }
}

namespace {
/// Checks requantize_parts and requantize_real with a float as the result.
/// The reciprocal of a scale in two parts gives the rounded quotient of numbers
/// around all points between two integers.
template <int W, class T, int Zero, int Low, int High>
void check_quotients(random_source &r) {
  using reals = vector_of<float, W>;
  const float scale = float(r.between(1, 4000)) / 65536.0f;
  const float factor = 1.0f / scale,
              rest = std::fma(-factor, scale, 1.0f) / scale;
  float x[W];
  for (int i = 0; i < W; ++i)
    x[i] = scale * (float(r.between(Low - Zero - 3, High - Zero + 3)) +
                    float(r.between(-8, 8)) / 16.0f);
  x[r.between(0, W - 1)] = HUGE_VALF;
  x[r.between(0, W - 1)] = -HUGE_VALF;
  T y[W];
  vector_memory<T, W>::store(
      y, requantize_parts<T, Zero, Low, High>(load<reals>(x), reals(factor),
                                              reals(rest)));
  for (int i = 0; i < W; ++i) {
    INFO(x[i] << " / " << scale << " to " << Low << " to " << High);
    const float whole = std::nearbyint(x[i] / scale) + float(Zero);
    CHECK(float(y[i]) == std::fmin(std::fmax(whole, Low), High));
    CHECK(requantize_parts<T, Zero, Low, High>(x[i], factor, rest) == y[i]);
  }

  std::int32_t sums[W];
  float held[W];
  for (int i = 0; i < W; ++i)
    sums[i] = r.between(-40000, 40000);
  const auto v = vector_memory<std::int32_t, W>::load(sums);
  store(held, requantize_real<float, Zero, Low, High>(v, reals(scale)));
  for (int i = 0; i < W; ++i) {
    CHECK(held[i] ==
          float(requantize_real<T, Zero, Low, High>(sums[i], scale)));
    CHECK(requantize_real<float, Zero, Low, High>(sums[i], scale) == held[i]);
  }
}

/// Checks the functions of nn.requantize with results of type T from Low to
/// High: vectors give the same results as scalars, and scalars the same as the
/// steps of the definition.
template <int W, class T, int Zero, int Low, int High>
void check_requantizations(random_source &r) {
  std::int32_t x[W], multiplier[W], shift[W];
  float factor[W], offset[W];
  for (int i = 0; i < W; ++i) {
    x[i] = r.between(-40000, 40000);
    multiplier[i] = r.between(1 << 30, INT32_MAX);
    shift[i] = r.between(-12, 0);
    factor[i] = float(r.between(1, 4000)) / 65536.0f;
    // Halves, too.
    offset[i] = float(r.between(-64, 64)) / 8.0f;
  }
  using integers = vector_memory<std::int32_t, W>;
  using results = vector_memory<T, W>;
  const auto v = integers::load(x), m = integers::load(multiplier),
             s = integers::load(shift);
  using reals = vector_of<float, W>;
  const auto f = load<reals>(factor), o = load<reals>(offset);
  T twice[W], once[W], real[W], moved[W];
  results::store(twice, requantize_double<T, Zero, Low, High>(v, m, s));
  results::store(once, requantize_single<T, Zero, Low, High>(v, m, s));
  results::store(real, requantize_real<T, Zero, Low, High>(v, f));
  results::store(moved, requantize_real<T, Zero, Low, High>(v, f, o));
  auto limit = [](double y) { return T(y < Low ? Low : y > High ? High : y); };
  for (int i = 0; i < W; ++i) {
    INFO(x[i] << " to numbers from " << Low << " to " << High);
    CHECK(twice[i] ==
          limit(rescale_double(x[i], multiplier[i], shift[i]) + Zero));
    CHECK(once[i] ==
          limit(rescale_single(x[i], multiplier[i], shift[i]) + Zero));
    CHECK(real[i] == limit(std::nearbyint(float(x[i]) * factor[i]) + Zero));
    CHECK(moved[i] ==
          limit(std::nearbyint(float(x[i]) * factor[i] + offset[i]) + Zero));
    CHECK(requantize_double<T, Zero, Low, High>(x[i], multiplier[i],
                                                shift[i]) == twice[i]);
    CHECK(requantize_single<T, Zero, Low, High>(x[i], multiplier[i],
                                                shift[i]) == once[i]);
    CHECK(requantize_real<T, Zero, Low, High>(x[i], factor[i]) == real[i]);
    CHECK(requantize_real<T, Zero, Low, High>(x[i], factor[i], offset[i]) ==
          moved[i]);
    // A factor of 16 bits.
    const std::int64_t wide = x[i], half = multiplier[i] >> 16;
    CHECK(
        requantize_wide<T, Zero, Low, High>(wide, half,
                                            std::int64_t(shift[i])) ==
        limit(double(rescale_wide(wide, half, std::int64_t(shift[i]))) + Zero));
  }
}
} // namespace

namespace {
template <int W> void check_scales(random_source &r) {
  for (int round = 0; round < 100; ++round) {
    check_quotients<W, std::int8_t, -3, -128, 127>(r);
    check_quotients<W, std::uint8_t, 0, 0, 255>(r);
    check_quotients<W, std::uint8_t, 128, 3, 200>(r);
    check_requantizations<W, std::int8_t, -3, -128, 127>(r);
    check_requantizations<W, std::int8_t, 0, 0, 100>(r);
    check_requantizations<W, std::uint8_t, 128, 0, 255>(r);
    check_requantizations<W, std::uint8_t, 7, 7, 200>(r);
    check_requantizations<W, std::int16_t, 0, -32768, 32767>(r);
  }
}
} // namespace

TEST_CASE("integers on another scale", "[integers]") {
  random_source r;
  check_scales<byte_widths[0]>(r);
  check_scales<byte_widths[1]>(r);
}
