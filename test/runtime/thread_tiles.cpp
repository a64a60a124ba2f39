// Tests that launch() configures and releases the tiles of each thread that
// runs units of a routine which uses them, on one thread, on the built-in pool
// and on a pool that runs work of others. A flag of each thread stands for its
// tiles.
#include "runtime/epilogue.h"
#include "runtime/parallel.h"
#include "runtime/pool.h"
#include "runtime/routines/reduction/reduce/shape.h"
#include "test/runtime/check.h"

#include <atomic>
#include <vector>

using namespace nnc;

namespace {
/// The state of the thread's tiles, and how often they have been configured.
thread_local bool configured = false;
std::atomic<int> configurations{0};
} // namespace

namespace nnc {
/// Stands for that of simd/amx.h.
template <> struct thread_tiles<true> {
  thread_tiles() { configure(); }
  ~thread_tiles() { configured = false; }
  static void configure() {
    configured = true;
    ++configurations;
  }
};
} // namespace nnc

namespace {

/// A routine that writes 1 for each unit that runs with configured tiles.
struct with_tiles {
  static constexpr bool uses_tiles = true;
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &, int *y, none, int begin, int end) {
    for (int i = begin; i < end; ++i)
      y[i] += configured;
  }
};

/// One that does not use them.
struct without_tiles {
  static int units(const reduce_shape &s) { return s.outer; }
  static void run(const reduce_shape &, int *y, none, int begin, int end) {
    for (int i = begin; i < end; ++i)
      y[i] += configured;
  }
};

/// A pool that calls all tasks on the caller's thread, the last one first, and
/// between them work of others, which releases the tiles.
void run_backwards(void *, nnc_task task, void *argument) {
  for (int thread = 3; thread-- > 0;) {
    configured = false;
    task(argument, thread, 3);
  }
  configured = false;
}

/// The number of units of R that found configured tiles.
template <class R> int count(pool p, int units) {
  std::vector<int> y(size_t(units), 0);
  launch<R>(p, reduce_shape{units, 1, 1}, y.data(), none{});
  int sum = 0;
  for (int value : y)
    sum += value;
  return sum;
}

} // namespace

TEST_CASE("Tiles are configured on each thread that multiplies them") {
  for (int threads : {1, 2, 5}) {
    thread_pool<5> built_in;
    nnc_pool p = built_in.start(threads);
    for (int units : {1, 2, 3, 64}) {
      INFO(threads << " threads, " << units << " units");
      configured = false;
      CHECK(count<with_tiles>(&p, units) == units);
    }
    // No worker keeps them, and other routines do not need them.
    configured = false;
    configurations = 0;
    CHECK(count<without_tiles>(&p, 64) == 0);
    CHECK(configurations == 0);
  }
}

TEST_CASE("Tiles are configured after work of others on the caller's thread") {
  nnc_pool p = {3, nullptr, run_backwards};
  CHECK(count<with_tiles>(&p, 64) == 64);
  CHECK(!configured);
  // A layer that is too small for the pool runs on the caller's thread alone.
  CHECK(count<with_tiles>(&p, 1) == 1);
  configured = false;
  CHECK(count<with_tiles>(nullptr, 64) == 64);
}
