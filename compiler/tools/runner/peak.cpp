//===- peak.cpp - How fast this machine multiplies and adds ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Built with -ffp-contract=fast, so that a * b + c is one instruction where the
// target has one.
//
//===----------------------------------------------------------------------===//

#include "runner.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace runner {
namespace {

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
#elif defined(__AVX__)
constexpr int vectorBytes = 32;
#else
constexpr int vectorBytes = 16;
#endif
constexpr int lanes = vectorBytes / int(sizeof(float));
typedef float Vector __attribute__((vector_size(vectorBytes)));

// As many independent sums as hide the latency of two multiply-adds a cycle,
// and no more than 16 registers hold.
constexpr int sums = 12;

template <std::size_t... I>
void multiplyAdd(Vector *memory, long steps, std::index_sequence<I...>) {
  Vector scale = memory[0], shift = memory[1];
  Vector sum[sums] = {memory[I]...};
  for (long step = 0; step < steps; ++step)
    ((sum[I] = sum[I] * scale + shift), ...);
  ((memory[I] = sum[I]), ...);
}

/// Multiply-adds a second of one thread, the best of some short stretches.
double measureThread() {
  Vector memory[sums];
  for (int i = 0; i < sums; ++i)
    for (int lane = 0; lane < lanes; ++lane)
      memory[i][lane] = 0.5f + 0.001f * float(i + lane);
  double best = 0;
  long steps = 20000;
  for (int stretch = 0; stretch < 8; ++stretch) {
    double start = now();
    multiplyAdd(memory, steps, std::make_index_sequence<sums>());
    double seconds = now() - start;
    if (seconds < 2e-3) {
      steps *= 4; // too short to time
      --stretch;
      continue;
    }
    best = std::max(best, double(steps) * sums * lanes / seconds);
  }
  // Each sum is used, or the compiler would leave its multiply-adds out.
  Vector all = memory[0];
  for (int i = 1; i < sums; ++i)
    all += memory[i];
  volatile float keep = 0;
  for (int lane = 0; lane < lanes; ++lane)
    keep = keep + all[lane];
  return best;
}

} // namespace

double measurePeak(int threads) {
  std::vector<double> each(threads);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&each, t] { each[t] = measureThread(); });
  each[0] = measureThread();
  for (std::thread &other : others)
    other.join();
  double sum = 0;
  for (double one : each)
    sum += one;
  return sum;
}

} // namespace runner
