// Tests attention on tile registers against sums in double.
#include "runtime/routines/attention/shape.h"
#include "runtime/routines/attention/tiles.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/tiles.h"

#include <cmath>
#include <vector>

using namespace nnc;
using namespace nnc_test;

namespace {

std::vector<bf16> rounded_values(random_source &r, int count) {
  std::vector<bf16> all;
  for (float x : r.values(std::size_t(count)))
    all.push_back(bf16(x));
  return all;
}

/// Heads side by side in rows of one tensor that holds q, k and v, or in rows
/// of three tensors.
attention_shape random_attention(random_source &r) {
  attention_shape s{};
  s.n = r.between(1, 2);
  s.heads = r.between(1, 3);
  s.queries = r.between(1, r.between(0, 1) ? 40 : 150);
  s.keys = r.between(1, r.between(0, 1) ? 40 : 200);
  s.dim = r.between(1, 70);
  s.value_dim = r.between(0, 1) ? s.dim : r.between(1, 70);
  s.scale = float(r.between(1, 20)) / 10.0f;
  const bool in_one = r.between(0, 1);
  if (in_one)
    s.queries = s.keys;
  const int all = s.heads * (2 * s.dim + s.value_dim);
  const auto set = [&](int(&strides)[3], int rows, int size) {
    strides[2] = in_one ? all : s.heads * size;
    strides[1] = size;
    strides[0] = rows * strides[2];
  };
  set(s.q_strides, s.queries, s.dim);
  set(s.k_strides, s.keys, s.dim);
  set(s.v_strides, s.keys, s.value_dim);
  s.k_start = in_one ? s.heads * s.dim : 0;
  s.v_start = 2 * s.k_start;
  // A mask for all heads, with a row for each query or one for all.
  s.mask_strides[2] = r.between(0, 1) * s.keys;
  s.mask_strides[0] =
      r.between(0, 1) * (s.mask_strides[2] ? s.queries : 1) * s.keys;
  return s;
}

/// Runs the routine, whose results are of type Y, and compares it with sums in
/// double. Without a key that the mask lets a query see, results are NaN.
template <int ROWS, class Y>
void check_attention(random_source &r, const attention_shape &s, bool masked) {
  INFO(describe(s) << " masked=" << masked);
  const auto q = rounded_values(r, s.n * s.q_strides[0]);
  const auto k = rounded_values(r, s.n * s.k_strides[0]);
  const auto v = rounded_values(r, s.n * s.v_strides[0] + s.v_start);
  floats mask = r.values(std::size_t(s.n * s.queries * s.keys));
  for (float &m : mask)
    if (r.between(0, 3) == 0)
      m = r.between(0, 1) ? -HUGE_VALF : -10000.0f;
  std::vector<Y> y(std::size_t(s.n * s.queries * s.heads * s.value_dim),
                   Y(55.0f));
  using R = attention_tiles_t<attention_shape, ROWS, none>;
  std::vector<unsigned char> scratch(
      std::size_t(plan_attention_tiles(s, ROWS).scratch(1)), 0xff);
  in_parts(R::units(s), [&](int begin, int end) {
    if (masked)
      R::run(s, q.data(), k.data(), v.data(), mask.data(), y.data(),
             scratch.data(), none{}, begin, end);
    else
      R::run(s, q.data(), k.data(), v.data(), y.data(), scratch.data(), none{},
             begin, end);
  });
  std::size_t at = 0;
  for (int b = 0; b < s.n; ++b)
    for (int i = 0; i < s.queries; ++i)
      for (int h = 0; h < s.heads; ++h) {
        const auto row = [&](const int(&strides)[3], int index) {
          return b * strides[0] + h * strides[1] + index * strides[2];
        };
        std::vector<double> weights;
        double largest = -HUGE_VAL, total = 0;
        for (int j = 0; j < s.keys; ++j) {
          double sum = 0;
          for (int c = 0; c < s.dim; ++c)
            sum += double(float(
                       q[std::size_t(s.q_start + row(s.q_strides, i) + c)])) *
                   double(float(
                       k[std::size_t(s.k_start + row(s.k_strides, j) + c)]));
          weights.push_back(
              double(s.scale) * sum +
              (masked ? double(mask[std::size_t(row(s.mask_strides, i) + j)])
                      : 0.0));
          largest = std::max(largest, weights.back());
        }
        for (double &weight : weights)
          total += weight = std::exp(weight - largest);
        for (int c = 0; c < s.value_dim; ++c) {
          double sum = 0, size = 0;
          for (int j = 0; j < s.keys; ++j) {
            const double value = double(
                float(v[std::size_t(s.v_start + row(s.v_strides, j) + c)]));
            sum += weights[std::size_t(j)] / total * value;
            size += weights[std::size_t(j)] / total * std::fabs(value);
          }
          const double got = double(float(y[at++]));
          // Half a unit of a weight, and of a result that is a bf16.
          const double bound = size * (0x1p-8 + 1e-4) +
                               (sizeof(Y) == 2 ? std::fabs(sum) * 0x1p-8 : 0);
          CHECK((std::isnan(sum) ? std::isnan(got)
                                 : std::fabs(got - sum) <= bound + 1e-6));
        }
      }
}

} // namespace

TEST_CASE("attention on tiles", "[matrix_tiles]") {
  random_source r;
  for (int i = 0; i < 12; ++i) {
    check_attention<32, bf16>(r, random_attention(r), i % 2);
    check_attention<128, bf16>(r, random_attention(r), i % 2);
    check_attention<64, float>(r, random_attention(r), i % 2);
  }
}
