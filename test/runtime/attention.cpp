// Tests attention, with vectors of every kind and in the portable routine,
// against sums in double.
#include "runtime/routines/attention/online.h"
#include "runtime/routines/attention/portable.h"
#include "runtime/routines/attention/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

#include <limits>
#include <type_traits>

using namespace nnc;
using namespace nnc_test;

namespace {

/// The layout of q, k and v in memory: [heads][rows][size], or
/// [rows][heads][size] in three tensors, or all three in the rows of one
/// tensor.
enum class heads_lie { apart, side_by_side, in_one_row };

/// Sets the strides, in elements, of an operand of attention that is stored
/// without gaps: from one sample of the batch to the next, from one head to the
/// next, and from one row to the next. Each head has `rows` rows of `size`
/// elements.
void set_strides(int (&strides)[3], heads_lie lie, int heads, int rows,
                 int size) {
  const int columns = heads * size;
  strides[0] = rows * columns;
  strides[1] = lie == heads_lie::apart ? rows * size : size;
  strides[2] = lie == heads_lie::apart ? size : columns;
}

attention_shape random_attention(random_source &r) {
  attention_shape s{};
  s.n = r.between(1, 2);
  s.heads = r.between(1, 4);
  s.queries = r.between(1, r.between(0, 2) ? 20 : 120);
  s.keys = r.between(1, r.between(0, 2) ? 40 : 300);
  s.dim = r.between(1, 70);
  s.value_dim = r.between(0, 1) ? s.dim : r.between(1, 70);
  s.scale = r.between(1, 20) / 10.0f;
  const auto lie = heads_lie(r.between(0, 2));
  set_strides(s.q_strides, lie, s.heads, s.queries, s.dim);
  set_strides(s.k_strides, lie, s.heads, s.keys, s.dim);
  set_strides(s.v_strides, lie, s.heads, s.keys, s.value_dim);
  if (lie == heads_lie::in_one_row) {
    s.queries = s.keys;
    const int columns = s.heads * (2 * s.dim + s.value_dim);
    for (auto *strides : {&s.q_strides, &s.k_strides, &s.v_strides}) {
      (*strides)[0] = s.keys * columns;
      (*strides)[2] = columns;
    }
    s.k_start = s.heads * s.dim;
    s.v_start = 2 * s.heads * s.dim;
  }
  // One mask for all queries, or one each; for all heads, or one each.
  const int rows = r.between(0, 1) ? s.queries : 1;
  s.mask_strides[2] = rows > 1 ? s.keys : 0;
  s.mask_strides[1] = r.between(0, 1) * rows * s.keys;
  s.mask_strides[0] =
      r.between(0, 1) * (s.mask_strides[1] ? s.heads : 1) * rows * s.keys;
  return s;
}

int extent(const int (&strides)[3], int n, int heads, int rows, int size) {
  return (n - 1) * strides[0] + (heads - 1) * strides[1] +
         (rows - 1) * strides[2] + size;
}

/// A random problem: q, k, v with values that T can hold, a mask if `masked`,
/// and the expected results.
template <class T> struct problem {
  attention_shape s;
  floats q, k, v, mask;
  std::vector<double> want;
  /// The largest allowed error of each element: the rounding errors of the
  /// scores, which are those of the weights, and of the sums.
  std::vector<double> bound;

  problem(random_source &r, const attention_shape &shape, bool masked)
      : s(shape), q(values(r, s.q_start + extent(s.q_strides, s.n, s.heads,
                                                 s.queries, s.dim))),
        k(values(r,
                 s.k_start + extent(s.k_strides, s.n, s.heads, s.keys, s.dim))),
        v(values(r, s.v_start + extent(s.v_strides, s.n, s.heads, s.keys,
                                       s.value_dim))) {
    if (masked)
      mask = r.values(extent(s.mask_strides, s.n, s.heads, s.queries, s.keys));
    for (float &m : mask)
      if (r.between(0, 3) == 0)
        m = r.between(0, 1) ? -HUGE_VALF : -10000.0f;
    solve();
  }

  void solve() {
    want.clear();
    bound.clear();
    const double epsilon = std::numeric_limits<float>::epsilon();
    for (int b = 0; b < s.n; ++b)
      for (int i = 0; i < s.queries; ++i)
        for (int h = 0; h < s.heads; ++h) {
          const auto row = [&](const int(&strides)[3], int index) {
            return b * strides[0] + h * strides[1] + index * strides[2];
          };
          std::vector<double> score(s.keys);
          double largest = -HUGE_VAL, size = 0, products = 0;
          for (int j = 0; j < s.keys; ++j) {
            double sum = 0, magnitude = 0;
            for (int c = 0; c < s.dim; ++c) {
              const double product =
                  double(q[s.q_start + row(s.q_strides, i) + c]) *
                  k[s.k_start + row(s.k_strides, j) + c];
              sum += product;
              magnitude += std::fabs(product);
            }
            const double added =
                mask.empty() ? 0.0 : mask[row(s.mask_strides, i) + j];
            score[j] = double(s.scale) * sum + added;
            largest = std::max(largest, score[j]);
            products = std::max(products, s.scale * magnitude);
            if (added > -1000)
              size = std::max(size, s.scale * magnitude + std::fabs(added));
            else if (added > -HUGE_VAL)
              size = std::max(size, -added);
          }
          double total = 0;
          for (double &x : score)
            total += x = std::exp(x - largest);
          for (int c = 0; c < s.value_dim; ++c) {
            double sum = 0, magnitude = 0;
            for (int j = 0; j < s.keys; ++j) {
              const double value = v[s.v_start + row(s.v_strides, j) + c];
              sum += score[j] / total * value;
              magnitude += score[j] / total * std::fabs(value);
            }
            want.push_back(sum);
            const double in_floats =
                epsilon * (4 * std::sqrt(double(s.keys)) + 8 +
                           4 * std::sqrt(double(s.dim)) * size);
            // Products of halves are summed in parts. A weight that is off
            // moves its value's share and the sum of all weights.
            const double in_halves = 2 * 0x1p-10 * (products + 1);
            bound.push_back((is_half ? in_floats + in_halves : in_floats) *
                                magnitude +
                            (is_half ? 0x1p-24 : epsilon));
          }
        }
  }

private:
  static constexpr bool is_half = !std::is_same<T, float>::value;
  static floats values(random_source &r, std::size_t count) {
    return rounded<T>(r.values(count));
  }
};

template <class T>
void require_close(const problem<T> &p, const std::vector<T> &got) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool right = std::isnan(p.want[i])
                           ? std::isnan(float(got[i]))
                           : std::fabs(got[i] - p.want[i]) <= p.bound[i];
    if (!right) {
      INFO("at " << i << ": got " << got[i] << ", want " << p.want[i]
                 << ", bound " << p.bound[i]);
      REQUIRE(right);
    }
  }
}

/// Runs R on `shape`, which has the values of p.s, and checks the results.
/// `more` is the scratch of a routine that takes some.
template <class R, class S, class T, class... More>
void check(const S &shape, const problem<T> &p, More... more) {
  const auto q = store_all<T>(p.q), k = store_all<T>(p.k),
             v = store_all<T>(p.v);
  auto got = store_all<T>(not_written(p.want.size()));
  in_parts(R::units(shape), [&](int begin, int end) {
    if (p.mask.empty())
      R::run(shape, q.data(), k.data(), v.data(), got.data(), more..., none{},
             begin, end);
    else
      R::run(shape, q.data(), k.data(), v.data(), p.mask.data(), got.data(),
             more..., none{}, begin, end);
  });
  INFO(describe(p.s) << " masked=" << !p.mask.empty());
  require_close(p, got);
}

template <class V, int M, int B, class S>
void check_online(const S &shape, const problem<element_of<V>> &p) {
  floats scratch =
      not_written(plan_attention(shape, lanes<V>, M, B, sizeof(element_of<V>))
                      .scratch(most_threads) /
                  sizeof(float));
  check<attention_online_t<V, S, M, B, none>>(
      shape, p, reinterpret_cast<unsigned char *>(scratch.data()));
}

template <int HEADS, int QUERIES, int KEYS, int DIM, int VALUE_DIM>
struct constant_shape {
  static constexpr int n = 2, heads = HEADS, queries = QUERIES, keys = KEYS;
  static constexpr int dim = DIM, value_dim = VALUE_DIM;
  static constexpr float scale = 0.25f;
  static constexpr int q_start = 0, k_start = 0, v_start = 0;
  static constexpr int q_strides[3] = {QUERIES * HEADS * DIM, DIM, HEADS *DIM};
  static constexpr int k_strides[3] = {KEYS * HEADS * DIM, DIM, HEADS *DIM};
  static constexpr int v_strides[3] = {KEYS * HEADS * VALUE_DIM, VALUE_DIM,
                                       HEADS *VALUE_DIM};
  static constexpr int mask_strides[3] = {0, 0, KEYS};
};

template <class V, int M, int B, class S>
void check_constant(random_source &r) {
  attention_shape s{S::n,         S::heads, S::queries, S::keys, S::dim,
                    S::value_dim, S::scale, 0,          0,       0,
                    {},           {},       {},         {}};
  for (int i = 0; i < 3; ++i) {
    s.q_strides[i] = S::q_strides[i];
    s.k_strides[i] = S::k_strides[i];
    s.v_strides[i] = S::v_strides[i];
    s.mask_strides[i] = S::mask_strides[i];
  }
  for (bool masked : {false, true})
    check_online<V, M, B>(S{}, problem<element_of<V>>(r, s, masked));
}

} // namespace

TEST_CASE("portable attention of random shapes", "[attention]") {
  random_source r;
  for (int i = 0; i < 100; ++i) {
    const problem<float> p(r, random_attention(r), i % 2);
    check<attention_portable<attention_shape, none>>(p.s, p);
  }
}

TEMPLATE_TEST_CASE("attention of random shapes", "[attention]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source r;
  for (int i = 0; i < 100; ++i) {
    const problem<element_of<V>> p(r, random_attention(r), i % 2);
    check_online<V, 6, 2>(p.s, p);
  }
}

TEMPLATE_TEST_CASE("attention of constant shapes", "[attention]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source r;
  check_constant<V, 8, 3, constant_shape<3, 40, 40, 15, 15>>(r);
  check_constant<V, 6, 2, constant_shape<2, 7, 131, 33, 20>>(r);
  check_constant<V, 14, 1, constant_shape<1, 70, 65, 64, 64>>(r);
}

TEMPLATE_TEST_CASE("attention of queries that see no key is NaN", "[attention]",
                   NNC_TEST_TILES) {
  using V = TestType;
  using T = element_of<V>;
  random_source r;
  attention_shape s{1, 1, 1, 70,        3,           2,           1.0f,
                    0, 0, 0, {3, 3, 3}, {210, 3, 3}, {140, 2, 2}, {}};
  problem<T> p(r, s, true);
  p.mask.assign(70, -HUGE_VALF);
  p.solve();
  REQUIRE(std::isnan(p.want[0]));
  check_online<V, 6, 2>(s, p);
  if constexpr (std::is_same<T, float>::value)
    check<attention_portable<attention_shape, none>>(s, p);
  // The lowest float hides them all alike, also from halves.
  p.mask.assign(70, -std::numeric_limits<float>::max());
  p.solve();
  REQUIRE(!std::isnan(p.want[0]));
  check_online<V, 6, 2>(s, p);
  // One key behind many that are hidden.
  p.mask.assign(70, -HUGE_VALF);
  p.mask[69] = 0.0f;
  p.solve();
  REQUIRE(p.want[0] == Approx(p.v[69 * 2]));
  check_online<V, 6, 2>(s, p);
  if constexpr (std::is_same<T, float>::value)
    check<attention_portable<attention_shape, none>>(s, p);
}
