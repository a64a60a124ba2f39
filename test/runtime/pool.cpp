// Tests the built-in pool and launch(): each unit runs once with any number of
// threads, results are visible to the caller, and threads sleep, wake, restart
// and stay on one core. The test is built with and without ThreadSanitizer.
#include "runtime/pool.h"
#include "runtime/epilogue.h"
#include "runtime/parallel.h"
#include "runtime/routines/reduction/reduce/shape.h"
#include "test/runtime/check.h"

#include <time.h>
#include <utility>
#include <vector>

using namespace nnc;

namespace {

/// A routine that adds 1 + j to element j of each unit, so that each unit must
/// run once.
struct touch {
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &s, int *y, none, int begin, int end) {
    for (int i = begin; i < end; ++i)
      for (int j = 0; j < s.size; ++j)
        y[i * s.size + j] += 1 + j;
  }
};

/// A routine that sums up each unit in scratch, which fails if another thread
/// writes there.
struct sum_up {
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &s, int *y, unsigned char *scratch, none,
                  int begin, int end) {
    for (int i = begin; i < end; ++i) {
      for (int j = 0; j < s.size; ++j)
        scratch[j] = static_cast<unsigned char>(i + j);
      for (int j = 0; j < s.size; ++j)
        y[i] += scratch[j];
    }
  }
};

/// A routine whose units share one scratch, and whose result, the sum of what
/// they write, finish() computes.
struct sum_of_units {
  static constexpr bool has_finish = true;
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &, int *, unsigned char *scratch, none,
                  int begin, int end) {
    for (int i = begin; i < end; ++i)
      scratch[i] += static_cast<unsigned char>(1 + i);
  }
  static void finish(const reduce_shape &s, int *y, unsigned char *scratch,
                     none) {
    for (int i = 0; i < s.outer; ++i)
      *y += std::exchange(scratch[i], 0);
  }
};

/// A routine that has one unit for each thread.
struct count_threads {
  static int units(const reduce_shape &s, int threads = 1) {
    return threads < s.outer ? threads : s.outer;
  }
  static void run(const reduce_shape &, int *y, none, int begin, int end,
                  int threads = 1) {
    for (int i = begin; i < end; ++i)
      y[i] += threads;
  }
};

/// Checks that each thread of the pool is called once in each of many runs.
void check_numbers(const nnc_pool &pool) {
  int calls[4] = {};
  for (int round = 1; round <= 1000; ++round) {
    pool.run(
        pool.context,
        [](void *argument, int thread, int count) {
          static_cast<int *>(argument)[thread] += count;
        },
        calls);
    for (int t = 0; t < pool.threads; ++t)
      if (calls[t] != round * pool.threads)
        REQUIRE(calls[t] == round * pool.threads);
  }
}

void sleep_milliseconds(int ms) {
  timespec t{0, ms * 1000000L};
  nanosleep(&t, nullptr);
}

} // namespace

TEST_CASE("launch runs every unit once on any number of threads", "[pool]") {
  thread_pool<5> threads;
  for (int n : {1, 2, 3, 5, 9}) {
    const nnc_pool pool = threads.start(n);
    REQUIRE(pool.threads >= 1);
    REQUIRE(pool.threads <= (n < 5 ? n : 5));
    for (int units : {0, 1, 2, 4, 7, 100}) {
      const reduce_shape s{units, 3, 1};
      std::vector<int> seen(units * 3), want(units * 3);
      const int rounds = 50;
      for (int round = 0; round < rounds; ++round)
        launch<touch>(&pool, s, seen.data(), none{});
      for (int i = 0; i < units * 3; ++i)
        want[i] = rounds * (1 + i % 3);
      REQUIRE(seen == want);
    }
  }
}

TEST_CASE("launch gives each thread scratch of its own", "[pool]") {
  thread_pool<20> threads;
  constexpr int size = 64, last = 0x5a;
  std::vector<unsigned char> scratch(size * NNC_THREADS + 1, last);
  for (int n : {1, 2, 3, 20}) {
    const nnc_pool pool = threads.start(n);
    for (int units : {0, 1, 2, 7, 100}) {
      std::vector<int> got(units), want(units);
      const int rounds = 20;
      for (int round = 0; round < rounds; ++round)
        launch<sum_up>(&pool, reduce_shape{units, size, 1}, got.data(),
                       scratch_memory{scratch.data(), size * NNC_THREADS},
                       none{});
      for (int i = 0; i < units; ++i)
        want[i] = rounds * (size * i + size * (size - 1) / 2);
      REQUIRE(got == want);
    }
  }
  REQUIRE(scratch.back() == last);
}

TEST_CASE("launch finishes when the units of all threads are done", "[pool]") {
  thread_pool<20> threads;
  for (int n : {1, 2, 3, 20}) {
    const nnc_pool pool = threads.start(n);
    for (int units : {0, 1, 2, 7, 20}) {
      std::vector<unsigned char> scratch(units + 1);
      const int rounds = 50;
      int sum = 0;
      for (int round = 0; round < rounds; ++round)
        launch<sum_of_units>(&pool, reduce_shape{units, 1, 1}, &sum,
                             scratch_memory{scratch.data(), units}, none{});
      REQUIRE(sum == rounds * units * (units + 1) / 2);
    }
  }
}

TEST_CASE("launch tells a routine for how many threads to cut", "[pool]") {
  thread_pool<5> threads;
  for (int n : {1, 3, 5}) {
    const nnc_pool pool = threads.start(n);
    for (int most : {1, 2, 9}) {
      const int units = pool.threads < most ? pool.threads : most;
      std::vector<int> got(units);
      launch<count_threads>(&pool, reduce_shape{most, 1, 1}, got.data(),
                            none{});
      REQUIRE(got == std::vector<int>(units, units > 1 ? pool.threads : 1));
    }
  }
}

TEST_CASE("each thread gets its number once", "[pool]") {
  thread_pool<4> threads;
  check_numbers(threads.start(4));
}

TEST_CASE("the caller takes over from workers that get no core", "[pool]") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  // Workers started now share this core, too.
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  thread_pool<4> threads;
  check_numbers(threads.start(4));
  threads.stop();
  REQUIRE(sched_setaffinity(0, sizeof(all), &all) == 0);
}

TEST_CASE("workers that fell asleep wake for the next work", "[pool]") {
  thread_pool<3> threads;
  const nnc_pool pool = threads.start(3);
  std::vector<int> seen(9);
  for (int round = 1; round <= 20; ++round) {
    launch<touch>(&pool, reduce_shape{9, 1, 1}, seen.data(), none{});
    REQUIRE(seen == std::vector<int>(9, round));
    sleep_milliseconds(round % 4 * 3);
  }
}

TEST_CASE("a pool may stop and start again", "[pool]") {
  thread_pool<3> threads;
  threads.stop();
  std::vector<int> seen(10);
  for (int round = 1; round <= 20; ++round) {
    const nnc_pool pool = threads.start(1 + round % 3);
    launch<touch>(&pool, reduce_shape{10, 1, 1}, seen.data(), none{});
    if (round % 5 == 0)
      sleep_milliseconds(5);
    threads.stop();
    REQUIRE(seen == std::vector<int>(10, round));
  }
}

#if defined(__linux__)
namespace {

/// Returns the cores that the calling thread may run on.
std::vector<int> get_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set))
      cores.push_back(core);
  return cores;
}

} // namespace

TEST_CASE("threads of a pinned pool stay on a core each", "[pool]") {
  const std::vector<int> all = get_cores();
  REQUIRE(!all.empty());
  thread_pool<4> threads;
  for (int n : {1, 2, 4}) {
    const nnc_pool pool = threads.start(n, pinning::cores);
    std::vector<std::vector<int>> seen(4);
    pool.run(
        pool.context,
        [](void *argument, int thread, int) {
          (*static_cast<decltype(seen) *>(argument))[thread] = get_cores();
        },
        &seen);
    // The caller does what a worker has not begun.
    for (int t = 0; t < pool.threads; ++t)
      REQUIRE((seen[t] == std::vector<int>{all[t % all.size()]} ||
               seen[t] == std::vector<int>{all[0]}));
    threads.stop();
    REQUIRE(get_cores() == all);
  }
  threads.start(2, pinning::cores);
  threads.start(2);
  REQUIRE(get_cores() == all);
}
#endif

TEST_CASE("no pool is one thread", "[pool]") {
  std::vector<int> seen(4);
  launch<touch>(nullptr, reduce_shape{4, 1, 1}, seen.data(), none{});
  REQUIRE(seen == std::vector<int>(4, 1));
}
