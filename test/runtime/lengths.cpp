// Tests routines whose results have data-dependent sizes against their
// definitions.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/lengths/distinct/portable.h"
#include "runtime/routines/lengths/nonzero/portable.h"
#include "runtime/routines/lengths/suppress/portable.h"
#include "test/runtime/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(381);

int draw(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(source);
}
double real(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(source);
}

using list = std::vector<std::int64_t>;

template <class T> void check_find() {
  for (int round = 0; round < 60; ++round) {
    const nonzero_shape s{draw(0, 40)};
    const int share = draw(0, 4);
    std::vector<T> x(std::size_t(s.size));
    for (T &value : x)
      value = static_cast<T>(draw(0, 4) < share ? draw(1, 3) : 0);
    list expected = {0};
    for (int i = 0; i < s.size; ++i)
      if (x[std::size_t(i)] != T(0))
        expected.push_back(i);
    expected[0] = std::int64_t(expected.size()) - 1;
    expected.resize(std::size_t(s.size) + 1);
    list y(std::size_t(s.size) + 1, -1);
    nonzero_portable<nonzero_shape, none>::run(s, x.data(), y.data(), none{}, 0,
                                               1);
    REQUIRE(y == expected);
  }
}

/// Finds the distinct rows by the definition: each row is compared with all
/// distinct rows before it.
template <class T>
list find_distinct(const distinct_shape &s, const std::vector<T> &x) {
  auto is_like = [](T a, T b) { return a == b || (a != a && b != b); };
  auto is_less = [](T a, T b) { return a == a && (b != b || a < b); };
  auto at = [&](std::int64_t row, int column) {
    return x[std::size_t(row * s.columns + column)];
  };
  list firsts;
  for (int row = 0; row < s.rows; ++row) {
    auto is_row = [&](std::int64_t other) {
      for (int i = 0; i < s.columns; ++i)
        if (!is_like(at(row, i), at(other, i)))
          return false;
      return true;
    };
    if (std::none_of(firsts.begin(), firsts.end(), is_row))
      firsts.push_back(row);
  }
  if (s.sorted)
    std::sort(firsts.begin(), firsts.end(),
              [&](std::int64_t a, std::int64_t b) {
                for (int i = 0; i < s.columns; ++i)
                  if (!is_like(at(a, i), at(b, i)))
                    return is_less(at(a, i), at(b, i));
                return false;
              });
  list groups, counts(std::size_t(s.rows));
  for (int row = 0; row < s.rows; ++row)
    for (std::size_t group = 0; group < firsts.size(); ++group) {
      bool is_own = true;
      for (int i = 0; i < s.columns; ++i)
        is_own = is_own && is_like(at(row, i), at(firsts[group], i));
      if (!is_own)
        continue;
      groups.push_back(std::int64_t(group));
      ++counts[group];
    }
  list result = {std::int64_t(firsts.size())};
  firsts.resize(std::size_t(s.rows));
  for (const list &part : {firsts, groups, counts})
    result.insert(result.end(), part.begin(), part.end());
  return result;
}

template <class T> void check_distinct() {
  for (int round = 0; round < 100; ++round) {
    const distinct_shape s{draw(0, 30), draw(1, 3), draw(0, 1)};
    std::vector<T> x(std::size_t(s.rows * s.columns));
    const int most = draw(0, 4);
    for (T &value : x) {
      value = static_cast<T>(draw(0, most));
      if (!std::numeric_limits<T>::is_integer && draw(0, 9) == 0)
        value = std::numeric_limits<T>::quiet_NaN();
    }
    list y(std::size_t(1 + 3 * s.rows), -1);
    distinct_portable<distinct_shape, none>::run(s, x.data(), y.data(), none{},
                                                 0, 1);
    REQUIRE(y == find_distinct(s, x));
  }
}

struct suppression {
  suppress_shape s;
  std::vector<float> boxes, scores;
  std::int64_t limit;
  float overlap, least;
};

/// Non-maximum suppression by its definition: each candidate, in order of
/// scores, is compared with all boxes that were selected.
list suppress(const suppression &given) {
  const suppress_shape &s = given.s;
  list triples;
  for (int batch = 0; batch < s.batches; ++batch)
    for (int kind = 0; kind < s.classes; ++kind) {
      auto score = [&](int box) {
        return given
            .scores[std::size_t((batch * s.classes + kind) * s.boxes + box)];
      };
      auto corners = [&](int box) {
        const float *b =
            given.boxes.data() + (std::size_t(batch * s.boxes + box)) * 4;
        std::vector<float> c(b, b + 4);
        if (s.centered)
          c = {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2,
               b[0] + b[2] / 2};
        return std::vector<float>{std::min(c[0], c[2]), std::min(c[1], c[3]),
                                  std::max(c[0], c[2]), std::max(c[1], c[3])};
      };
      std::vector<int> order;
      for (int box = 0; box < s.boxes; ++box)
        if (score(box) > given.least)
          order.push_back(box);
      std::sort(order.begin(), order.end(), [&](int a, int b) {
        return score(a) != score(b) ? score(a) > score(b) : a < b;
      });
      std::vector<int> taken;
      for (int box : order) {
        if (std::int64_t(taken.size()) >=
            std::min<std::int64_t>(given.limit, s.most))
          break;
        const bool is_apart =
            std::none_of(taken.begin(), taken.end(), [&](int other) {
              const auto a = corners(box), b = corners(other);
              const float height = std::min(a[2], b[2]) - std::max(a[0], b[0]),
                          width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
              if (height <= 0 || width <= 0)
                return false;
              const float both = height * width,
                          of_a = (a[2] - a[0]) * (a[3] - a[1]),
                          of_b = (b[2] - b[0]) * (b[3] - b[1]);
              return both / (of_a + of_b - both) > given.overlap;
            });
        if (!is_apart)
          continue;
        taken.push_back(box);
        triples.insert(triples.end(), {batch, kind, box});
      }
    }
  list result = {std::int64_t(triples.size() / 3)};
  result.insert(result.end(), triples.begin(), triples.end());
  result.resize(std::size_t(1 + 3 * s.batches * s.classes * s.most));
  return result;
}

} // namespace

TEST_CASE("find gives the positions of elements that are not zero") {
  check_find<float>();
  check_find<std::int8_t>();
  check_find<std::int64_t>();
  check_find<std::uint8_t>();
}

TEST_CASE("NaN is found, and minus zero is not") {
  const float x[] = {-0.0f, std::numeric_limits<float>::quiet_NaN(), 0, -1};
  std::int64_t y[5];
  nonzero_portable<nonzero_shape, none>::run(nonzero_shape{4}, x, y, none{}, 0,
                                             1);
  REQUIRE(list(y, y + 5) == list{2, 1, 3, 0, 0});
}

TEST_CASE("distinct gives rows, their groups and their numbers") {
  check_distinct<float>();
  check_distinct<double>();
  check_distinct<std::uint8_t>();
  check_distinct<std::int64_t>();
}

TEST_CASE("suppress takes the boxes of its definition") {
  for (int round = 0; round < 200; ++round) {
    const int boxes = draw(0, 30);
    suppression given{
        {draw(1, 2), draw(1, 3), boxes, draw(0, boxes), draw(0, 1)},
        {},
        {},
        draw(-1, 31),
        static_cast<float>(real(0, 0.9)),
        static_cast<float>(real(-0.5, 0.5))};
    const suppress_shape &s = given.s;
    for (int i = 0; i < s.batches * boxes * 4; ++i)
      given.boxes.push_back(
          static_cast<float>(draw(0, 1) ? real(0, 3) : draw(0, 3)));
    for (int i = 0; i < s.batches * s.classes * boxes; ++i)
      given.scores.push_back(static_cast<float>(draw(-5, 10)) / 10);
    list y(std::size_t(1 + 3 * s.batches * s.classes * s.most), -1);
    std::vector<int> scratch(std::size_t(boxes) + 1);
    suppress_portable<suppress_shape, none>::run(
        s, given.boxes.data(), given.scores.data(), &given.limit,
        &given.overlap, &given.least, y.data(),
        reinterpret_cast<unsigned char *>(scratch.data()), none{}, 0, 1);
    REQUIRE(y == suppress(given));
  }
}
