// Tests products with weights that are read as they are stored, of random
// shapes in every form, on floats with vectors of every width and on bytes.
#include "runtime/routines/stored_weights/stored_matmul/entries.h"
#include "runtime/routines/stored_weights/stored_matmul/pairs.h"
#include "runtime/routines/stored_weights/stored_matmul/pattern.h"
#include "runtime/routines/stored_weights/stored_matmul/tile.h"
#include "test/runtime/matmul_test.h"
#include "test/runtime/stored_weights.h"
#include "test/runtime/widths.h"

using namespace nnc;
using namespace nnc_test;

namespace {

/// Returns random weights that have few values. If `sparse`, a part of them is
/// zero.
template <class T>
std::vector<T> pick_weights(random_source &random, int count, bool sparse) {
  const int values = random.between(1, random.between(0, 1) ? 15 : 120);
  const int zeros = sparse ? random.between(0, 40) : 0;
  std::vector<T> weights(static_cast<std::size_t>(count));
  for (T &weight : weights) {
    const int value = random.between(0, values + zeros) % (values + 1);
    weight = random.between(0, values + zeros) > values
                 ? T(0)
                 : static_cast<T>((value % 2 ? -1 : 1) * (value + 1) / 2);
  }
  // Codes and tables have a place for two values at least.
  weights.front() = T(7);
  return weights;
}

stored_matmul_shape shape_of(const stored_weights &w, int m, int n, int k,
                             int order) {
  const decode_shape &d = w.shape;
  return {m,          n,        k,        order,        d.form,
          d.elements, d.block,  d.values, d.value_bits, d.gaps,
          d.gap_bits, d.entries};
}

/// Runs a routine in parts, on memory of exactly the sizes that it needs, and
/// checks the results.
template <class R, class X, class W>
void check(random_source &random, const stored_matmul_shape &s,
           const std::vector<unsigned char> &bytes,
           const std::vector<W> &weights, std::size_t scratch_bytes) {
  INFO("form " << s.form << " order " << s.order << " m " << s.m << " n " << s.n
               << " k " << s.k << " block " << s.block << " values "
               << s.values);
  using Y = conditional_t<is_same<X, float>::value, float, std::int32_t>;
  std::vector<X> x(std::size_t(s.m) * std::size_t(s.k));
  for (X &value : x)
    value = is_same<X, float>::value ? static_cast<X>(random.values(1)[0])
                                     : static_cast<X>(random.between(0, 255));
  // NaN and infinities must reach the result, even though routines skip weights
  // that are zero.
  if (is_same<X, float>::value && random.between(0, 3) == 0)
    x[std::size_t(random.between(0, int(x.size()) - 1))] =
        static_cast<X>(random.between(0, 1) ? NAN : -INFINITY);
  const auto outputs = std::size_t(s.m) * std::size_t(s.n);
  std::vector<Y> y(outputs, Y(77));
  // The copy has no room at its end, so that a sanitizer sees reads beyond it.
  const std::vector<unsigned char> stored(bytes.begin(), bytes.end());
  in_parts(R::units(s), [&](int begin, int end) {
    std::vector<std::uint64_t> scratch(scratch_bytes / 8 + 8);
    auto *at = reinterpret_cast<unsigned char *>(scratch.data());
    R::run(s, x.data(), stored.data(), y.data(), at, none{}, begin, end);
  });
  for (int row = 0; row < s.m; ++row)
    for (int n = 0; n < s.n; ++n) {
      double sum = 0, size = 0;
      for (int k = 0; k < s.k; ++k) {
        const double a = double(x[std::size_t(row) * s.k + k]),
                     b = double(weights[std::size_t(stored_place(s, n, k))]);
        sum += a * b;
        size += a * b < 0 ? -a * b : a * b;
      }
      const double got = double(y[std::size_t(row) * s.n + n]);
      const double bound = is_same<X, float>::value
                               ? error_bound<float>(float(s.k), float(size))
                               : 0.;
      if (!std::isfinite(sum)) {
        INFO("row " << row << " column " << n << ": got " << got);
        REQUIRE(!std::isfinite(got));
        continue;
      }
      if (!(std::fabs(got - sum) <= bound)) {
        INFO("row " << row << " column " << n << ": got " << got << ", want "
                    << sum);
        REQUIRE(std::fabs(got - sum) <= bound);
      }
    }
}

/// Returns a random length of rows: short, odd, several blocks, or a tile and a
/// remainder.
int pick_length(random_source &random, bool in_eights) {
  const int lengths[] = {random.between(1, 40), random.between(1, 300),
                         2 * random.between(1500, 2300)};
  const int k = lengths[random.between(0, 5) ? random.between(0, 1) : 2];
  return in_eights ? (k + 7) / 8 * 8 : k;
}

/// Returns the number of elements of a block: half a row, a row, or several
/// rows.
int block_of(random_source &random, int n, int k) {
  if (k % 2 == 0 && (k > stored_tile || random.between(0, 2) == 0))
    return k / 2;
  const int rows = random.between(1, n);
  return rows * k <= stored_tile ? rows * k : k;
}

template <template <class, class, int> class Decoder, int W, class X, class T>
void check_tile(random_source &random, int form) {
  const int m = random.between(1, random.between(0, 3) ? 3 : 40);
  const int n = random.between(1, 11);
  const int k = pick_length(random, form == decode_codes);
  const std::vector<T> weights = pick_weights<T>(random, n * k, false);
  const stored_weights stored = store_weights(
      form, weights, form == decode_codes ? n * k : block_of(random, n, k));
  const stored_matmul_shape s = shape_of(stored, m, n, k, stored_rows);
  REQUIRE(stored_tile_applies(s));
  check<stored_matmul_tile_t<Decoder, W, stored_matmul_shape, none>, X>(
      random, s, stored.bytes, weights,
      std::size_t(stored_tile_scratch(s, sizeof(T))));
}

template <template <class, class> class Entries, int W, class X, class T>
void check_entries(random_source &random, int form) {
  const int m = random.between(1, 2 * W + 1), n = random.between(1, 11);
  const int k = pick_length(random, false);
  const std::vector<T> weights = pick_weights<T>(random, n * k, true);
  const stored_weights stored =
      store_weights(form, weights, block_of(random, n, k));
  const stored_matmul_shape s = shape_of(stored, m, n, k, stored_rows);
  REQUIRE(stored_entries_apply(s));
  check<stored_matmul_entries_t<Entries, W, stored_matmul_shape, none>, X>(
      random, s, stored.bytes, weights,
      std::size_t(stored_entries_scratch(s, W)));
}

/// Returns random weights of which at most `kept` in each group of `group` are
/// not zero.
template <class T>
std::vector<T> pick_pattern(random_source &random, int count, int group,
                            int kept) {
  std::vector<T> weights(static_cast<std::size_t>(count));
  for (int first = 0; first < count; first += group)
    for (int i = 0; i < kept; ++i)
      weights[std::size_t(first + random.between(0, group - 1))] =
          static_cast<T>(random.between(-60, 60));
  return weights;
}

/// The routine for patterns with the signature of the other routines, though it
/// needs no scratch.
template <int W> struct pattern_product {
  using routine = stored_matmul_pattern_t<W, stored_matmul_shape, none>;

  static int units(const stored_matmul_shape &s) { return routine::units(s); }
  template <class X, class Y>
  static void run(const stored_matmul_shape &s, const X *x,
                  const unsigned char *w, Y *y, unsigned char *,
                  const none &epi, int begin, int end) {
    routine::run(s, x, w, y, epi, begin, end);
  }
};

template <int W, class X, class T> void check_pattern(random_source &random) {
  const int group = 2 << random.between(0, 3);
  // A half, a quarter, or any number.
  const int kept = std::max(1, random.between(0, 2) == 0
                                   ? random.between(1, group - 1)
                                   : group / (2 * random.between(1, 2)));
  const int m = random.between(1, 3), n = random.between(1, 11);
  const int k = group * random.between(1, random.between(0, 3) ? 24 : 200);
  const std::vector<T> weights = pick_pattern<T>(random, n * k, group, kept);
  std::vector<T> values(1, T(0));
  if (random.between(0, 2) == 0) {
    values = weights;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    values.erase(std::remove(values.begin(), values.end(), T(0)), values.end());
    values.push_back(T(0));
  }
  const stored_weights stored = store_pattern(weights, group, values);
  const stored_matmul_shape s = shape_of(stored, m, n, k, stored_rows);
  REQUIRE(stored_pattern_applies(s));
  check<pattern_product<W>, X>(random, s, stored.bytes, weights, 0);
}

} // namespace

TEMPLATE_TEST_CASE("products of floats with stored weights", "[stored]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  for (int i = 0; i < 60; ++i) {
    check_tile<stored_codes, W, float, float>(random, decode_codes);
    check_tile<stored_huffman, W, float, float>(random, decode_huffman);
    check_entries<stored_plain_entries, W, float, float>(random,
                                                         decode_entries);
    check_entries<stored_huffman_entries, W, float, float>(
        random, decode_huffman_entries);
    check_entries<stored_literal_entries, W, float, float>(random,
                                                           decode_literals);
    check_pattern<W, float, float>(random);
    check_pattern<W, float, float>(random);
    check_pattern<1, float, float>(random);
    check_entries<stored_literal_entries, 1, float, float>(random,
                                                           decode_literals);
    check_entries<stored_plain_entries, 1, float, float>(random,
                                                         decode_entries);
    check_entries<stored_huffman_entries, 1, float, float>(
        random, decode_huffman_entries);
  }
}

TEMPLATE_TEST_CASE("products of bytes with stored weights", "[stored]",
                   std::int8_t, std::uint8_t) {
  random_source random;
  for (int i = 0; i < 60; ++i) {
    check_tile<stored_codes, 4, TestType, std::int8_t>(random, decode_codes);
    check_tile<stored_huffman, 4, TestType, std::int8_t>(random,
                                                         decode_huffman);
    check_entries<stored_plain_entries, 1, TestType, std::int8_t>(
        random, decode_entries);
    check_entries<stored_huffman_entries, 1, TestType, std::int8_t>(
        random, decode_huffman_entries);
    check_entries<stored_literal_entries, 1, TestType, std::int8_t>(
        random, decode_literals);
    check_pattern<1, TestType, std::int8_t>(random);
  }
}

TEST_CASE("products of bytes with pairs of codes", "[stored]") {
  random_source random;
  for (int i = 0; i < 100; ++i) {
    const int n = random.between(1, 19), k = 4 * random.between(1, 40);
    // Twelve or sixteen values: codes have four bits and begin with a word.
    std::vector<std::int8_t> weights(
        std::size_t(stored_elements(stored_quads, n, k)));
    const int values = 4 * random.between(3, 4);
    for (std::size_t j = 0; j < weights.size(); ++j)
      weights[j] = static_cast<std::int8_t>(
          (j < 16 ? int(j) % values : random.between(0, values - 1)) * 15 -
          128);
    const stored_weights stored =
        store_weights(decode_codes, weights, int(weights.size()));
    const stored_matmul_shape s =
        shape_of(stored, random.between(1, 3), n, k, stored_quads);
    REQUIRE(stored_pairs_apply(s));
    check<stored_matmul_i32_pairs_armdsp<stored_matmul_shape, none>,
          std::int8_t>(random, s, stored.bytes, weights, stored_pairs_scratch);
  }
}
