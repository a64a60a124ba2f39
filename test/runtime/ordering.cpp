// Tests cumulative sums, the k largest elements, scatters and sampled images of
// random shapes against their definitions.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/moves/scatter/portable.h"
#include "runtime/routines/ordering/top_k/portable.h"
#include "runtime/routines/reduction/scan/portable.h"
#include "runtime/routines/resampling/grid_sample/portable.h"
#include "test/runtime/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(17);

int draw(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(source);
}
/// Returns small random integers, so that sums are exact and many elements are
/// equal.
template <class T> std::vector<T> integers(std::size_t count, int size) {
  std::vector<T> v(count);
  for (T &x : v)
    x = static_cast<T>(draw(-size, size));
  return v;
}

template <class R, class S, class... A> void run(const S &s, A... args) {
  // In two parts, as by two threads.
  const int units = R::units(s), half = units / 2;
  R::run(s, args..., none{}, 0, half);
  R::run(s, args..., none{}, half, units);
}

template <class T> void check_scan() {
  for (int round = 0; round < 40; ++round) {
    const cumsum_shape s{draw(1, 4), draw(0, 9), draw(1, 5), draw(0, 1),
                         draw(0, 1)};
    const std::size_t count = std::size_t(s.outer * s.size * s.inner);
    const std::vector<T> x = integers<T>(count, 3);
    std::vector<T> sums(count), products(count);
    run<cumsum_portable<cumsum_shape, none>>(s, x.data(), sums.data());
    run<cumprod_portable<cumprod_shape, none>>(s, x.data(), products.data());
    for (int o = 0; o < s.outer; ++o)
      for (int i = 0; i < s.size; ++i)
        for (int j = 0; j < s.inner; ++j) {
          T sum = 0, product = 1;
          for (int k = 0; k < s.size; ++k) {
            const bool is_own = k == i && !s.exclusive;
            if (!is_own && !(s.reverse ? k > i : k < i))
              continue;
            const T v = x[std::size_t((o * s.size + k) * s.inner + j)];
            sum = static_cast<T>(sum + v);
            product = static_cast<T>(product * v);
          }
          const auto at = std::size_t((o * s.size + i) * s.inner + j);
          REQUIRE(sums[at] == sum);
          REQUIRE(products[at] == product);
        }
  }
}

template <class T> void check_top_k() {
  for (int round = 0; round < 60; ++round) {
    const int size = draw(1, 40);
    const top_k_shape s{draw(1, 3), size, draw(1, 4), draw(0, size),
                        draw(0, 1)};
    const std::vector<T> x =
        integers<T>(std::size_t(s.outer * s.size * s.inner), 5);
    std::vector<std::int64_t> y(std::size_t(s.outer * s.count * s.inner), -1);
    run<top_k_portable<top_k_shape, none>>(s, x.data(), y.data());
    for (int o = 0; o < s.outer; ++o)
      for (int j = 0; j < s.inner; ++j) {
        auto at = [&](int i) {
          return x[std::size_t((o * s.size + i) * s.inner + j)];
        };
        std::vector<int> order(std::size_t(s.size));
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int a, int b) {
          if (at(a) != at(b))
            return s.largest ? at(a) > at(b) : at(a) < at(b);
          return a < b;
        });
        for (int i = 0; i < s.count; ++i)
          REQUIRE(y[std::size_t((o * s.count + i) * s.inner + j)] ==
                  order[std::size_t(i)]);
      }
  }
}

} // namespace

TEST_CASE("cumsum and cumprod add and multiply up to each element") {
  check_scan<float>();
  check_scan<double>();
  check_scan<std::int64_t>();
  check_scan<std::uint8_t>();
}

TEST_CASE("top_k gives the order of a stable sort") {
  check_top_k<float>();
  check_top_k<std::int8_t>();
  check_top_k<std::int64_t>();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {1, nan, 3, 2, nan};
  std::int64_t y[5];
  run<top_k_portable<top_k_shape, none>>(top_k_shape{1, 5, 1, 5, 1}, x, y);
  const std::int64_t falling[] = {2, 3, 0, 1, 4};
  CHECK(std::equal(y, y + 5, falling));
  run<top_k_portable<top_k_shape, none>>(top_k_shape{1, 5, 1, 5, 0}, x, y);
  const std::int64_t rising[] = {0, 3, 2, 1, 4};
  CHECK(std::equal(y, y + 5, rising));
}

TEST_CASE("scatter joins updates in their order, and leaves out bad places") {
  for (int round = 0; round < 60; ++round) {
    const scatter_shape s{draw(1, 6), draw(1, 5), draw(0, 12), draw(0, 4)};
    const std::vector<float> x =
        integers<float>(std::size_t(s.size * s.inner), 9);
    const std::vector<float> updates =
        integers<float>(std::size_t(s.count * s.inner), 9);
    std::vector<std::int64_t> positions;
    for (int i = 0; i < s.count; ++i)
      positions.push_back(draw(-1, s.size));
    std::vector<float> want = x, y(x.size(), -99);
    for (int i = 0; i < s.count; ++i)
      for (int j = 0; j < s.inner; ++j) {
        const std::int64_t place = positions[std::size_t(i)];
        if (place < 0 || place >= s.size)
          continue;
        float &old =
            want[std::size_t(place) * std::size_t(s.inner) + std::size_t(j)];
        const float update = updates[std::size_t(i * s.inner + j)];
        const float joined[] = {update, old + update, old * update,
                                std::max(old, update), std::min(old, update)};
        old = joined[s.kind];
      }
    run<scatter_portable<scatter_shape, none>>(s, x.data(), positions.data(),
                                               updates.data(), y.data());
    REQUIRE(y == want);
    // In place.
    std::vector<float> own = x;
    run<scatter_portable<scatter_shape, none>>(s, own.data(), positions.data(),
                                               updates.data(), own.data());
    REQUIRE(own == want);
  }
}

TEST_CASE("grid_sample reads only elements of the image") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float places[] = {inf, -inf, nan, 1e30f, -1e30f, 0, -1, 1, 3, -7.5f};
  for (int rank = 2; rank <= 3; ++rank)
    for (int mode = 0; mode < 3; ++mode)
      for (int padding = 0; padding < 3; ++padding)
        for (int align = 0; align < 2; ++align) {
          const int deep = rank == 3 ? 2 : 1;
          const grid_sample_shape s{rank, 1,  2,  deep, 3,       4,
                                    1,    10, 10, mode, padding, align};
          // Elements around the image would show in the results.
          std::vector<float> x(std::size_t(2 * deep * 12) + 200, nan);
          for (int i = 0; i < 2 * deep * 12; ++i)
            x[std::size_t(100 + i)] = float(i % 7);
          std::vector<float> grid, y(200);
          for (float row : places)
            for (float column : places) {
              grid.push_back(column);
              grid.push_back(row);
              if (rank == 3)
                grid.push_back(column);
            }
          run<grid_sample_portable<grid_sample_shape, none>>(
              s, x.data() + 100, grid.data(), y.data());
          for (float v : y)
            REQUIRE(std::isfinite(v));
        }
}
