//===- vec_fpu.h - Register tiles of single floats ------------------------===//
//
// Sums of products on machines without vectors whose floating-point unit has 32
// registers of one float, such as Cortex-M4, M7 and M33. A tile holds the sums
// of up to four points by up to eight channels. They are members of structs,
// not elements of arrays: g++ keeps only the former in registers at all levels
// of optimization. Other machines compute the same, so that tests run
// everywhere.
//
// On Cortex-M55 and M85 four floats are one vector, of which there are eight:
// a vector of sums adds the products of one of weights and a number.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_FPU_H
#define NNC_SIMD_VEC_FPU_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_portable.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) &&                   \
    !defined(NNC_PORTABLE_SIMD)
#include <arm_mve.h>
#define NNC_FPU_VECTORS 1
#endif

// One instruction loads several registers and steps the pointer. clang makes it
// of single loads, g++ does not.
#if defined(__GNUC__) && !defined(__clang__) && defined(__ARM_FP) &&           \
    defined(__thumb2__) && !defined(NNC_FPU_VECTORS) &&                        \
    !defined(NNC_PORTABLE_SIMD)
#define NNC_FPU_LOADS 1
#endif

namespace nnc {

/// Four or eight floats, in a vector or each in a register of its own.
#if defined(NNC_FPU_VECTORS)
struct four_floats {
  float32x4_t v{};
};
template <int I> NNC_INLINE float lane_of(const four_floats &x) {
  return vgetq_lane_f32(x.v, I);
}
#else
struct four_floats {
  float a, b, c, d;
};
template <int I> NNC_INLINE float lane_of(const four_floats &x) {
  return I == 0 ? x.a : I == 1 ? x.b : I == 2 ? x.c : x.d;
}
#endif
struct eight_floats {
  four_floats low, high;
};
template <class V> constexpr int floats_in = sizeof(V) / sizeof(float);

/// Loads a value of type V, one float or several consecutive ones. With Steps,
/// advances the pointer to the next value.
template <class V, bool Steps> NNC_INLINE V take_floats(const float *&p) {
  constexpr int count = floats_in<V>;
  const float *const at = p;
#if defined(NNC_FPU_VECTORS)
  // g++ does not step pointers by loads of vectors.
  if constexpr (count == 8 && Steps) {
    float32x4_t low, high;
    __asm__ volatile("vldrw.32 %q[low], [%[p]], #16\n\t"
                     "vldrw.32 %q[high], [%[p]], #16"
                     : [p] "+&r"(p), [low] "=&w"(low), [high] "=w"(high)
                     :
                     : "memory");
    return {{low}, {high}};
  } else if constexpr (count == 4 && Steps) {
    float32x4_t four;
    __asm__ volatile("vldrw.32 %q[four], [%[p]], #16"
                     : [p] "+r"(p), [four] "=w"(four)
                     :
                     : "memory");
    return {four};
  } else if constexpr (count == 8) {
    return {{vldrwq_f32(at)}, {vldrwq_f32(at + 4)}};
  } else if constexpr (count == 4) {
    return {vldrwq_f32(at)};
  } else {
    p = Steps ? p + count : p;
    return *at;
  }
#elif defined(NNC_FPU_LOADS)
  if constexpr (count == 4) {
    register float a __asm__("s0");
    register float b __asm__("s1");
    register float c __asm__("s2");
    register float d __asm__("s3");
    if constexpr (Steps)
      __asm__ volatile("vldmia %[p]!, {s0-s3}"
                       : [p] "+r"(p), "=t"(a), "=t"(b), "=t"(c), "=t"(d)
                       :
                       : "memory");
    else
      __asm__ volatile("vldmia %[p], {s0-s3}"
                       : "=t"(a), "=t"(b), "=t"(c), "=t"(d)
                       : [p] "r"(p)
                       : "memory");
    return {a, b, c, d};
  } else if constexpr (count == 8) {
    register float a __asm__("s0");
    register float b __asm__("s1");
    register float c __asm__("s2");
    register float d __asm__("s3");
    register float e __asm__("s4");
    register float f __asm__("s5");
    register float g __asm__("s6");
    register float h __asm__("s7");
    if constexpr (Steps)
      __asm__ volatile("vldmia %[p]!, {s0-s7}"
                       : [p] "+r"(p), "=t"(a), "=t"(b), "=t"(c), "=t"(d),
                         "=t"(e), "=t"(f), "=t"(g), "=t"(h)
                       :
                       : "memory");
    else
      __asm__ volatile("vldmia %[p], {s0-s7}"
                       : "=t"(a), "=t"(b), "=t"(c), "=t"(d), "=t"(e), "=t"(f),
                         "=t"(g), "=t"(h)
                       : [p] "r"(p)
                       : "memory");
    return {{a, b, c, d}, {e, f, g, h}};
  } else {
    p = Steps ? p + count : p;
    return *at;
  }
#else
  p = Steps ? p + count : p;
  if constexpr (count == 8)
    return {{at[0], at[1], at[2], at[3]}, {at[4], at[5], at[6], at[7]}};
  else if constexpr (count == 4)
    return {at[0], at[1], at[2], at[3]};
  else
    return *at;
#endif
}

NNC_INLINE void store_floats(float v, float *p) { *p = v; }
NNC_INLINE void store_floats(const four_floats &v, float *p) {
#if defined(NNC_FPU_VECTORS)
  vstrwq_f32(p, v.v);
#else
  p[0] = v.a, p[1] = v.b, p[2] = v.c, p[3] = v.d;
#endif
}
NNC_INLINE void store_floats(const eight_floats &v, float *p) {
  store_floats(v.low, p);
  store_floats(v.high, p + 4);
}

/// sum + x * w, where one factor may be the same for all sums.
NNC_INLINE void add_product(float &sum, float x, float w) {
  sum = fma(x, w, sum);
}
#if defined(NNC_FPU_VECTORS)
NNC_INLINE void add_product(four_floats &sum, const four_floats &x,
                            const four_floats &w) {
  sum.v = vfmaq_f32(sum.v, x.v, w.v);
}
NNC_INLINE void add_product(four_floats &sum, float x, const four_floats &w) {
  sum.v = vfmaq_n_f32(sum.v, w.v, x);
}
NNC_INLINE void add_product(four_floats &sum, const four_floats &x, float w) {
  add_product(sum, w, x);
}
#else
NNC_INLINE void add_product(four_floats &sum, const four_floats &x,
                            const four_floats &w) {
  sum.a = fma(x.a, w.a, sum.a);
  sum.b = fma(x.b, w.b, sum.b);
  sum.c = fma(x.c, w.c, sum.c);
  sum.d = fma(x.d, w.d, sum.d);
}
NNC_INLINE void add_product(four_floats &sum, float x, const four_floats &w) {
  add_product(sum, four_floats{x, x, x, x}, w);
}
NNC_INLINE void add_product(four_floats &sum, const four_floats &x, float w) {
  add_product(sum, x, four_floats{w, w, w, w});
}
#endif
template <class X>
NNC_INLINE void add_product(eight_floats &sum, const X &x,
                            const eight_floats &w) {
  if constexpr (floats_in<X> == 8) {
    add_product(sum.low, x.low, w.low);
    add_product(sum.high, x.high, w.high);
  } else {
    add_product(sum.low, x, w.low);
    add_product(sum.high, x, w.high);
  }
}
NNC_INLINE void add_product(eight_floats &sum, const eight_floats &x, float w) {
  add_product(sum.low, x.low, w);
  add_product(sum.high, x.high, w);
}

/// The sums of P points.
template <int P, class V> struct point_sums {
  V first{};
  point_sums<P - 1, V> others;
};
template <class V> struct point_sums<0, V> {};

/// Adds to the sum of each point the product of w and the point's factor, of
/// type X. The factors are `point` elements apart.
template <class X, class W, class V>
NNC_INLINE void add_products(point_sums<0, V> &, const float *, ptrdiff_t,
                             const W &) {}
template <class X, class W, int P, class V>
NNC_INLINE void add_products(point_sums<P, V> &sums, const float *x,
                             ptrdiff_t point, const W &w) {
  const float *at = x;
  add_product(sums.first, take_floats<X, false>(at), w);
  add_products<X, W>(sums.others, x + point, point, w);
}

/// Stores the sums of points one after the other.
template <class V>
NNC_INLINE void store_sums(const point_sums<0, V> &, float *) {}
template <int P, class V>
NNC_INLINE void store_sums(const point_sums<P, V> &sums, float *p) {
  store_floats(sums.first, p);
  store_sums(sums.others, p + floats_in<V>);
}

/// The steps of a sum, as three nested loops: the number of iterations of each,
/// and the distances in x and w between two of its iterations, in elements. The
/// innermost loop has at least one iteration. Points are `point` elements of x
/// apart.
struct float_steps {
  int outer, middle, inner;
  ptrdiff_t x_outer, x_middle, x_inner;
  ptrdiff_t w_outer, w_middle, w_inner;
  ptrdiff_t point;
};

/// Adds the products of one step, and advances both pointers to the next step.
template <class X, class W, bool IsPacked, int P, class V>
NNC_INLINE void add_step(point_sums<P, V> &sums, const float *&x,
                         const float *&w, const float_steps &s) {
  const W factor = take_floats<W, IsPacked>(w);
  add_products<X>(sums, x, s.point, factor);
  x += s.x_inner;
  if (!IsPacked)
    w += s.w_inner;
}

/// Adds the products of all steps, of factors of the types X and W. With
/// IsPacked the factors w of the innermost loop are contiguous, and s.w_inner
/// is not read. With Inner > 0 this loop has Inner iterations and is unrolled.
template <class X, class W, bool IsPacked, int Inner = 0, int P, class V>
NNC_INLINE void add_steps(point_sums<P, V> &sums, const float *x,
                          const float *w, const float_steps &s) {
  for (int i = s.outer; i > 0; --i, x += s.x_outer, w += s.w_outer) {
    const float *xm = x, *wm = w;
    for (int j = s.middle; j > 0; --j, xm += s.x_middle, wm += s.w_middle) {
      const float *xi = xm, *wi = wm;
      if constexpr (Inner > 0) {
        NNC_UNROLL
        for (int k = 0; k < Inner; ++k)
          add_step<X, W, IsPacked>(sums, xi, wi, s);
      } else {
        const float *const end =
            wm + s.inner * (IsPacked ? floats_in<W> : s.w_inner);
        do
          add_step<X, W, IsPacked>(sums, xi, wi, s);
        while (wi != end);
      }
    }
  }
}

/// Computes the sums of P points, or of one, in a function that all layers of a
/// module share, and stores them at `sums`.
template <class X, class W, class V, bool IsPacked, int P>
NNC_NOINLINE void add_shared_steps(const float *x, const float *w,
                                   const float_steps &steps, bool is_one,
                                   float *sums) {
  const float_steps s = steps; // in registers
  if (P == 1 || is_one) {
    point_sums<1, V> one;
    add_steps<X, W, IsPacked>(one, x, w, s);
    store_floats(one.first, sums);
  } else {
    point_sums<P, V> tile;
    add_steps<X, W, IsPacked>(tile, x, w, s);
    store_sums(tile, sums);
  }
}

} // namespace nnc

#endif // NNC_SIMD_VEC_FPU_H
