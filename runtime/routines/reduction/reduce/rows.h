//===- rows.h - Reductions with vectors of W floats -----------------------===//
//
// The reductions of portable.h in float. Where the axis is the last one (inner
// 1) vectors run along it, four sums at once; elsewhere they run along inner, W
// results at a time. Tensors are floats or halves; a half is rounded once, when
// stored. A unit is one index of outer.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REDUCTION_REDUCE_ROWS_H
#define NNC_ROUTINES_REDUCTION_REDUCE_ROWS_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/math.h"

namespace nnc {

/// Kinds of reductions: `start` stands for an absent element, map() is applied
/// to each element, join() combines two partial results, lanes() reduces a
/// vector to one number, and finish() makes the result of n elements.
struct vector_sum {
  static constexpr float start = 0.0f;
  template <class V> static NNC_INLINE V map(V v) { return v; }
  template <class V> static NNC_INLINE V join(V a, V b) { return a + b; }
  template <class V> static NNC_INLINE float lanes(V v) {
    return reduce_add(v);
  }
  template <class V> static NNC_INLINE V finish(V v, int) { return v; }
};
struct vector_mean : vector_sum {
  template <class V> static NNC_INLINE V finish(V v, int n) {
    return v / V(static_cast<float>(n));
  }
};
struct vector_l1 : vector_sum {
  template <class V> static NNC_INLINE V map(V v) { return vec_abs(v); }
};
struct vector_sum_square : vector_sum {
  template <class V> static NNC_INLINE V map(V v) { return v * v; }
};
struct vector_l2 : vector_sum_square {
  template <class V> static NNC_INLINE V finish(V v, int) {
    return vec_sqrt(v);
  }
};
struct vector_max : vector_sum {
  static constexpr float start = -HUGE_VALF;
  template <class V> static NNC_INLINE V join(V a, V b) {
    return nnc::max(a, b);
  }
  template <class V> static NNC_INLINE float lanes(V v) {
    return any(v != v) ? NAN : reduce_max(v);
  }
};
struct vector_min : vector_sum {
  static constexpr float start = HUGE_VALF;
  template <class V> static NNC_INLINE V join(V a, V b) {
    return nnc::min(a, b);
  }
  template <class V> static NNC_INLINE float lanes(V v) {
    return any(v != v) ? NAN : reduce_min(v);
  }
};

template <class Kind, int W, class S, class Epi> struct reduce_rows_t {
  static constexpr int units(const S &s) { return s.outer; }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *from = x + ptrdiff_t(unit) * s.size * s.inner;
      const ptrdiff_t at = ptrdiff_t(unit) * s.inner;
      if (s.inner == 1) {
        y[at] = epi(Kind::finish(row(from, s.size), s.size),
                    position<false>{at, 0});
        continue;
      }
      int i = 0;
      for (; i + W <= s.inner; i += W)
        store(y + at + i,
              epi(columns(s, from + i, W), position<false>{at + i, 0}));
      if (i < s.inner)
        store(y + at + i,
              epi(columns(s, from + i, s.inner - i), position<false>{at + i, 0},
                  s.inner - i),
              s.inner - i);
    }
  }

private:
  using V = f32x<W>;

  /// Reduces n contiguous elements, without finish().
  template <class T> static NNC_INLINE float row(const T *x, int n) {
    V part[4] = {V(Kind::start), V(Kind::start), V(Kind::start),
                 V(Kind::start)};
    int i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
      for (int p = 0; p < 4; ++p)
        part[p] = Kind::join(part[p], Kind::map(load<V>(x + i + p * W)));
    for (; i + W <= n; i += W)
      part[0] = Kind::join(part[0], Kind::map(load<V>(x + i)));
    if (i < n)
      part[1] = Kind::join(part[1], select(first_lanes<V>(n - i),
                                           Kind::map(load<V>(x + i, n - i)),
                                           V(Kind::start)));
    return Kind::lanes(
        Kind::join(Kind::join(part[0], part[1]), Kind::join(part[2], part[3])));
  }

  /// Reduces `count` columns, at most W, of `size` elements each.
  template <class T>
  static NNC_INLINE V columns(const S &s, const T *x, int count) {
    const ptrdiff_t step = s.inner;
    const auto get = [&](int i) {
      return Kind::map(count == W ? load<V>(x + i * step)
                                  : load<V>(x + i * step, count));
    };
    V part[4] = {V(Kind::start), V(Kind::start), V(Kind::start),
                 V(Kind::start)};
    int i = 0;
    for (; i + 4 <= s.size; i += 4)
      for (int p = 0; p < 4; ++p)
        part[p] = Kind::join(part[p], get(i + p));
    for (; i < s.size; ++i)
      part[0] = Kind::join(part[0], get(i));
    return Kind::finish(
        Kind::join(Kind::join(part[0], part[1]), Kind::join(part[2], part[3])),
        s.size);
  }
};

/// Defines reduce_<kind>_f32_<isa>.
#define NNC_REDUCE_ROWS(KIND)                                                  \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f32_sse4 = reduce_rows_t<vector_##KIND, 4, S, Epi>;    \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f32_avx2 = reduce_rows_t<vector_##KIND, 8, S, Epi>;    \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f32_rvv = reduce_rows_t<vector_##KIND, 8, S, Epi>;     \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f32_avx512 = reduce_rows_t<vector_##KIND, 16, S, Epi>; \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f32_neon = reduce_rows_t<vector_##KIND, 4, S, Epi>;
NNC_REDUCE_ROWS(sum)
NNC_REDUCE_ROWS(mean)
NNC_REDUCE_ROWS(max)
NNC_REDUCE_ROWS(min)
NNC_REDUCE_ROWS(l1)
NNC_REDUCE_ROWS(l2)
NNC_REDUCE_ROWS(sum_square)
#undef NNC_REDUCE_ROWS

/// Defines reduce_<kind>_f16_neonfp16. There is none for sum_square, whose
/// results easily leave the range of halves at either end.
#define NNC_REDUCE_HALVES(KIND)                                                \
  template <class S, class Epi>                                                \
  using reduce_##KIND##_f16_neonfp16 =                                         \
      reduce_rows_t<vector_##KIND, 8, S, Epi>;
NNC_REDUCE_HALVES(sum)
NNC_REDUCE_HALVES(mean)
NNC_REDUCE_HALVES(max)
NNC_REDUCE_HALVES(min)
NNC_REDUCE_HALVES(l1)
NNC_REDUCE_HALVES(l2)
#undef NNC_REDUCE_HALVES

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_REDUCE_ROWS_H
