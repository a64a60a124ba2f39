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
