// Tests how units are shared among threads: each unit belongs to exactly one
// thread, and the units of a thread are neighbours in the map.
#include "runtime/routines/units/thread_ranges.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

#include <cstdlib>
#include <set>
#include <tuple>

using namespace nnc;
using namespace nnc_test;

namespace {

struct piece {
  int image, run, first, last;
};

std::vector<piece> pieces_of(int begin, int end, int places, int runs,
                             bool by_place) {
  std::vector<piece> all;
  for_each_run(begin, end, places, runs, by_place,
               [&](int image, int run, int first, int last) {
                 all.push_back({image, run, first, last});
               });
  return all;
}

} // namespace

TEST_CASE("each unit falls to one thread", "[shares]") {
  random_source random;
  for (int i = 0; i < 300; ++i) {
    const int images = random.between(1, 3), places = random.between(1, 9);
    const int runs = random.between(1, 7), threads = random.between(1, 6);
    const bool by_place = i % 2;
    INFO(images << " x " << places << " x " << runs << " for " << threads
                << (by_place ? " by place" : " by run"));
    const int units = images * places * runs;
    std::set<std::tuple<int, int, int>> done;
    for (int t = 0; t < threads; ++t) {
      const int begin = cut(units, t, threads),
                end = cut(units, t + 1, threads);
      int count = 0;
      for (piece p : pieces_of(begin, end, places, runs, by_place)) {
        REQUIRE(p.image < images);
        REQUIRE(p.run < runs);
        REQUIRE(p.first < p.last);
        REQUIRE(p.last <= places);
        count += p.last - p.first;
        for (int place = p.first; place < p.last; ++place)
          REQUIRE(done.emplace(p.image, p.run, place).second);
      }
      REQUIRE(count == end - begin);
    }
    REQUIRE(int(done.size()) == units);
  }
}

TEST_CASE("by place a thread has the same part of the map in each run",
          "[shares]") {
  // Seven places for two threads: of the fourth each has half the runs.
  const std::vector<piece> first = pieces_of(0, 14, 7, 4, true);
  REQUIRE(first.size() == 4);
  for (int run = 0; run < 4; ++run) {
    CHECK(first[run].run == run);
    CHECK(first[run].first == 0);
    CHECK(first[run].last == (run < 2 ? 4 : 3));
  }
  const std::vector<piece> second = pieces_of(14, 28, 7, 4, true);
  REQUIRE(second.size() == 4);
  for (int run = 0; run < 4; ++run) {
    CHECK(second[run].run == run);
    CHECK(second[run].first == (run < 2 ? 4 : 3));
    CHECK(second[run].last == 7);
  }
}

TEST_CASE("by run a thread has runs of its own", "[shares]") {
  const std::vector<piece> first = pieces_of(0, 14, 7, 4, false);
  REQUIRE(first.size() == 2);
  for (int run = 0; run < 2; ++run) {
    CHECK(first[run].run == run);
    CHECK(first[run].first == 0);
    CHECK(first[run].last == 7);
  }
}

TEST_CASE("places are shared where weights are few", "[shares]") {
  // MobileNet v2's 1 x 1 from 64 to 384 channels, and from 160 to 960.
  CHECK(shares_places(64 * 384, (64 + 384) * 14 * 14));
  CHECK_FALSE(shares_places(160 * 960, (160 + 960) * 7 * 7));
  // Depthwise layers go along.
  CHECK(shares_places_of_planes(384, 14 * 14));
  CHECK_FALSE(shares_places_of_planes(960, 7 * 7));
}

TEST_CASE("shares have as many points as each other", "[shares]") {
  random_source random;
  for (int i = 0; i < 500; ++i) {
    const int images = random.between(1, 3), runs = random.between(1, 9);
    const int pixels = random.between(1, 200), tile = random.between(1, 30);
    const int threads = random.between(1, 6);
    const bool by_place = i % 2;
    const int places = ceil_div(pixels, tile);
    INFO(images << " x " << pixels << " in tiles of " << tile << " x " << runs
                << " for " << threads << (by_place ? " by place" : " by run"));
    const auto before = [&](int p) { return smaller(p * tile, pixels); };
    const auto first = [&](int share) {
      return first_of_share(images, places, runs, by_place, share, threads,
                            before);
    };
    REQUIRE(first(0) == 0);
    REQUIRE(first(threads) == images * places * runs);
    for (int t = 0; t < threads; ++t) {
      REQUIRE(first(t) <= first(t + 1));
      int points = 0;
      for (piece p : pieces_of(first(t), first(t + 1), places, runs, by_place))
        points += before(p.last) - before(p.first);
      // Both ends are off by half a tile at most.
      const double even = double(images) * pixels * runs / threads;
      REQUIRE(std::abs(points - even) <= tile + 1);
    }
  }
  // 13 x 13 pixels in seven tiles, of which the last has but one.
  const auto before = [](int p) { return smaller(28 * p, 169); };
  CHECK(first_of_share(1, 7, 4, true, 1, 2, before) == 12);
  CHECK(first_of_share(1, 7, 4, false, 1, 2, before) == 14);
}
