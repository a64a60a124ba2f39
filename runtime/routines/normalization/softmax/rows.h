//===- rows.h - Softmax with vectors of W floats --------------------------===//
//
// The layer of portable.h in float. Where the axis is the last one (inner 1)
// vectors run along it; elsewhere they run along inner, W softmaxes at a time.
// Error: 4 ulp of each result, sums in W or 4W parts. A unit is one index of
// outer: one softmax, or `inner` of them.
//
// Tensors are floats or halves. Exponentials of floats are stored in y until
// their sum is known. Those of halves would be rounded there, so they are
// computed a second time instead: a result in halves is off by half an ulp, and
// below 2^-14 by half of 2^-24.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_H
#define NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/math.h"

namespace nnc {

template <int W, class S, class Epi> struct softmax_t {
  static constexpr int units(const S &s) { return s.outer; }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    const ptrdiff_t step = ptrdiff_t(s.size) * s.inner;
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = unit * step;
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

  /// Returns true if y stores the exponentials until their sum is known. With
  /// log only their sum is needed.
  template <class T> static constexpr bool keeps(const S &s) {
    return is_same<T, float>::value && !s.log;
  }

  /// Computes one softmax along contiguous elements.
  template <class T>
  static void row(const S &s, const T *x, T *y, ptrdiff_t at, const Epi &epi) {
    const int whole = s.size / W * W, rest = s.size - whole;
    float largest = x[0];
    if (whole) {
      V most = load<V>(x);
      for (int i = W; i < whole; i += W)
        most = max_fast(load<V>(x + i), most);
      largest = reduce_max(most);
    }
    for (int i = whole; i < s.size; ++i)
      largest = max_fast(float(x[i]), largest);

    const V shift(largest);
    V sum(0.0f);
    for (int i = 0; i < whole; i += W) {
      const V e = exp_or_zero(load<V>(x + i) - shift);
      if (keeps<T>(s))
        store(y + i, e);
      sum += e;
    }
    if (rest) {
      const V e =
          keep_first(exp_or_zero(load<V>(x + whole, rest) - shift), rest);
      if (keeps<T>(s))
        store(y + whole, e, rest);
      sum += e;
    }
    const float total = reduce_add(sum);
    const V scale(1.0f / total), offset(s.log ? log(total) : 0.0f);
    const T *from = keeps<T>(s) ? y : x;
    for (int i = 0; i < whole; i += W)
      store(y + i, epi(finish<T>(s, load<V>(from + i), shift, scale, offset),
                       position<false>{at + i, 0}));
    if (rest)
      store(y + whole,
            epi(finish<T>(s, load<V>(from + whole, rest), shift, scale, offset),
                position<false>{at + whole, 0}, rest),
            rest);
  }

  /// Computes `count` softmaxes side by side, at most W.
  template <class T>
  static void columns(const S &s, const T *x, T *y, ptrdiff_t at,
                      const Epi &epi, int count) {
    const ptrdiff_t step = s.inner;
    V shift = get(x, count);
    for (int i = 1; i < s.size; ++i)
      shift = max_fast(get(x + i * step, count), shift);
    V sum(0.0f);
    for (int i = 0; i < s.size; ++i) {
      const V e = exp_or_zero(get(x + i * step, count) - shift);
      if (keeps<T>(s))
        put(y + i * step, e, count);
      sum += e;
    }
    const V scale = V(1.0f) / sum, offset = s.log ? log(sum) : V(0.0f);
    const T *from = keeps<T>(s) ? y : x;
    for (int i = 0; i < s.size; ++i)
      put(y + i * step,
          epi(finish<T>(s, get(from + i * step, count), shift, scale, offset),
              position<false>{at + i * step, 0}, count),
          count);
  }

  /// Result for v, an exponential that y stored or, if y stores none, an
  /// element of x.
  template <class T>
  static NNC_INLINE V finish(const S &s, V v, V shift, V scale, V offset) {
    if (s.log)
      return (v - shift) - offset;
    return (keeps<T>(s) ? v : exp_or_zero(v - shift)) * scale;
  }

  template <class T> static NNC_INLINE V get(const T *p, int count) {
    return count == W ? load<V>(p) : load<V>(p, count);
  }
  template <class T> static NNC_INLINE void put(T *p, V v, int count) {
    if (count == W)
      store(p, v);
    else
      store(p, v, count);
  }
};

template <class S, class Epi> using softmax_f32_sse4 = softmax_t<4, S, Epi>;
template <class S, class Epi> using softmax_f32_avx2 = softmax_t<8, S, Epi>;
template <class S, class Epi> using softmax_f32_rvv = softmax_t<8, S, Epi>;
template <class S, class Epi>
using softmax_bf16_amxbf16 = softmax_t<16, S, Epi>;
template <class S, class Epi> using softmax_f32_avx512 = softmax_t<16, S, Epi>;
template <class S, class Epi> using softmax_f32_neon = softmax_t<4, S, Epi>;
template <class S, class Epi> using softmax_f16_neonfp16 = softmax_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_H
