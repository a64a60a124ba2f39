//===- bench_routines.cpp - How fast the routines are ---------------------===//
//
// For each routine of routines.inc that this build's instruction set has, and
// each layer of bench_layers.h that it applies to: instantiates it with the
// parameters that its EFFICIENCY column likes best, runs it on one thread, and
// prints the median rate, its share of the multiply-add peak measured in the
// same run (the best run's too: other work on the machine does not lower it),
// and the share that the table expects.
//
//   nnc_bench_routines-<isa> [part of a routine's name]
//
//===----------------------------------------------------------------------===//
#include "runtime/parallel.h"
#include "test/runtime/bench_layers.h"
#include "test/runtime/routine_lines.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using namespace nnc;

namespace {

#if defined(__AVX512F__)
constexpr const char *this_isa = "avx512";
constexpr int this_width = 16;
#elif defined(__AVX2__)
constexpr const char *this_isa = "avx2";
constexpr int this_width = 8;
#elif defined(__ARM_NEON)
constexpr const char *this_isa = "neon";
constexpr int this_width = 4;
#else
constexpr const char *this_isa = "sse4";
constexpr int this_width = 4;
#endif

double now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(t).count();
}

/// Returns the multiply-adds per second of one core on whole registers, the
/// best of many measurements.
double measure_peak() {
  constexpr int chains = 12, turns = 200000;
  f32x<this_width> sum[chains];
  volatile float seed = 0.999f;
  const f32x<this_width> factor(seed), term(seed * 0.001f);
  NNC_UNROLL for (int i = 0; i < chains; ++i) sum[i] = factor;
  double best = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const double start = now();
    NNC_KEEP_LOOP for (int turn = 0; turn < turns; ++turn)
        NNC_UNROLL for (int i = 0; i < chains; ++i) sum[i] =
            fma(sum[i], factor, term);
    best =
        std::max(best, double(turns) * chains * this_width / (now() - start));
  }
  float all = 0;
  NNC_UNROLL for (int i = 0; i < chains; ++i) all += reduce_add(sum[i]);
  seed = all;
  return best;
}

struct free_memory {
  void operator()(float *p) const { std::free(p); }
};
using buffer = std::unique_ptr<float, free_memory>;

/// Returns a buffer that is aligned like an arena. The products of its values
/// are not denormal.
buffer make_buffer(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) + 4159) / 64 * 64;
  float *p = static_cast<float *>(std::aligned_alloc(64, bytes));
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i)
    p[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000) / 1000;
  return buffer(p);
}

/// Makes the compiler assume that the memory at `p` has been read.
void keep(const float *p) { asm volatile("" : : "r"(p) : "memory"); }

struct result {
  double median, best; ///< seconds
  int runs;
};

template <class F> result measure_time(const float *y, F run) {
  std::vector<double> times;
  const double begin = now();
  while (times.size() < 5 || (now() - begin < 0.15 && times.size() < 2000)) {
    const double start = now();
    run();
    keep(y);
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), int(times.size())};
}

constexpr int padded(int channels) { return ceil_div(channels, 16) * 16; }

/// Measures R on these inputs, with SCRATCH bytes of scratch if it takes some.
template <class R, std::size_t SCRATCH, class S, class... In>
result time_inputs(const S &s, const buffer &y, const In &...in) {
  const buffer scratch = make_buffer(SCRATCH / sizeof(float));
  return measure_time(y.get(), [&] {
    if constexpr (SCRATCH == 0)
      launch<R>(pool{}, s, static_cast<const float *>(in.get())..., y.get(),
                none{});
    else
      launch<R>(pool{}, s, static_cast<const float *>(in.get())..., y.get(),
                scratch_memory{reinterpret_cast<unsigned char *>(scratch.get()),
                               SCRATCH},
                none{});
  });
}

/// Measures R on a layer, with buffers large enough for any layout of the
/// family's tensors. Transformed weights have up to 8 points for 3 taps of an
/// axis, or 49 / 16 elements for each weight of 1 x 1 filters.
template <class R, std::size_t SCRATCH, class S> result time_layer(S s) {
  const int taps = SCRATCH ? (s.kh + 5) * (s.kw + 5) : s.kh * s.kw;
  return time_inputs<R, SCRATCH>(
      s, make_buffer(std::size_t(s.n) * padded(s.k) * s.oh * s.ow),
      make_buffer(std::size_t(s.n) * padded(s.c) * s.h * s.w),
      make_buffer(std::size_t(padded(s.k)) * padded(s.c / s.groups) * taps));
}
template <class R, std::size_t SCRATCH, int BATCH, int M, int N, int K, int T>
result time_layer(nnc_bench::product<BATCH, M, N, K, T> s) {
  return time_inputs<R, SCRATCH>(s,
                                 make_buffer(std::size_t(s.batch) * s.m * s.n),
                                 make_buffer(std::size_t(s.batch) * s.m * s.k),
                                 make_buffer(std::size_t(s.batch) * s.k *
                                             padded(s.n) * (SCRATCH ? 4 : 1)));
}
template <class R, std::size_t SCRATCH, int HEADS, int ROWS, int DIM,
          int COLUMNS>
result time_layer(nnc_bench::attention<HEADS, ROWS, DIM, COLUMNS> s) {
  return time_inputs<R, SCRATCH>(
      s, make_buffer(ROWS * HEADS * DIM), make_buffer(ROWS * COLUMNS),
      make_buffer(ROWS * COLUMNS), make_buffer(ROWS * COLUMNS));
}
template <class R, std::size_t SCRATCH, int C, int H, int K, int TAPS,
          int STRIDE>
result time_layer(nnc_bench::separable<C, H, K, TAPS, STRIDE> s) {
  return time_inputs<R, SCRATCH>(
      s, make_buffer(std::size_t(padded(s.k)) * s.oh * s.ow),
      make_buffer(std::size_t(padded(s.c)) * s.h * s.w),
      make_buffer(std::size_t(padded(s.c)) * s.kh * s.kw),
      make_buffer(padded(s.c)),
      make_buffer(std::size_t(padded(s.k)) * padded(s.c)));
}
template <class R, std::size_t SCRATCH, int C, int H, int K, int TAPS,
          int STRIDE>
result time_layer(nnc_bench::expanded<C, H, K, TAPS, STRIDE> s) {
  return time_inputs<R, SCRATCH>(
      s, make_buffer(std::size_t(padded(s.k)) * s.oh * s.ow),
      make_buffer(std::size_t(padded(s.c)) * s.h * s.w),
      make_buffer(std::size_t(padded(s.k)) * padded(s.c)),
      make_buffer(padded(s.k)),
      make_buffer(std::size_t(padded(s.k)) * s.kh * s.kw));
}
template <class R, std::size_t SCRATCH, int C, int H, int K>
result time_layer(nnc_bench::scaled<C, H, K> s) {
  // Weights of two levels of Strassen's method are 49 / 16 as many.
  return time_inputs<R, SCRATCH>(
      s, make_buffer(std::size_t(padded(s.k)) * s.h * s.w),
      make_buffer(std::size_t(padded(s.c)) * s.h * s.w),
      make_buffer(padded(s.c)), make_buffer(padded(s.c)),
      make_buffer(std::size_t(padded(s.k)) * padded(s.c) * 4));
}
template <class R, std::size_t SCRATCH, int C, int H, int K, int STRIDE,
          int PAD>
result time_layer(nnc_bench::pool<C, H, K, STRIDE, PAD> s) {
  return time_inputs<R, SCRATCH>(
      s, make_buffer(std::size_t(s.n) * padded(s.c) * s.oh * s.ow),
      make_buffer(std::size_t(s.n) * padded(s.c) * s.h * s.w));
}

double peak;
const char *wanted = "";

void report(const char *name, const char *layer, const std::string &params,
            double work, result r, double expected) {
  std::printf("%-38s %-8s %-24s %9.1f us %6.1f GFLOP/s %5.1f %% of peak "
              "(best run %5.1f %%, table %5.1f %%; %d runs)\n",
              name, params.c_str(), layer, r.median * 1e6,
              2e-9 * work / r.median, 100 * work / r.median / peak,
              100 * work / r.best / peak, 100 * expected, r.runs);
  std::fflush(stdout);
}

template <class S> double work_of(S s) {
  return double(s.n) * s.k * s.oh * s.ow * (s.c / s.groups) * s.kh * s.kw;
}
template <int BATCH, int M, int N, int K, int T>
double work_of(nnc_bench::product<BATCH, M, N, K, T>) {
  return double(BATCH) * M * N * K;
}
template <int HEADS, int ROWS, int DIM, int COLUMNS>
double work_of(nnc_bench::attention<HEADS, ROWS, DIM, COLUMNS>) {
  return 2.0 * HEADS * ROWS * ROWS * DIM;
}
template <int C, int H, int K, int TAPS, int STRIDE>
double work_of(nnc_bench::separable<C, H, K, TAPS, STRIDE> s) {
  return double(s.c) * s.oh * s.ow * (s.kh * s.kw + s.k);
}
template <int C, int H, int K, int TAPS, int STRIDE>
double work_of(nnc_bench::expanded<C, H, K, TAPS, STRIDE> s) {
  return double(s.k) * (s.h * s.w * s.c + s.oh * s.ow * s.kh * s.kw);
}
template <int C, int H, int K> double work_of(nnc_bench::scaled<C, H, K> s) {
  return double(s.c) * s.h * s.w * (s.k + 1);
}
template <int C, int H, int K, int STRIDE, int PAD>
double work_of(nnc_bench::pool<C, H, K, STRIDE, PAD> s) {
  return double(s.c) * s.oh * s.ow * s.kh * s.kw;
}

/// Returns the index of the candidate of LINE that is estimated to be the best
/// for S, or -1 if none applies.
template <class LINE, class S> constexpr int best_candidate() {
  int best = -1;
  double most = -1;
  // The layers are of floats.
  if ((!same(LINE::isa, this_isa) && !same(LINE::isa, "portable")) ||
      has_doubles(LINE::name) || has_integers(LINE::name))
    return best;
  for (int i = 0; i < int(std::size(LINE::lines)); ++i)
    if (LINE::lines[i].applies(S{}) && LINE::lines[i].efficiency(S{}) > most) {
      best = i;
      most = LINE::lines[i].efficiency(S{});
    }
  return best;
}

template <class LINE, class LAYERS> void measure() {
  if (!std::strstr(LINE::name, wanted))
    return;
  LAYERS::each([&](auto layer, const char *label) {
    using S = decltype(layer);
    constexpr int best = best_candidate<LINE, S>();
    if constexpr (best >= 0) {
      constexpr auto line = LINE::lines[best];
      using R = typename LINE::template routine<best, S, none>;
      report(LINE::name, label, line.text(), work_of(layer),
             time_layer<R, line.scratch(S{}, 1)>(layer),
             line.efficiency(layer));
    }
  });
}

#define FAMILIES_attention ~, ACTION
#define FAMILIES_avg_pool2d ~, ACTION
#define FAMILIES_conv2d ~, ACTION
#define FAMILIES_expanded_conv2d ~, ACTION
#define FAMILIES_matmul ~, ACTION
#define FAMILIES_max_pool2d ~, ACTION
#define FAMILIES_scaled_conv2d ~, ACTION
#define FAMILIES_separable_conv2d ~, ACTION

#define ACTION NNC_LINE
#define NNC_ROUTINE NNC_OF_FAMILIES
#include "runtime/routines/catalogue/routines.inc"
#undef ACTION

} // namespace

int main(int argc, char **argv) {
  if (argc > 1)
    wanted = argv[1];
  peak = measure_peak();
  std::printf("%s: %.1f GFLOP/s of multiply-adds measured on one core\n",
              this_isa, 2e-9 * peak);
#define MEASURE(FAMILY, NAME, ...)                                             \
  measure<NAME##_line, nnc_bench::FAMILY##_layers>();
#define ACTION MEASURE
#define NNC_ROUTINE NNC_OF_FAMILIES
#include "runtime/routines/catalogue/routines.inc"
  return 0;
}
