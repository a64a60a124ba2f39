// Tests what only AArch64's vectors compute, products of bytes that are added
// in pairs in 16 bits and depthwise convolutions by taps, against the portable
// routines: results are equal bit for bit. Many numbers are the ends of the
// ranges of their types.
#include "runtime/routines/convolution/conv2d/integers.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_rows.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/matrix/matmul/bytes.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/signed_pairs_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

using T = std::uint8_t;
using E = integers_epilogue<to<T>, T>;
using PE = integers_epilogue<to_scalars<T>, T>;

/// Checks tiles of P points by B blocks of columns. With PLAIN, the input is
/// row-major.
template <bool PLAIN, int P, int B, class S>
void check_conv(random_source &r, const S &shape, const conv2d_shape &s) {
  INFO(describe(s));
  using R = conv2d_integers_t<signed_pairs, PLAIN, S, P, B, E>;
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  compare_signed_pairs<R, conv2d_i32_portable<conv2d_shape, PE>, T, E, PE>(
      r, shape, s, tensors,
      {PLAIN ? "plain" : "NCHW4c", "KCRS4k4c_signed_pairs", "NCHW4c"}, s.k,
      plan_conv2d_integers(s, 4, 1, P, 4).scratch(1));
}

template <int P, int B>
void check_matmul(random_source &r, const matmul_shape &s) {
  INFO(describe(s));
  using R = matmul_bytes_t<signed_pairs, matmul_shape, P, B, E>;
  const int lefts = s.a_batch_stride ? s.batch : 1;
  const axes tensors[] = {s.transpose_a ? axes{"BKM", {lefts, s.k, s.m}}
                                        : axes{"BMK", {lefts, s.m, s.k}},
                          s.transpose_b ? axes{"BNK", {1, s.n, s.k}}
                                        : axes{"BKN", {1, s.k, s.n}},
                          axes{"BMN", {s.batch, s.m, s.n}}};
  compare_signed_pairs<R, matmul_i32_portable<matmul_shape, PE>, T, E, PE>(
      r, s, s, tensors, {"plain", "NK4n4k_signed_pairs", "plain"}, s.n,
      plan_matmul_bytes(s, 4, 1, P).scratch(1));
}

template <class X, class W, class S>
void check_depthwise(random_source &r, const S &shape, const conv2d_shape &s) {
  INFO(describe(s));
  using R = conv2d_integers_depthwise_rows_t<S, 5, E>;
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, 1, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  compare<R, conv2d_i32_portable<conv2d_shape, PE>, T, E, PE>(
      r, shape, s, tensors, {"NCHW4c", "KCRS4k", "NCHW4c"}, s.k,
      plan_integers_depthwise_rows(s, 4).scratch(1),
      numbers<X>(r, tensors[0].count()), numbers<W>(r, tensors[1].count()));
}

/// The shape of a layer of C channels, all of whose fields are constants.
template <int C, int K, int GROUPS, int R, int STRIDE> struct constant_shape {
  static constexpr int n = 2, c = C, h = 13, w = 27, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = R / 2, pl = R / 2;
  static constexpr int oh = (h + 2 * pt - R) / STRIDE + 1;
  static constexpr int ow = (w + 2 * pl - R) / STRIDE + 1;
  static constexpr int groups = GROUPS, fill = -5;
  static conv2d_shape values() {
    return {n,  c,  h,  w,  k,  kh, kw,     sh,  sw,
            dh, dw, pt, pl, oh, ow, groups, fill};
  }
};

} // namespace

TEST_CASE("random signed pairs", "[signed_pairs]") {
  random_source r;
  for (int i = 0; i < 40; ++i) {
    conv2d_shape s = random_conv2d(r, 14);
    if (i % 4 == 3) {
      s.groups = r.between(2, 3);
      s.c = s.groups * 4 * r.between(1, 2);
      s.k = s.groups * 4 * r.between(1, 5);
    } else if (i % 4 == 2) { // 1 x 1, of all pixels or every second
      s.kh = s.kw = s.dh = s.dw = 1;
      s.sh = s.sw = r.between(1, 2);
      s.pt = s.pl = 0;
      s.oh = (s.h - 1) / s.sh + 1;
      s.ow = (s.w - 1) / s.sw + 1;
    }
    s.fill = r.between(-128, 127);
    check_conv<false, 5, 4>(r, s, s);
    check_conv<false, 6, 3>(r, s, s);
    if (s.groups == 1)
      check_conv<true, 3, 2>(r, s, s);
    matmul_shape m = random_matmul(r);
    m.b_batch_stride = 0;
    check_matmul<5, 4>(r, m);
    check_matmul<2, 7>(r, m);
  }
}

TEST_CASE("signed pairs of constant shapes", "[signed_pairs]") {
  random_source r;
  for (int i = 0; i < 4; ++i) {
    using A = constant_shape<20, 36, 1, 3, 1>;
    check_conv<false, 5, 4>(r, A{}, A::values());
    using B = constant_shape<3, 17, 1, 3, 2>;
    check_conv<true, 7, 3>(r, B{}, B::values());
    using C = constant_shape<32, 40, 1, 1, 1>;
    check_conv<false, 12, 2>(r, C{}, C::values());
  }
}

TEST_CASE("random depthwise convolutions by taps", "[signed_pairs]") {
  random_source r;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(r, 14);
    s.groups = s.c = s.k = r.between(2, 30);
    s.fill = r.between(0, 127);
    check_depthwise<std::int8_t, std::int8_t>(r, s, s);
    check_depthwise<std::uint8_t, std::int8_t>(r, s, s);
    check_depthwise<std::int8_t, std::int16_t>(r, s, s);
  }
}

TEST_CASE("depthwise convolutions of constant shapes", "[signed_pairs]") {
  random_source r;
  for (int i = 0; i < 4; ++i) {
    using A = constant_shape<9, 9, 9, 3, 1>;
    check_depthwise<std::int8_t, std::int8_t>(r, A{}, A::values());
    using B = constant_shape<8, 8, 8, 3, 2>;
    check_depthwise<std::int8_t, std::int8_t>(r, B{}, B::values());
    using C = constant_shape<12, 12, 12, 5, 1>;
    check_depthwise<std::int8_t, std::int8_t>(r, C{}, C::values());
    using D = constant_shape<5, 5, 5, 5, 2>;
    check_depthwise<std::int8_t, std::int8_t>(r, D{}, D::values());
    using F = constant_shape<6, 6, 6, 7, 1>;
    check_depthwise<std::int8_t, std::int8_t>(r, F{}, F::values());
  }
}
