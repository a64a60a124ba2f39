//===- bench_tiles.cpp - How fast routines on tile registers are ----------===//
//
// Times the routines for AMX on layers of real networks, on one thread of a
// chip that has it, and prints a line of CSV for each: the routine, its
// parameter, its shape, multiply-adds, and the cycles of the median run and of
// the best one. `scripts/benchmark/fit_tiles.py` reads them.
//
//   nnc_bench_tiles [part of a routine's name] [least seconds of each]
//
// Cycles are those of a chain of additions that is timed before each routine,
// as the clock of the core changes.
//
//===----------------------------------------------------------------------===//
#include "runtime/epilogue.h"
#include "runtime/parallel.h"
#include "runtime/routines/convolution/conv2d/gathered_tiles.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/convolution/conv2d/tiles.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "runtime/routines/matrix/matmul/tiles.h"
#include "runtime/simd/bytes.h"
#include "test/runtime/bench_layers.h"
#include "test/runtime/tiles.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace nnc;

namespace {

const char *wanted = "";
double least_seconds = 0.1;

double now() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(t).count();
}

/// Returns the cycles of a second, the most of several measurements: additions
/// that wait for each other take a cycle each.
double measure_clock() {
  constexpr int turns = 100000;
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    unsigned long x = 1;
    const double start = now();
    for (int i = 0; i < turns; ++i)
      asm volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0"
                   : "+r"(x));
    best = std::max(best, 4.0 * turns / (now() - start));
  }
  return best;
}

/// Stores sums as they are.
struct keep {
  template <class V, class... P> NNC_INLINE V operator()(V v, P...) const {
    return v;
  }
  NNC_INLINE void fetch(ptrdiff_t) const {}
};

/// A layer of bench_layers.h whose padding has the value 0.
template <class S> struct filled : S {
  static constexpr int fill = 0;
};

/// Memory that is aligned like an arena.
template <class T> struct buffer {
  explicit buffer(std::size_t count)
      : p(static_cast<T *>(
            std::aligned_alloc(64, (count * sizeof(T) + 4159) / 64 * 64))) {
    std::memset(static_cast<void *>(p), 0x3c, count * sizeof(T));
  }
  ~buffer() { std::free(p); }
  buffer(const buffer &) = delete;
  buffer &operator=(const buffer &) = delete;
  T *p;
};

template <class R> struct routine_type {
  using type = R;
};

struct sizes {
  std::size_t x, w, y; ///< elements
  double multiply_adds;
  std::string shape;
};

template <class R, class X, class Y, class S>
void report(const char *name, int KB, S s, const sizes &of,
            ptrdiff_t scratch_bytes) {
  const buffer<X> x(of.x), w(of.w);
  const buffer<Y> y(of.y);
  const buffer<unsigned char> scratch(std::size_t(scratch_bytes) + 64);
  const double clock = measure_clock();
  std::vector<double> times;
  for (const double begin = now();
       times.size() < 3 || now() - begin < least_seconds;) {
    const double start = now();
    launch<R>(pool{}, s, static_cast<const X *>(x.p),
              static_cast<const X *>(w.p), y.p,
              scratch_memory{scratch.p, scratch_bytes}, keep{});
    asm volatile("" : : "r"(y.p) : "memory");
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s,%d,%s,%.0f,%.0f,%.0f\n", name, KB, of.shape.c_str(),
              of.multiply_adds, times[times.size() / 2] * clock,
              times[0] * clock);
  std::fflush(stdout);
}

template <class Shape> std::string describe(Shape s) {
  std::string text;
  s.visit([&](const char *name, int value) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" +
            std::to_string(value);
  });
  return text;
}

constexpr int padded(int channels) { return ceil_div(channels, 16) * 16; }

template <int KB, class X, class Y, class L> void measure_conv(L) {
  using S = filled<L>;
  constexpr S s{};
  constexpr int bytes = int(sizeof(X));
  if constexpr (s.groups > 1 && s.groups == s.c)
    return;
  const conv2d_shape fields{s.n,  s.c,  s.h,  s.w,      s.k,   s.kh,
                            s.kw, s.sh, s.sw, s.dh,     s.dw,  s.pt,
                            s.pl, s.oh, s.ow, s.groups, s.fill};
  const int step = tile_row_bytes / bytes;
  const std::size_t columns = std::size_t(padded(s.k)) * 4;
  const sizes of{std::size_t(s.n) * padded(s.c) * s.h * s.w,
                 columns * (padded(s.c) + step) * s.kh * s.kw,
                 std::size_t(s.n) * padded(s.k) * s.oh * s.ow,
                 double(s.n) * s.k * s.oh * s.ow * (s.c / s.groups) * s.kh *
                     s.kw,
                 describe(fields)};
  const auto run = [&](const char *name, auto routine, ptrdiff_t scratch) {
    if (std::strstr(name, wanted))
      report<typename decltype(routine)::type, X, Y>(name, KB, s, of, scratch);
  };
  const bool is_bf16 = bytes == 2;
  if constexpr (fills_tiles(S{}, bytes))
    run(is_bf16 ? "conv2d_bf16_nchw16c_amxbf16" : "conv2d_i32_nchw16c_amxint8",
        routine_type<conv2d_tiles_t<bytes, S, KB, keep>>(),
        plan_conv2d_tiles(s, bytes, KB).scratch(1));
  else if constexpr (s.c <= 4)
    run(is_bf16 ? "conv2d_bf16_nchw16c_first_amxbf16"
                : "conv2d_i32_nchw16c_first_amxint8",
        routine_type<conv2d_gathered_tiles_t<bytes, true, S, KB, keep>>(),
        plan_gathered_tiles(s, bytes, KB).scratch(1));
  else
    run(is_bf16 ? "conv2d_bf16_nchw16c_few_amxbf16"
                : "conv2d_i32_nchw16c_few_amxint8",
        routine_type<conv2d_gathered_tiles_t<bytes, false, S, KB, keep>>(),
        plan_gathered_tiles(s, bytes, KB).scratch(1));
}

template <int KB, class X, class Y, class S> void measure_matmul(S s) {
  constexpr int bytes = int(sizeof(X));
  const matmul_shape fields{
      s.batch,          s.m,           s.n,          s.k, s.a_batch_stride,
      s.b_batch_stride, s.transpose_a, s.transpose_b};
  const sizes of{std::size_t(s.batch) * s.m * s.k + 4096,
                 std::size_t(s.batch) * padded(s.n) * (s.k + 64),
                 std::size_t(s.batch) * s.m * padded(s.n),
                 double(s.batch) * s.m * s.n * s.k, describe(fields)};
  const char *name =
      bytes == 2 ? "matmul_bf16_nk16n_amxbf16" : "matmul_i32_nk16n_amxint8";
  if (std::strstr(name, wanted))
    report<matmul_tiles_t<bytes, S, KB, keep>, X, Y>(
        name, KB, s, of, plan_matmul_tiles(s, bytes, KB).scratch(1));
}

template <class X, class Y> void measure() {
  nnc_bench::tile_conv2d_layers::each(
      [](auto layer) { measure_conv<128, X, Y>(layer); });
  nnc_bench::tile_matmul_layers::each(
      [](auto layer) { measure_matmul<128, X, Y>(layer); });
}

} // namespace

int main(int count, char **words) {
  if (count > 1)
    wanted = words[1];
  if (count > 2)
    least_seconds = std::atof(words[2]);
  if (!nnc_test::tiles.permitted) {
    std::fprintf(stderr, "this process gets no tiles of AMX\n");
    return 1;
  }
  std::printf("routine,kb,shape,multiply_adds,cycles,best_cycles\n");
  measure<int8_t, int32_t>();
  measure<bf16, float>();
  return 0;
}
