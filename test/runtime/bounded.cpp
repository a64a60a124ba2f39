// Tests convolutions and matrix products whose sums of products are bounded to
// 16 bits against the portable routines: results are equal bit for bit. Points
// are often 255, and weights are often as large as the bound allows or larger.
#include "runtime/routines/convolution/conv2d/integers.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/matrix/matmul/bytes.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "test/runtime/bounded_test.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/widths.h"

using namespace nnc;
using namespace nnc_test;

namespace {

constexpr int W = widest;
using T = std::uint8_t;
using E = integers_epilogue<to<T>, T>;
using PE = integers_epilogue<to_scalars<T>, T>;

template <int SUM, bool ORDERED = false, class S>
int check_conv(random_source &r, const S &shape, const conv2d_shape &s) {
  INFO(describe(s));
  using D = bounded_dots<W, SUM, ORDERED>;
  using R = conv2d_integers_t<D, false, S, 3, 2, E>;
  const std::string layout = "NCHW" + std::to_string(W) + "c";
  const axes tensors[] = {{"NCHW", {s.n, s.c, s.h, s.w}},
                          {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}},
                          {"NCHW", {s.n, s.k, s.oh, s.ow}}};
  return compare_bounded<R, conv2d_i32_portable<conv2d_shape, PE>, T, E, PE>(
      r, shape, s, W, SUM, tensors, {layout, "plain", layout}, s.k,
      plan_conv2d_integers(s, W, 1, 3, D::together).scratch(1), ORDERED);
}

/// Changes s to a convolution of one of the kinds that the routine computes in
/// different ways: grouped (3), 1 x 1 (2), of many channels (1), or any (0).
void vary(random_source &r, int kind, conv2d_shape &s) {
  if (kind == 3) {
    s.groups = r.between(2, 3);
    s.c = s.groups * larger(W, 8) * r.between(1, 2);
    s.k = s.groups * W * r.between(1, 3);
  } else if (kind == 2) { // 1 x 1, of all pixels or every second
    s.kh = s.kw = s.dh = s.dw = 1;
    s.sh = s.sw = r.between(1, 2);
    s.pt = s.pl = 0;
    s.oh = (s.h - 1) / s.sh + 1;
    s.ow = (s.w - 1) / s.sw + 1;
  } else if (kind == 1) { // many channels
    s.groups = 1;
    s.c = r.between(60, 130);
  }
  s.fill = r.between(0, 255);
}

template <int SUM> void check_random() {
  random_source r;
  int extras = 0;
  for (int i = 0; i < 60; ++i) {
    conv2d_shape s = random_conv2d(r, 14);
    vary(r, i % 4, s);
    extras += check_conv<SUM>(r, s, s);
    matmul_shape m = random_matmul(r);
    m.b_batch_stride = 0;
    if (i % 2)
      m = {1, r.between(1, 9), r.between(1, 60),    r.between(100, 300), 0,
           0, false,           r.between(0, 1) == 1};
    INFO(describe(m));
    using R = matmul_bytes_t<bounded_dots<W, SUM>, matmul_shape, 3, 2, E>;
    const int lefts = m.a_batch_stride ? m.batch : 1;
    const axes tensors[] = {m.transpose_a ? axes{"BKM", {lefts, m.k, m.m}}
                                          : axes{"BMK", {lefts, m.m, m.k}},
                            m.transpose_b ? axes{"BNK", {1, m.n, m.k}}
                                          : axes{"BKN", {1, m.k, m.n}},
                            axes{"BMN", {m.batch, m.m, m.n}}};
    extras +=
        compare_bounded<R, matmul_i32_portable<matmul_shape, PE>, T, E, PE>(
            r, m, m, W, SUM, tensors, {"plain", "plain", "plain"}, m.n,
            plan_matmul_bytes(m, 8, 1, 3).scratch(1));
  }
  CHECK(extras > 0);
}

template <bool ORDERED> void check_orders() {
  random_source r;
  int extras = 0;
  for (int i = 0; i < 90; ++i) {
    conv2d_shape s = random_conv2d(r, 14);
    vary(r, i % 3, s);
    s.groups = 1;
    if (i % 2) // several runs of blocks
      s.k = r.between(40, 150);
    extras += check_conv<2, ORDERED>(r, s, s);
  }
  CHECK(extras > 0);
}

struct constant_shape {
  static constexpr int n = 2, c = 40, h = 11, w = 19, k = 36, kh = 3, kw = 3;
  static constexpr int sh = 1, sw = 1, dh = 1, dw = 1, pt = 1, pl = 1;
  static constexpr int oh = 11, ow = 19, groups = 1, fill = 255;
};

/// Stores one column in which channel 0 has the weight `first`, channel `other`
/// the weight `second`, and all other channels 0. Returns the extra vectors.
int count_extras(int sum, int first, int other, int second) {
  bounded_factor f(conv2d_shape{});
  f.columns = f.kh = f.kw = 1;
  f.channels = 8;
  std::vector<std::int8_t> w(8);
  w[0] = std::int8_t(first);
  w[std::size_t(other)] = std::int8_t(second);
  int extras = 0;
  REQUIRE(!store_bounded(f, 8, sum, w, extras).empty());
  return extras;
}

} // namespace

TEST_CASE("sums of two products in 16 bits", "[bounded]") { check_random<2>(); }

TEST_CASE("sums of four products in 16 bits", "[bounded]") {
  check_random<4>();
}

// Vectors of other widths have no such routine.
TEST_CASE("orders of channels", "[bounded]") { check_orders<W == 8>(); }

TEST_CASE("an order keeps large weights apart", "[bounded]") {
  random_source r;
  for (int channels : {16, 40, 128, 200}) {
    bounded_factor f(conv2d_shape{});
    f.columns = 100;
    f.kh = f.kw = 1;
    f.channels = channels;
    std::vector<std::int8_t> w = ordered_numbers(r, f, 0);
    int extras = 0;
    CHECK(!store_ordered(f, 8, w, extras).empty());
    CHECK(extras == 0);
    int needed = 0;
    const bool fits = !store_bounded(f, 8, 2, w, needed).empty();
    CHECK((!fits || needed > 0));
    // Channels that have no partner of small weights do not fit.
    std::fill(w.begin(), w.end(), std::int8_t(-100));
    CHECK(store_ordered(f, 8, w, extras).empty() == (channels > 16));
  }
}

TEST_CASE("bounded sums of constant shapes", "[bounded]") {
  random_source r;
  using C = constant_shape;
  const conv2d_shape s{C::n,  C::c,  C::h,  C::w,      C::k,   C::kh,
                       C::kw, C::sh, C::sw, C::dh,     C::dw,  C::pt,
                       C::pl, C::oh, C::ow, C::groups, C::fill};
  for (int i = 0; i < 5; ++i) {
    check_conv<2>(r, C{}, s);
    check_conv<2, W == 8>(r, C{}, s);
    check_conv<4>(r, C{}, s);
  }
}

TEST_CASE("weights at the bound need no extra vectors", "[bounded]") {
  for (int sum : {2, 4}) {
    CHECK(count_extras(sum, 127, 1, 1) == 0);
    CHECK(count_extras(sum, -128, 1, 127) == 0);
    CHECK(count_extras(sum, -127, 1, -1) == 0);
    // An even number of vectors is stored.
    CHECK(count_extras(sum, 127, 1, 2) == 2);
    CHECK(count_extras(sum, -128, 1, -1) == 2);
    CHECK(count_extras(sum, -127, 1, -2) == 2);
    // Products of channels 0 and 2 are added in different halves of a lane.
    CHECK(count_extras(sum, 127, 2, 127) == 0);
    // Those of channels 0 and 4 are added in 16 bits if four are.
    CHECK(count_extras(sum, 127, 4, 2) == (sum == 4 ? 2 : 0));
    CHECK(count_extras(sum, 127, 6, 127) == 0);
  }
}

TEST_CASE("large weights do not fit", "[bounded]") {
  random_source r;
  const matmul_shape s{1, 1, 16, 400, 0, 0, false, true};
  const bounded_factor f(s);
  int extras = 0;
  for (int sum : {2, 4}) {
    const std::vector<std::int8_t> large(f.count(), 65);
    CHECK(store_bounded(f, 8, sum, large, extras).empty());
    const std::vector<std::int8_t> small(f.count(), std::int8_t(128 / sum));
    CHECK(!store_bounded(f, 8, sum, small, extras).empty());
  }
  CHECK(extras == 0);
}
