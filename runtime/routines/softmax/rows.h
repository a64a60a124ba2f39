//===- rows.h - Softmax with vectors of W floats --------------------------===//
//
// As portable.h defines it, in float. Where the axis is the last one (inner 1)
// vectors lie along it; elsewhere they lie along inner, W softmaxes at a time.
// Error: 4 ulp of each result, sums in W or 4W parts. A unit is one row of the
// axis, or one outer index.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SOFTMAX_ROWS_H
#define NNC_ROUTINES_SOFTMAX_ROWS_H

#include "runtime/epilogue.h"
#include "runtime/simd/math.h"

namespace nnc {

template <int W, class S, class Epi> struct softmax_f32_t {
  static constexpr int units(const S &s) { return s.outer; }

  static void run(const S &s, const float *x, float *y, const Epi &epi,
                  int begin, int end) {
    const std::ptrdiff_t step = std::ptrdiff_t(s.size) * s.inner;
    for (int unit = begin; unit < end; ++unit) {
      const std::ptrdiff_t at = unit * step;
      if (s.inner == 1) {
        row(s, x + at, y + at, at, epi);
        continue;
      }
      for (int i = 0; i < s.inner; i += W)
        columns(s, x + at + i, y + at + i, at + i, epi,
                s.inner - i < W ? s.inner - i : W);
    }
  }

private:
  using V = f32x<W>;

  static void row(const S &s, const float *x, float *y, std::ptrdiff_t at,
                  const Epi &epi) {
    const int whole = s.size / W * W, rest = s.size - whole;
    float largest = x[0];
    if (whole) {
      V most = V::load(x);
      for (int i = W; i < whole; i += W)
        most = max_fast(V::load(x + i), most);
      largest = reduce_max(most);
    }
    for (int i = whole; i < s.size; ++i)
      largest = max_fast(x[i], largest);

    // The exponentials wait in y; for the logarithm only their sum counts.
    const V shift(largest);
    V sum(0.0f);
    for (int i = 0; i < whole; i += W) {
      const V e = exp(V::load(x + i) - shift);
      if (!s.log)
        e.store(y + i);
      sum += e;
    }
    if (rest) {
      const V e = keep_first(exp(V::load(x + whole, rest) - shift), rest);
      if (!s.log)
        e.store(y + whole, rest);
      sum += e;
    }
    const float total = reduce_add(sum);
    const V scale(1.0f / total), offset(s.log ? log(total) : 0.0f);
    const auto finish = [&](V v) {
      return s.log ? (v - shift) - offset : v * scale;
    };
    const float *from = s.log ? x : y;
    for (int i = 0; i < whole; i += W)
      epi(finish(V::load(from + i)), position<false>{at + i, 0}).store(y + i);
    if (rest)
      epi(finish(V::load(from + whole, rest)), position<false>{at + whole, 0},
          rest)
          .store(y + whole, rest);
  }

  static void columns(const S &s, const float *x, float *y, std::ptrdiff_t at,
                      const Epi &epi, int count) {
    const std::ptrdiff_t step = s.inner;
    V shift = get(x, count);
    for (int i = 1; i < s.size; ++i)
      shift = max_fast(get(x + i * step, count), shift);
    V sum(0.0f);
    for (int i = 0; i < s.size; ++i) {
      const V e = exp(get(x + i * step, count) - shift);
      if (!s.log)
        e.store(y + i * step, count);
      sum += e;
    }
    const V scale = V(1.0f) / sum, offset = s.log ? log(sum) : V(0.0f);
    for (int i = 0; i < s.size; ++i) {
      const V v = s.log ? (get(x + i * step, count) - shift) - offset
                        : get(y + i * step, count) * scale;
      epi(v, position<false>{at + i * step, 0}, count)
          .store(y + i * step, count);
    }
  }

  static NNC_INLINE V get(const float *p, int count) {
    return count == W ? V::load(p) : V::load(p, count);
  }
};

template <class S, class Epi> using softmax_f32_sse4 = softmax_f32_t<4, S, Epi>;
template <class S, class Epi> using softmax_f32_avx2 = softmax_f32_t<8, S, Epi>;
template <class S, class Epi>
using softmax_f32_avx512 = softmax_f32_t<16, S, Epi>;
template <class S, class Epi> using softmax_f32_neon = softmax_f32_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_SOFTMAX_ROWS_H
