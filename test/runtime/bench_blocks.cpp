//===- bench_blocks.cpp - How fast compressed weights are read ------------===//
//
// Products of one row with 4096 x 4096 weights of 4 and 8 bits, on one thread:
// prints the bytes of weights, scales and zero points that are read in a second
// (best and median of many runs), beside those that a loop of plain loads reads
// of memory of the same size in the same run. Sixteen such matrices are read in
// turn, which no cache holds.
//
//   nnc_bench_blocks-<isa>
//
//===----------------------------------------------------------------------===//
#include "runtime/routines/stored_weights/block_matmul/registers.h"
#include "runtime/routines/stored_weights/block_matmul/shape.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace nnc;

namespace {

#if defined(__AVX512F__)
constexpr int width = 16;
#elif defined(__AVX2__)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif

constexpr int size = 4096, copies = 16, runs = 160;

struct free_memory {
  void operator()(unsigned char *p) const { std::free(p); }
};
using buffer = std::unique_ptr<unsigned char, free_memory>;

buffer make_buffer(std::size_t bytes, int value) {
  auto *p = static_cast<unsigned char *>(std::aligned_alloc(4096, bytes));
  std::memset(p, value, bytes);
  return buffer(p);
}

/// Measures `run`, which moves `bytes` bytes, and prints the bytes per second
/// of its best and of its median run.
template <class F> void report(const char *what, double bytes, F run) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run(i % copies);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("%-40s %8.3f ms %6.1f GB/s (median %5.1f)\n", what,
              seconds[0] * 1e3, bytes / seconds[0] * 1e-9,
              bytes / seconds[runs / 2] * 1e-9);
}

void read_plainly(const unsigned char *p, std::size_t bytes) {
  constexpr int step = 4 * width, lines = 8;
  i32x<width> sums[lines];
  for (auto &sum : sums)
    sum = i32x<width>(0);
  for (std::size_t i = 0; i + step * lines <= bytes; i += step * lines)
    NNC_UNROLL for (int j = 0; j < lines; ++j) sums[j] =
        sums[j] | byte_lanes<width>::load_bits(p + i + j * step);
  std::int32_t all[width];
  for (const auto &sum : sums) {
    byte_lanes<width>::store_bits(all, sum);
    asm volatile("" : : "r"(all) : "memory");
  }
}

template <int BITS, int BLOCK, int SHARED> struct shape {
  static constexpr int m = 1, n = size, k = size, bits = BITS, block = BLOCK;
  static constexpr int shared_zero = SHARED;
};

template <int BITS, int BLOCK, int SHARED> void measure(const char *what) {
  using S = shape<BITS, BLOCK, SHARED>;
  using routine = block_matmul_t<BITS, width, S, 1, 32 / width, none>;
  constexpr std::size_t weights = std::size_t(size) * size / 8 * BITS;
  constexpr std::size_t groups = std::size_t(size) * (size / BLOCK);
  constexpr std::size_t zeros = SHARED ? 4096 : groups;
  const buffer q = make_buffer(weights * copies, 0x5a);
  const buffer scales = make_buffer(groups * 4 * copies, 0x3c);
  const buffer points = make_buffer(zeros * copies, 8);
  const buffer x = make_buffer(4 * size, 0x3d), y = make_buffer(4 * size, 0);
  const buffer scratch = make_buffer(4 * size, 0);
  const double bytes = double(weights + 4 * groups + (SHARED ? 1 : groups));
  report(what, bytes, [&](int i) {
    routine::run(S{}, reinterpret_cast<const float *>(x.get()),
                 q.get() + weights * i,
                 reinterpret_cast<const float *>(scales.get()) + groups * i,
                 points.get() + zeros * i, reinterpret_cast<float *>(y.get()),
                 scratch.get(), none{}, 0, routine::units(S{}));
  });
  report("  the same bytes of weights, read alone", double(weights),
         [&](int i) { read_plainly(q.get() + weights * i, weights); });
}

} // namespace

int main() {
  measure<4, 32, 1>("4 bits, blocks of 32, one zero point");
  measure<4, 32, 0>("4 bits, blocks of 32, zero points");
  measure<4, 128, 1>("4 bits, blocks of 128, one zero point");
  measure<8, 32, 1>("8 bits, blocks of 32, one zero point");
  measure<8, 4096, 1>("8 bits, a scale a column");
  return 0;
}
