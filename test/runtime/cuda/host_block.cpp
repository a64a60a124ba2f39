// Checks that the CPU's block policy finds what a GPU would leave undefined,
// whatever the order of threads, and that its collective calls are exact.
#include "test/runtime/check.h"

#include "runtime/cuda/host_block.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace nnc;

namespace {

constexpr int threads = 64, shared_bytes = 1024;
alignas(16) int global_memory[threads];
alignas(16) const int constant_memory[threads] = {1, 2, 3, 4};

/// Runs a kernel of one block in the order of `seed`.
template <class F> std::string run(std::uint64_t seed, F kernel) {
  host_grid<80> grid(seed);
  grid.may_read(constant_memory, sizeof(constant_memory));
  grid.may_write(global_memory, sizeof(global_memory));
  return grid.launch({1, 1, 1}, threads, shared_bytes, [&](auto &b) {
    b.wait_for_inputs();
    kernel(b);
  });
}
/// Checks that the kernel has no error in any order, or always the one that
/// contains `what`.
template <class F> void check_error(const std::string &what, F kernel) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string error = run(seed, kernel);
    INFO("error: " << error);
    if (what.empty())
      CHECK(error == "");
    else
      CHECK(error.find(what) != std::string::npos);
  }
}

template <class B> shared_address word(B &b, int i) {
  return b.shared_base() + 4 * static_cast<unsigned>(i);
}

} // namespace

TEST_CASE("threads exchange words of shared memory around a barrier") {
  check_error("", [](auto &b) {
    const int t = b.thread(), other = threads - 1 - t;
    b.store_shared(word(b, t), t * 3);
    b.barrier();
    const int got = b.template load_shared<int>(word(b, other));
    b.store_global(global_memory + t, got);
  });
  for (int t = 0; t < threads; ++t)
    CHECK(global_memory[t] == (threads - 1 - t) * 3);
}

TEST_CASE("a race is found in every order of threads") {
  check_error("since the last barrier", [](auto &b) {
    b.store_shared(word(b, b.thread()), 1);
    b.barrier();
    if (b.thread() == 5)
      b.template load_shared<int>(word(b, 40));
    if (b.thread() == 40)
      b.store_shared(word(b, 40), 2);
  });
  check_error("another thread wrote",
              [](auto &b) { b.store_shared(word(b, b.thread() / 2), 1); });
}

TEST_CASE("reads of shared memory without content are found") {
  check_error("nothing has written", [](auto &b) {
    b.template load_shared<int>(word(b, b.thread()));
  });
}

TEST_CASE("accesses of shared memory out of bounds are found") {
  check_error("outside of the block's bytes", [](auto &b) {
    b.store_shared(b.shared_base() + shared_bytes - 4 + 4u * b.thread(), 1);
  });
  check_error("outside of the block's bytes",
              [](auto &b) { b.store_shared(0, b.thread()); });
  check_error("not aligned", [](auto &b) {
    b.store_shared(b.shared_base() + 2 + 4u * b.thread(), 1);
  });
}

TEST_CASE("copies arrive at the wait, and not before") {
  const auto *from = reinterpret_cast<const char *>(constant_memory);
  const auto copy = [=](auto &b, bool valid) {
    b.copy_async(word(b, 4 * b.thread() % 64), from + 16 * (b.thread() % 16),
                 valid);
  };
  check_error("", [=](auto &b) {
    if (b.thread() < 16)
      copy(b, true);
    b.commit_copies();
    b.template wait_copies<0>();
    b.barrier();
    b.store_global(global_memory + b.thread(),
                   b.template load_shared<int>(word(b, b.thread())));
  });
  CHECK(global_memory[3] == 4);
  check_error("a copy is on its way", [=](auto &b) {
    if (b.thread() < 16)
      copy(b, true);
    b.commit_copies();
    b.template wait_copies<1>();
    b.barrier();
    b.template load_shared<int>(word(b, b.thread()));
    b.template wait_copies<0>();
  });
  check_error("before its copies have arrived", [=](auto &b) {
    if (b.thread() < 16)
      copy(b, false);
  });
  check_error("reads shared memory that", [=](auto &b) {
    if (b.thread() < 16)
      copy(b, false);
    b.commit_copies();
    b.template wait_copies<0>();
    if (b.thread() == 63)
      b.template load_shared<int>(word(b, 0));
  });
}

TEST_CASE("accesses of global memory that are undefined are found") {
  check_error("outside of all buffers", [](auto &b) {
    b.store_global(global_memory + 1 + b.thread(), 1);
  });
  check_error("outside of all buffers",
              [](auto &b) { b.load_global(constant_memory + 1 + b.thread()); });
  check_error("this launch has stored to",
              [](auto &b) { b.store_global(global_memory, b.thread()); });
  check_error("for reading", [](auto &b) {
    b.store_global(const_cast<int *>(constant_memory) + b.thread(), 1);
  });
  check_error("global memory that", [](auto &b) {
    b.load_global(global_memory + b.thread());
    b.store_global(global_memory + (b.thread() ^ 1), 1);
  });
  check_error("", [](auto &b) { // in place
    const int value = b.load_global(global_memory + b.thread());
    b.store_global(global_memory + b.thread(), value);
  });
}

TEST_CASE("a launch that begins early waits before it loads, stores or ends") {
  const auto launch = [](auto kernel) {
    host_grid<90> grid(1);
    grid.may_read(constant_memory, 16);
    grid.may_read_constant(constant_memory + 4, 16);
    grid.may_write(global_memory, sizeof(global_memory));
    return grid.launch({1, 1, 1}, 32, 0, kernel);
  };
  const std::string early = "before it waits for earlier launches";
  CHECK(launch([](auto &b) {
          b.load_global(constant_memory + 5);
          b.wait_for_inputs();
        }) == "");
  CHECK(launch([](auto &b) {
          b.load_global(constant_memory + 5);
          if (b.thread() != 7)
            b.wait_for_inputs();
        }) == "block 0 0 0, thread 7: ends " + early);
  CHECK(launch([](auto &b) { b.load_global(constant_memory); }).find(early) !=
        std::string::npos);
  CHECK(launch([](auto &b) {
          b.store_global(global_memory + b.thread(), 1);
        }).find(early) != std::string::npos);
  CHECK(launch([](auto &b) {
          b.wait_for_inputs();
          b.store_global(global_memory + b.thread(),
                         b.load_global(constant_memory));
        }) == "");
}

TEST_CASE("divergence is an error, and no hang") {
  check_error("wait", [](auto &b) {
    if (b.thread() != 7)
      b.barrier();
  });
  check_error("wait", [](auto &b) {
    if (b.thread() < 32)
      b.barrier();
  });
  check_error("wait", [](auto &b) {
    if (b.thread() % 32 < 31)
      b.shuffle_xor(1, 1);
  });
  check_error("wait", [](auto &b) {
    if (b.thread() % 2)
      b.shuffle_xor(1, 1);
    else
      b.barrier();
  });
  check_error("lanes of its warp", [](auto &b) {
    float d[4] = {};
    if (b.thread() % 2)
      b.shuffle_xor(1, 1);
    else
      b.mma_f16(d, words4{}, 0, 0);
  });
}

TEST_CASE("shuffles and ldmatrix move the words of the contract") {
  check_error("", [](auto &b) {
    const int t = b.thread(), lane = t % 32;
    if (b.shuffle_xor(t, 5) != (t ^ 5))
      return; // diverges, which is an error
    if (t < 32)
      for (int i = 0; i < 4; ++i)
        b.store_shared(word(b, t * 4 + i), t * 4 + i);
    b.barrier();
    const words4 v = b.ldmatrix_x4(word(b, lane * 4));
    for (unsigned i = 0; i < 4; ++i)
      if (v.word[i] != (i * 8 + lane / 4) * 4 + lane % 4)
        return;
    b.barrier();
  });
}

TEST_CASE("ldmatrix with a transpose moves the elements of the contract") {
  check_error("", [](auto &b) {
    const int t = b.thread(), lane = t % 32;
    // Element c of row r of matrix i is i * 64 + r * 8 + c.
    if (t < 32)
      for (int i = 0; i < 4; ++i) {
        const unsigned first = unsigned(t * 8 + i * 2);
        b.store_shared(word(b, t * 4 + i), (first + 1) << 16 | first);
      }
    b.barrier();
    const words4 v = b.ldmatrix_x4_trans(word(b, lane * 4));
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned first = i * 64 + lane % 4 * 16 + lane / 4;
      if (v.word[i] != ((first + 8) << 16 | first))
        return;
    }
    b.store_global(global_memory + t, 79);
  });
  for (const int value : global_memory)
    CHECK(value == 79);
}

TEST_CASE("what blocks store is for others to read after they were counted") {
  constexpr int blocks = 5;
  static int parts[blocks * threads], total[threads];
  static std::uint32_t counters[2];
  const auto launch = [&](std::uint64_t seed, auto kernel) {
    std::memset(total, 0, sizeof(total));
    host_grid<80> grid(seed);
    grid.may_write(parts, sizeof(parts));
    grid.may_write(total, sizeof(total));
    grid.may_write(counters, sizeof(counters));
    return grid.launch({blocks, 1, 1}, threads, 0, kernel);
  };
  const auto store = [&](auto &b) {
    const int t = b.thread();
    b.store_global(parts + b.block_x() * threads + t, t * (b.block_x() + 1));
  };
  const auto add = [&](auto &b) { // what other threads have stored
    const int t = b.thread();
    int sum = 0;
    for (int i = 0; i < blocks; ++i)
      sum += b.load_global(parts + i * threads + (t ^ 33));
    b.store_global(total + t, sum);
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    counters[0] = 0;
    REQUIRE(launch(seed, [&](auto &b) {
              b.wait_for_inputs();
              store(b);
              if (b.arrives_last(counters, blocks))
                add(b);
            }) == "");
    REQUIRE(counters[0] == 0);
    for (int t = 0; t < threads; ++t)
      REQUIRE(total[t] == (t ^ 33) * blocks * (blocks + 1) / 2);
  }
  const auto check_found = [&](const char *what, auto kernel) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::memset(counters, 0, sizeof(counters));
      const std::string error = launch(seed, kernel);
      INFO("error: " << error);
      CHECK(error.find(what) != std::string::npos);
    }
  };
  check_found("global memory that", [&](auto &b) {
    b.wait_for_inputs();
    store(b);
    if (b.block_x() == 2) // without a counter
      add(b);
  });
  check_found("global memory that", [&](auto &b) {
    b.wait_for_inputs();
    const bool is_last = b.arrives_last(counters, blocks);
    store(b); // too late for the others
    if (is_last)
      add(b);
  });
  check_found("global memory that", [&](auto &b) {
    b.wait_for_inputs();
    store(b); // each half of the blocks has its own counter
    if (b.arrives_last(counters + b.block_x() / 3, 3 - b.block_x() / 3))
      add(b);
  });
  check_found("not zero at the end", [&](auto &b) {
    b.wait_for_inputs();
    b.arrives_last(counters, blocks + 1);
  });
  check_found("more blocks than it says", [&](auto &b) {
    b.wait_for_inputs();
    b.arrives_last(counters, blocks - 1);
  });
  check_found("twice", [&](auto &b) {
    b.wait_for_inputs();
    b.arrives_last(counters, 2 * blocks);
    b.arrives_last(counters, 2 * blocks);
  });
  check_found("before it waits", [&](auto &b) {
    b.arrives_last(counters, blocks);
    b.wait_for_inputs();
  });
  check_found("wait", [&](auto &b) {
    b.wait_for_inputs();
    if (b.thread() != 7)
      b.arrives_last(counters, blocks);
  });
  check_found("arrives_last", [&](auto &b) {
    b.wait_for_inputs();
    if (b.thread() < 32)
      b.arrives_last(counters, blocks);
    else
      b.barrier();
  });
  check_found("counter", [&](auto &b) {
    b.wait_for_inputs();
    b.arrives_last(counters, blocks);
    b.load_global(counters);
  });
}

TEST_CASE("functions of floats are those of the contract") {
  check_error("", [](auto &b) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    if (b.larger(1, -2) == 1 && b.larger(nan, 3) == 3 &&
        b.larger(3, nan) == 3 && b.exp2(-3) == 0.125f &&
        b.exp2(-std::numeric_limits<float>::infinity()) == 0)
      b.barrier();
    else
      b.shuffle_xor(0, 0);
    b.store_global(global_memory + b.thread(), 78);
  });
  CHECK(global_memory[0] == 78);
}

TEST_CASE("mma multiplies the fragments of the contract") {
  // A[m][k] = m + 1 where k == 3, else 0; B[3][n] = n + 1.
  const auto check_mma = [](auto &b) {
    const int lane = b.thread() % 32, g = lane / 4, t = lane % 4;
    const auto half_at = [&](int k, float value) {
      return k % 2 ? b.halves(0, value) : b.halves(value, 0);
    };
    const words4 a{{t == 1 ? half_at(3, float(g + 1)) : 0,
                    t == 1 ? half_at(3, float(g + 9)) : 0, 0, 0}};
    const std::uint32_t b0 = t == 1 ? half_at(3, float(g + 1)) : 0;
    float d[4] = {0, 0, 0, 1};
    b.mma_f16(d, a, b0, 0);
    const float want[4] = {
        float((g + 1) * (2 * t + 1)), float((g + 1) * (2 * t + 2)),
        float((g + 9) * (2 * t + 1)), float((g + 9) * (2 * t + 2) + 1)};
    if (std::memcmp(d, want, sizeof(d)) == 0)
      b.barrier();
    else
      b.shuffle_xor(0, 0);
    b.store_global(global_memory + b.thread(), 77);
  };
  global_memory[0] = 0;
  check_error("", check_mma);
  CHECK(global_memory[0] == 77);
}

TEST_CASE("floats are rounded to tf32, ties away from zero") {
  const auto rounded = [](std::uint32_t bits) {
    std::uint32_t got = 0;
    check_error("", [&](auto &b) { got = b.tf32(bits); });
    return got;
  };
  CHECK(rounded(0x3f800000) == 0x3f800000);
  CHECK(rounded(0x3f800fff) == 0x3f800000);
  CHECK(rounded(0x3f801000) == 0x3f802000); // a tie
  CHECK(rounded(0xbf803000) == 0xbf804000); // a tie beside an odd number
  CHECK(rounded(0x3fffffff) == 0x40000000);
  CHECK(rounded(0x7f7fffff) == 0x7f800000); // the largest float
  CHECK(rounded(0x80000001) == 0x80000000);
  CHECK(rounded(0xff800000) == 0xff800000);
  CHECK(rounded(0x7f800001) == 0x7fffffff); // NaN
  CHECK(rounded(0xffffffff) == 0x7fffffff);
}
