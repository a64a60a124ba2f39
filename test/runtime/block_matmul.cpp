// Tests products with weights of 4 and 8 bits, with vectors of every width,
// against sums in double of the values that the weights represent.
#include "runtime/routines/stored_weights/block_matmul/portable.h"
#include "runtime/routines/stored_weights/block_matmul/registers.h"
#include "runtime/routines/stored_weights/block_matmul/shape.h"
#include "test/runtime/expected.h"
#include "test/runtime/random_shapes.h"

#include <cstdint>

using namespace nnc;
using namespace nnc_test;

namespace {

using bytes = std::vector<std::uint8_t>;
using epilogue = fused<bias_residual_relu, channel_of<float>, full_of<float>>;

/// The operands of a product, all row-major.
struct operands {
  floats x, scales, bias, residual;
  bytes q, zero_points;
};

/// The choice of weights and zero points: any values, only the smallest and the
/// largest one, or weights of exactly zero for very large inputs.
enum class kind { random, ends, hidden };

operands make_operands(random_source &r, const block_matmul_shape &s,
                       kind how) {
  operands o;
  const std::size_t groups = std::size_t(s.n) * block_groups(s);
  const int most = (1 << s.bits) - 1;
  const auto value = [&] {
    return std::uint8_t(how == kind::ends ? most * r.between(0, 1)
                                          : r.between(0, most));
  };
  o.x = r.values(std::size_t(s.m) * s.k);
  o.scales = r.values(groups);
  o.bias = r.values(s.n);
  o.residual = r.values(std::size_t(s.m) * s.n);
  for (std::size_t i = 0; i < (s.shared_zero ? 1 : groups); ++i)
    o.zero_points.push_back(value());
  for (std::size_t i = 0; i < std::size_t(s.n) * s.k; ++i)
    o.q.push_back(value());
  // Large numbers whose weights are exactly zero: nothing of them may be left.
  if (how == kind::hidden)
    for (int i = 0; i < s.k; i += r.between(1, 4)) {
      for (int row = 0; row < s.m; ++row)
        o.x[std::size_t(row) * s.k + i] *= 1e20f;
      for (int column = 0; column < s.n; ++column)
        o.q[std::size_t(column) * s.k + i] =
            o.zero_points[s.shared_zero
                              ? 0
                              : column * block_groups(s) + i / s.block];
    }
  return o;
}

/// Computes the expected results in double, and the largest allowed error of
/// each.
void compute(const block_matmul_shape &s, const operands &o,
             std::vector<double> &want, std::vector<double> &bound) {
  const int groups = block_groups(s);
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; ++column) {
      double sum = 0, size = 0;
      for (int i = 0; i < s.k; ++i) {
        const std::size_t at = std::size_t(column) * groups + i / s.block;
        const int zero = o.zero_points[s.shared_zero ? 0 : at];
        const double w =
            double(o.q[std::size_t(column) * s.k + i] - zero) * o.scales[at];
        const double product = o.x[std::size_t(row) * s.k + i] * w;
        sum += product;
        size += std::fabs(product);
      }
      sum +=
          double(o.bias[column]) + o.residual[std::size_t(row) * s.n + column];
      want.push_back(sum < 0 ? 0 : sum);
      bound.push_back(error_bound<float>(float(s.k), float(size)));
    }
}

/// Returns a [n][groups] matrix with its rows in blocks of 32: [n /
/// 32][groups][32].
template <class T>
std::vector<T> pack_columns(const std::vector<T> &all, int n, int groups) {
  const int panels = ceil_div(n, 32);
  std::vector<T> packed(std::size_t(panels) * groups * 32);
  for (int column = 0; column < n; ++column)
    for (int group = 0; group < groups; ++group)
      packed[(std::size_t(column / 32) * groups + group) * 32 + column % 32] =
          all[std::size_t(column) * groups + group];
  return packed;
}

template <int BITS>
bytes pack_weights(const block_matmul_shape &s, const bytes &q) {
  using words = block_words<BITS>;
  bytes packed(std::size_t(ceil_div(s.n, 32)) * words::panel(s.k));
  for (int column = 0; column < s.n; ++column)
    for (int i = 0; i < s.k; ++i) {
      const int word = i / words::weights, bit = i % words::weights * BITS;
      packed[std::size_t(column / 32) * words::panel(s.k) +
             (std::size_t(word) * 32 + column % 32) * 4 + bit / 8] |=
          q[std::size_t(column) * s.k + i] << bit % 8;
    }
  return packed;
}

template <class S> block_matmul_shape run_time() {
  return {S::m, S::n, S::k, S::bits, S::block, S::shared_zero};
}

template <int BITS, int W, int M, int B, class S>
void check(random_source &random, const S &shape, block_matmul_shape s,
           kind how) {
  INFO("M=" << M << " B=" << B << describe(s));
  const operands o = make_operands(random, s, how);
  std::vector<double> want, bound;
  compute(s, o, want, bound);
  const bytes q = pack_weights<BITS>(s, o.q);
  const floats scales = pack_columns(o.scales, s.n, block_groups(s));
  const bytes zeros = s.shared_zero
                          ? o.zero_points
                          : pack_columns(o.zero_points, s.n, block_groups(s));
  {
    using routine = block_matmul_t<BITS, W, S, M, B, epilogue>;
    std::vector<unsigned char> scratch(plan_block_matmul(s, M).scratch(1));
    floats y = o.residual;
    in_parts(routine::units(shape), [&](int begin, int end) {
      routine::run(shape, o.x.data(), q.data(), scales.data(), zeros.data(),
                   y.data(), scratch.data(), {o.bias.data(), y.data()}, begin,
                   end);
    });
    require_within(y, want, bound);
  }
  using plain = block_matmul_portable<S, epilogue>;
  floats y = o.residual;
  in_parts(plain::units(shape), [&](int begin, int end) {
    plain::run(shape, o.x.data(), o.q.data(), o.scales.data(),
               o.zero_points.data(), y.data(), {o.bias.data(), y.data()}, begin,
               end);
  });
  require_within(y, want, bound);
  if (BITS == 4) {
    using packed = block_matmul_int4_portable<S, epilogue>;
    y = o.residual;
    in_parts(packed::units(shape), [&](int begin, int end) {
      packed::run(shape, o.x.data(), q.data(), scales.data(), zeros.data(),
                  y.data(), {o.bias.data(), y.data()}, begin, end);
    });
    require_within(y, want, bound);
  }
}

template <int BITS, int W> void check_random(random_source &r, kind how) {
  block_matmul_shape s{};
  s.m = r.between(1, 9);
  s.n = r.between(1, 100);
  s.k = r.between(1, r.between(0, 3) ? 200 : 1400);
  s.bits = BITS;
  s.block = r.between(0, 3) ? 8 << r.between(0, 5) : s.k;
  if (s.block > s.k)
    s.block = s.k;
  s.shared_zero = r.between(0, 1);
  check<BITS, W, 1, 32 / W>(r, s, s, how);
  check<BITS, W, 2, 16 / W>(r, s, s, how);
  check<BITS, W, 4, 16 / W>(r, s, s, how);
}

template <int M, int N, int K, int BITS, int BLOCK, int SHARED>
struct constant_shape {
  static constexpr int m = M, n = N, k = K, bits = BITS, block = BLOCK;
  static constexpr int shared_zero = SHARED;
};

template <int W, int M, int B, class S> void check_constant(random_source &r) {
  check<S::bits, W, M, B>(r, S{}, run_time<S>(), kind::random);
}

} // namespace

TEMPLATE_TEST_CASE("products of random shapes with weights of few bits",
                   "[blocks]", wide<NNC_TEST_WIDTHS>) {
  random_source random;
  for (int i = 0; i < 60; ++i) {
    const kind how = kind(i % 3);
    check_random<4, TestType::W>(random, how);
    check_random<8, TestType::W>(random, how);
  }
}

TEMPLATE_TEST_CASE("products of constant shapes with weights of few bits",
                   "[blocks]", wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  check_constant<W, 1, 32 / W, constant_shape<1, 65, 77, 4, 77, 1>>(random);
  check_constant<W, 4, 16 / W, constant_shape<7, 33, 128, 4, 32, 0>>(random);
  check_constant<W, 2, 32 / W, constant_shape<3, 64, 1030, 8, 1030, 1>>(random);
  check_constant<W, 1, 16 / W, constant_shape<1, 16, 160, 8, 64, 0>>(random);
}

TEST_CASE("strips of rows fit in the scratch of their plan", "[blocks]") {
  // A strip of rows of 40000 numbers has one tile alone.
  block_matmul_shape s{9, 3, 40000, 4, 32, 1};
  REQUIRE(plan_block_matmul(s, 4).rows == 4);
  random_source random;
  check<4, widest, 4, 16 / widest>(random, s, s, kind::random);
}
