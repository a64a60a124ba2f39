//===- peak.cpp - Measures the peak rate of multiply-adds -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// This file is built with -ffp-contract=fast, so that a * b + c is one
// instruction if the target has one.
//
//===----------------------------------------------------------------------===//

#include "runner.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace runner {
namespace {

// The number of independent sums: enough to hide the latency of two
// multiply-adds per cycle, and few enough for 16 registers.
constexpr int sums = 12;

template <int Bytes> struct FloatVector {
  typedef float type __attribute__((vector_size(Bytes)));
};

template <class Vector, std::size_t... I>
void multiplyAdd(Vector *memory, long steps, std::index_sequence<I...>) {
  Vector scale = memory[0], shift = memory[1];
  Vector sum[sums] = {memory[I]...};
  for (long step = 0; step < steps; ++step)
    ((sum[I] = sum[I] * scale + shift), ...);
  ((memory[I] = sum[I]), ...);
}

/// Returns the multiply-adds per second of one thread, the best of several
/// short measurements.
template <int Bytes> double measureThread() {
  using Vector = typename FloatVector<Bytes>::type;
  constexpr int lanes = Bytes / int(sizeof(float));
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
      steps *= 4; // took too short to be timed
      --stretch;
      continue;
    }
    best = std::max(best, double(steps) * sums * lanes / seconds);
  }
  // Every sum is used, so that the compiler does not remove its multiply-adds.
  Vector all = memory[0];
  for (int i = 1; i < sums; ++i)
    all += memory[i];
  volatile float keep = 0;
  for (int lane = 0; lane < lanes; ++lane)
    keep = keep + all[lane];
  return best;
}

double (*findMeasure(int bytes))() {
  switch (bytes) {
  case 16:
    return measureThread<16>;
#if defined(__AVX__)
  case 32:
    return measureThread<32>;
#endif
#if defined(__AVX512F__)
  case 64:
    return measureThread<64>;
#endif
  default:
    return nullptr;
  }
}

} // namespace

double measurePeak(int threads, int bytes) {
  double (*measureThread)() = findMeasure(bytes);
  if (!measureThread)
    return 0;
  std::vector<double> each(threads);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&, t] { each[t] = measureThread(); });
  each[0] = measureThread();
  for (std::thread &other : others)
    other.join();
  double sum = 0;
  for (double one : each)
    sum += one;
  return sum;
}

} // namespace runner
