//===- vec_portable.h - Vectors made of pairs of narrower ones ------------===//
//
// The primary templates of f32x, i32x and maskx, which are pairs down to one
// lane, and the operations that each specialization in a vec_<isa>.h provides
// for its own register. The overloads for float define what one lane does.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_PORTABLE_H
#define NNC_SIMD_VEC_PORTABLE_H

#include "runtime/functions.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nnc {

//===----------------------------------------------------------------------===//
// One lane.
//===----------------------------------------------------------------------===//

/// a * b + c, rounded once where the machine has the instruction. GPUs have it.
NNC_INLINE float fma(float a, float b, float c) {
#if defined(__CUDACC__) || defined(NNC_EMULATE_CUDA)
  return ::fmaf(a, b, c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__riscv_f)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

NNC_INLINE float select(bool m, float a, float b) { return m ? a : b; }
NNC_INLINE int32_t select(bool m, int32_t a, int32_t b) { return m ? a : b; }
NNC_INLINE float max_fast(float a, float b) { return a > b ? a : b; }
NNC_INLINE float min_fast(float a, float b) { return a < b ? a : b; }

/// Square root, correctly rounded.
NNC_INLINE float vec_sqrt(float x) { return ::sqrtf(x); }
/// Rounding to a whole number: down, up, to zero, to the nearest (ties to
/// even).
NNC_INLINE float vec_floor(float x) { return ::floorf(x); }
NNC_INLINE float vec_ceil(float x) { return ::ceilf(x); }
NNC_INLINE float vec_trunc(float x) { return ::truncf(x); }
NNC_INLINE float vec_round(float x) { return ::rintf(x); }

/// The bits of a float as an integer, and back.
NNC_INLINE int32_t bit_cast_int(float x) {
  int32_t i;
  memcpy(&i, &x, sizeof i);
  return i;
}
NNC_INLINE float bit_cast_float(int32_t i) {
  float x;
  memcpy(&x, &i, sizeof x);
  return x;
}

/// Conversions by value. to_int cuts towards zero and needs |x| < 2^31.
NNC_INLINE int32_t to_int(float x) { return static_cast<int32_t>(x); }
NNC_INLINE float to_float(int32_t i) { return static_cast<float>(i); }

/// Shifts of every lane by N bits. Right shifts are arithmetic (the sign is
/// kept) or logical (zeros are shifted in).
template <int N> NNC_INLINE int32_t shift_left(int32_t i) {
  return static_cast<int32_t>(static_cast<uint32_t>(i) << N);
}
template <int N> NNC_INLINE int32_t shift_right(int32_t i) { return i >> N; }
template <int N> NNC_INLINE int32_t shift_right_logical(int32_t i) {
  return static_cast<int32_t>(static_cast<uint32_t>(i) >> N);
}

/// Sum, maximum and minimum over the lanes. The sum adds halves pairwise: lane
/// i and lane i + W/2, and so on, in every width and on every machine.
NNC_INLINE float reduce_add(float x) { return x; }
NNC_INLINE float reduce_max(float x) { return x; }
NNC_INLINE float reduce_min(float x) { return x; }
NNC_INLINE bool any(bool m) { return m; }
NNC_INLINE bool all(bool m) { return m; }

//===----------------------------------------------------------------------===//
// Masks: the result of a comparison.
//===----------------------------------------------------------------------===//

template <int W> struct maskx {
  maskx<W / 2> lo, hi;
};
template <> struct maskx<1> {
  bool v;
};

template <int W> NNC_INLINE maskx<W> operator&(maskx<W> a, maskx<W> b) {
  if constexpr (W == 1)
    return {a.v && b.v};
  else
    return {a.lo & b.lo, a.hi & b.hi};
}
template <int W> NNC_INLINE maskx<W> operator|(maskx<W> a, maskx<W> b) {
  if constexpr (W == 1)
    return {a.v || b.v};
  else
    return {a.lo | b.lo, a.hi | b.hi};
}
template <int W> NNC_INLINE maskx<W> operator!(maskx<W> a) {
  if constexpr (W == 1)
    return {!a.v};
  else
    return {!a.lo, !a.hi};
}
template <int W> NNC_INLINE bool any(maskx<W> a) {
  if constexpr (W == 1)
    return a.v;
  else
    return any(a.lo) || any(a.hi);
}
template <int W> NNC_INLINE bool all(maskx<W> a) { return !any(!a); }

//===----------------------------------------------------------------------===//
// Integers of 32 bits, with only the operations that the math functions need.
// Arithmetic wraps.
//===----------------------------------------------------------------------===//

template <int W> struct i32x {
  i32x<W / 2> lo, hi;
  i32x() = default;
  explicit NNC_INLINE i32x(int32_t x) : lo(x), hi(x) {}
  NNC_INLINE i32x(i32x<W / 2> l, i32x<W / 2> h) : lo(l), hi(h) {}
};
template <> struct i32x<1> {
  int32_t v;
  i32x() = default;
  explicit NNC_INLINE i32x(int32_t x) : v(x) {}
};

#define NNC_PAIRWISE_INT(OP)                                                   \
  template <int W> NNC_INLINE i32x<W> operator OP(i32x<W> a, i32x<W> b) {      \
    if constexpr (W == 1)                                                      \
      return i32x<1>(static_cast<int32_t>(static_cast<uint32_t>(a.v)           \
                                              OP static_cast<uint32_t>(b.v))); \
    else                                                                       \
      return {a.lo OP b.lo, a.hi OP b.hi};                                     \
  }
NNC_PAIRWISE_INT(+)
NNC_PAIRWISE_INT(-)
NNC_PAIRWISE_INT(&)
NNC_PAIRWISE_INT(|)
NNC_PAIRWISE_INT(^)
#undef NNC_PAIRWISE_INT

#define NNC_PAIRWISE_SHIFT(NAME)                                               \
  template <int N, int W> NNC_INLINE i32x<W> NAME(i32x<W> a) {                 \
    if constexpr (W == 1)                                                      \
      return i32x<1>(NAME<N>(a.v));                                            \
    else                                                                       \
      return {NAME<N>(a.lo), NAME<N>(a.hi)};                                   \
  }
NNC_PAIRWISE_SHIFT(shift_left)
NNC_PAIRWISE_SHIFT(shift_right)
NNC_PAIRWISE_SHIFT(shift_right_logical)
#undef NNC_PAIRWISE_SHIFT

template <int W> NNC_INLINE maskx<W> operator==(i32x<W> a, i32x<W> b) {
  if constexpr (W == 1)
    return {a.v == b.v};
  else
    return {a.lo == b.lo, a.hi == b.hi};
}
template <int W> NNC_INLINE maskx<W> operator<(i32x<W> a, i32x<W> b) {
  if constexpr (W == 1)
    return {a.v < b.v};
  else
    return {a.lo < b.lo, a.hi < b.hi};
}

//===----------------------------------------------------------------------===//
// Floats.
//===----------------------------------------------------------------------===//

/// True if a multiply-add can take one operand from a lane of a vector. If so,
/// there is fma_lane(a, lane, b, c), which is fma(V(a[lane]), b, c).
template <class V> constexpr bool multiplies_by_lane = false;

/// A vector of W halves that computes with halves; see vec_neonfp16.h.
template <int W> struct f16x;

template <int W> struct f32x {
  static_assert(W >= 2 && (W & (W - 1)) == 0, "W is a power of two");
  f32x<W / 2> lo, hi;
  f32x() = default;
  explicit NNC_INLINE f32x(float x) : lo(x), hi(x) {}
  NNC_INLINE f32x(f32x<W / 2> l, f32x<W / 2> h) : lo(l), hi(h) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) {
    return {f32x<W / 2>::load(p), f32x<W / 2>::load(p + W / 2)};
  }
  static NNC_INLINE f32x load(const float *p, int count) {
    if (count <= W / 2)
      return {f32x<W / 2>::load(p, count), f32x<W / 2>(0.0f)};
    return {f32x<W / 2>::load(p), f32x<W / 2>::load(p + W / 2, count - W / 2)};
  }
  /// Looks up in a table of 16 values: `low` gets those of the lower halves of
  /// W bytes, `high` those of the upper halves.
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    f32x<W / 2>::look_up16(table, codes, low.lo, high.lo);
    f32x<W / 2>::look_up16(table, codes + W / 2, low.hi, high.hi);
  }
  NNC_INLINE void store(float *p) const {
    lo.store(p);
    hi.store(p + W / 2);
  }
  NNC_INLINE void store(float *p, int count) const {
    if (count <= W / 2)
      return lo.store(p, count);
    lo.store(p);
    hi.store(p + W / 2, count - W / 2);
  }
};

template <> struct f32x<1> {
  float v;
  f32x() = default;
  explicit NNC_INLINE f32x(float x) : v(x) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) { return f32x(*p); }
  static NNC_INLINE f32x load(const float *p, int count) {
    return f32x(count > 0 ? *p : 0.0f);
  }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    low = f32x(table[*codes & 15]);
    high = f32x(table[*codes >> 4]);
  }
  NNC_INLINE void store(float *p) const { *p = v; }
  NNC_INLINE void store(float *p, int count) const {
    if (count > 0)
      *p = v;
  }
};

/// f32x<W>::look_up16() for registers without an instruction for it.
template <int W>
NNC_INLINE void look_up16_by_lane(const float *table,
                                  const unsigned char *codes, f32x<W> &low,
                                  f32x<W> &high) {
  float x[static_cast<size_t>(W)], y[static_cast<size_t>(W)];
  for (int i = 0; i < W; ++i) {
    x[i] = table[codes[i] & 15];
    y[i] = table[codes[i] >> 4];
  }
  low = f32x<W>::load(x);
  high = f32x<W>::load(y);
}

#define NNC_PAIRWISE_BINARY(OP)                                                \
  template <int W> NNC_INLINE f32x<W> operator OP(f32x<W> a, f32x<W> b) {      \
    if constexpr (W == 1)                                                      \
      return f32x<1>(a.v OP b.v);                                              \
    else                                                                       \
      return {a.lo OP b.lo, a.hi OP b.hi};                                     \
  }
NNC_PAIRWISE_BINARY(+)
NNC_PAIRWISE_BINARY(-)
NNC_PAIRWISE_BINARY(*)
NNC_PAIRWISE_BINARY(/)
#undef NNC_PAIRWISE_BINARY

#define NNC_PAIRWISE_COMPARE(OP)                                               \
  template <int W> NNC_INLINE maskx<W> operator OP(f32x<W> a, f32x<W> b) {     \
    if constexpr (W == 1)                                                      \
      return {a.v OP b.v};                                                     \
    else                                                                       \
      return {a.lo OP b.lo, a.hi OP b.hi};                                     \
  }
NNC_PAIRWISE_COMPARE(<)
NNC_PAIRWISE_COMPARE(<=)
NNC_PAIRWISE_COMPARE(==)
#undef NNC_PAIRWISE_COMPARE

#define NNC_PAIRWISE_FUNCTION(NAME)                                            \
  template <int W> NNC_INLINE f32x<W> NAME(f32x<W> a, f32x<W> b) {             \
    if constexpr (W == 1)                                                      \
      return f32x<1>(NAME(a.v, b.v));                                          \
    else                                                                       \
      return {NAME(a.lo, b.lo), NAME(a.hi, b.hi)};                             \
  }
NNC_PAIRWISE_FUNCTION(max_fast)
NNC_PAIRWISE_FUNCTION(min_fast)
#undef NNC_PAIRWISE_FUNCTION

#define NNC_LANEWISE_FUNCTION(RESULT, NAME, ARGUMENT)                          \
  template <int W> NNC_INLINE RESULT<W> NAME(ARGUMENT<W> a) {                  \
    if constexpr (W == 1)                                                      \
      return RESULT<1>(NAME(a.v));                                             \
    else                                                                       \
      return {NAME(a.lo), NAME(a.hi)};                                         \
  }
NNC_LANEWISE_FUNCTION(f32x, vec_sqrt, f32x)
NNC_LANEWISE_FUNCTION(f32x, vec_floor, f32x)
NNC_LANEWISE_FUNCTION(f32x, vec_ceil, f32x)
NNC_LANEWISE_FUNCTION(f32x, vec_trunc, f32x)
NNC_LANEWISE_FUNCTION(f32x, vec_round, f32x)
NNC_LANEWISE_FUNCTION(i32x, bit_cast_int, f32x)
NNC_LANEWISE_FUNCTION(f32x, bit_cast_float, i32x)
NNC_LANEWISE_FUNCTION(i32x, to_int, f32x)
NNC_LANEWISE_FUNCTION(f32x, to_float, i32x)
#undef NNC_LANEWISE_FUNCTION

template <int W> NNC_INLINE f32x<W> fma(f32x<W> a, f32x<W> b, f32x<W> c) {
  if constexpr (W == 1)
    return f32x<1>(fma(a.v, b.v, c.v));
  else
    return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)};
}

/// a where the mask holds, b elsewhere.
template <int W> NNC_INLINE f32x<W> select(maskx<W> m, f32x<W> a, f32x<W> b) {
  if constexpr (W == 1)
    return f32x<1>(m.v ? a.v : b.v);
  else
    return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)};
}
template <int W> NNC_INLINE i32x<W> select(maskx<W> m, i32x<W> a, i32x<W> b) {
  if constexpr (W == 1)
    return i32x<1>(m.v ? a.v : b.v);
  else
    return {select(m.lo, a.lo, b.lo), select(m.hi, a.hi, b.hi)};
}

template <int W> NNC_INLINE float reduce_add(f32x<W> a) {
  if constexpr (W == 1)
    return a.v;
  else
    return reduce_add(a.lo + a.hi);
}
template <int W> NNC_INLINE float reduce_max(f32x<W> a) {
  if constexpr (W == 1)
    return a.v;
  else
    return reduce_max(max_fast(a.lo, a.hi));
}
template <int W> NNC_INLINE float reduce_min(f32x<W> a) {
  if constexpr (W == 1)
    return a.v;
  else
    return reduce_min(min_fast(a.lo, a.hi));
}

/// The mask of V whose first `count` lanes hold.
template <class V> struct first_lanes_of {
  static NNC_INLINE bool make(int count) { return count > 0; }
};
template <int W> struct first_lanes_of<f32x<W>> {
  static NNC_INLINE maskx<W> make(int count) {
    if constexpr (W == 1)
      return {count > 0};
    else
      return {first_lanes_of<f32x<W / 2>>::make(count),
              first_lanes_of<f32x<W / 2>>::make(count - W / 2)};
  }
};
template <class V> NNC_INLINE auto first_lanes(int count) {
  return first_lanes_of<V>::make(count);
}

} // namespace nnc

#endif // NNC_SIMD_VEC_PORTABLE_H
