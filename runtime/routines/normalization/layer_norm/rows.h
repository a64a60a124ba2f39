//===- rows.h - Layer normalisation with vectors of W floats --------------===//
//
// The layer of portable.h in float, with the variance from a second pass.
// Vectors run along the row; sums are made in 2W parts. Tensors are floats or
// halves; a half is rounded once, when stored. A unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_H
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/units/caches.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

template <int W, class S, class Epi> struct layer_norm_t {
  static constexpr int units(const S &s) { return s.outer; }

  template <class T>
  static void run(const S &s, const T *x, const T *scale, const T *bias, T *y,
                  const Epi &epi, int begin, int end) {
    const int whole = s.size / W * W, rest = s.size - whole;
    const float n = static_cast<float>(s.size);
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = ptrdiff_t(unit) * s.size;
      const T *row = x + at;
      for (int i = 0; i < s.size; i += vectors_in_line<T, 1>)
        NNC_PREFETCH_TO_WRITE(y + at + i);
      const V mean(sum(row, s.size, [](V v) { return v; }) / n);
      const float variance = sum(row, s.size,
                                 [&](V v) {
                                   const V d = v - mean;
                                   return d * d;
                                 }) /
                             n;
      const V factor(1.0f / vec_sqrt(variance + s.epsilon));
      const auto normalised = [&](V v, V a, V b) {
        return fma((v - mean) * factor, a, b);
      };
      for (int i = 0; i < whole; i += W)
        store(y + at + i, epi(normalised(load<V>(row + i), load<V>(scale + i),
                                         load<V>(bias + i)),
                              position<true>{at + i, i}));
      if (rest)
        store(y + at + whole,
              epi(normalised(load<V>(row + whole, rest),
                             load<V>(scale + whole, rest),
                             load<V>(bias + whole, rest)),
                  position<true>{at + whole, whole}, rest),
              rest);
    }
  }

private:
  using V = f32x<W>;

  /// Sum of f(v) over all elements v of a row.
  template <class T, class F>
  static NNC_INLINE float sum(const T *row, int n, F f) {
    V even(0.0f), odd(0.0f);
    int i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
      even += f(load<V>(row + i));
      odd += f(load<V>(row + i + W));
    }
    for (; i < n; i += W)
      even += n - i < W ? keep_first(f(load<V>(row + i, n - i)), n - i)
                        : f(load<V>(row + i));
    return reduce_add(even + odd);
  }
};

template <class S, class Epi>
using layer_norm_f32_sse4 = layer_norm_t<4, S, Epi>;
template <class S, class Epi>
using layer_norm_f32_avx2 = layer_norm_t<8, S, Epi>;
template <class S, class Epi>
using layer_norm_f32_rvv = layer_norm_t<8, S, Epi>;
template <class S, class Epi>
using layer_norm_bf16_amxbf16 = layer_norm_t<16, S, Epi>;
template <class S, class Epi>
using layer_norm_f32_avx512 = layer_norm_t<16, S, Epi>;
template <class S, class Epi>
using layer_norm_f32_neon = layer_norm_t<4, S, Epi>;
template <class S, class Epi>
using layer_norm_f16_neonfp16 = layer_norm_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_H
