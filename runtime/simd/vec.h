//===- vec.h - Vectors of float of any width ------------------------------===//
//
// f32x<W> is a value of W floats, W a power of two. Where the machine has a
// register of that width it is that register; elsewhere it is a pair of
// f32x<W/2>, down to f32x<1>, so every routine can be built and tested at
// every width on any machine. NNC_PORTABLE_SIMD forces pairs all the way. An
// emitted module contains vec_<isa>.h only for the instruction sets that its
// routines are written for.
//
// Every free function here also takes plain float (and int32_t, bool in
// place of i32x, maskx), so a template over V serves the scalar tail and all
// widths, with the same rounding in each lane. That holds as long as the
// compiler does not contract a*b+c by itself: build with -ffp-contract=off and
// write fma() where a fused multiply-add is wanted.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_H
#define NNC_SIMD_VEC_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/vec_portable.h"

#include "runtime/simd/vec_avx2.h"
#include "runtime/simd/vec_avx512.h"
#include "runtime/simd/vec_helium.h"
#include "runtime/simd/vec_neon.h"
#include "runtime/simd/vec_rvv.h"
#include "runtime/simd/vec_sse4.h"

namespace nnc {

/// Number of lanes of V; 1 for float and any other scalar.
template <class V> constexpr int lanes = 1;
template <int W> constexpr int lanes<f32x<W>> = W;
template <int W> constexpr int lanes<i32x<W>> = W;

/// Type of V's elements in memory.
template <class V> struct element {
  using type = float;
};
template <class V> using element_of = typename element<V>::type;
/// True if values of type T in memory are loaded as floats: float or f16.
template <class T> constexpr bool holds_float = false;
template <> inline constexpr bool holds_float<float> = true;

/// v as a vector of float, which the arithmetic on finished sums uses.
template <int W> NNC_INLINE f32x<W> widen(f32x<W> v) { return v; }

/// The 32-bit integer vector and the mask that go with V. Vectors of integers
/// wrap; int32_t must not overflow, so templates over V must not rely on
/// wrapping.
template <class V> struct vector_traits {
  using integer = int32_t;
  using mask = bool;
};
template <int W> struct vector_traits<f32x<W>> {
  using integer = i32x<W>;
  using mask = maskx<W>;
};
template <class V> using integer_of = typename vector_traits<V>::integer;
template <class V> using mask_of = typename vector_traits<V>::mask;

//===----------------------------------------------------------------------===//
// Memory. Addresses need no alignment.
//===----------------------------------------------------------------------===//

/// Loads lanes<V> values from p.
template <class V> NNC_INLINE V load(const float *p) {
  if constexpr (lanes<V> == 1)
    return V(*p);
  else
    return V::load(p);
}

/// Loads the first `count` lanes; the others are zero and are not read.
template <class V> NNC_INLINE V load(const float *p, int count) {
  if constexpr (lanes<V> == 1)
    return V(count > 0 ? *p : 0.0f);
  else
    return V::load(p, count);
}

/// Stores all lanes of v at p.
NNC_INLINE void store(float *p, float v) { *p = v; }
template <int W> NNC_INLINE void store(float *p, f32x<W> v) { v.store(p); }

/// Stores the first `count` lanes of v; memory after them is untouched.
NNC_INLINE void store(float *p, float v, int count) {
  if (count > 0)
    *p = v;
}
template <int W> NNC_INLINE void store(float *p, f32x<W> v, int count) {
  v.store(p, count);
}

/// The vector type of W lanes for elements of type T in memory: f32x<W> for
/// floats and 16-bit floats. Other types have no vectors except those of
/// bytes.h.
template <class T, int W, class = void> struct vector_memory {
  static constexpr bool exists = false;
};
template <class V, class... A> NNC_INLINE V load_floats(A... arguments) {
  return load<V>(arguments...);
}
template <class... A> NNC_INLINE void store_floats(A... arguments) {
  store(arguments...);
}
template <class T, int W>
struct vector_memory<T, W, enable_if_t<holds_float<T>>> {
  static constexpr bool exists = true;
  using vector = f32x<W>;
  static NNC_INLINE vector load(const T *p) { return load_floats<vector>(p); }
  static NNC_INLINE vector load(const T *p, int count) {
    return load_floats<vector>(p, count);
  }
  static NNC_INLINE vector repeat(T x) { return vector(float(x)); }
  static NNC_INLINE void store(T *p, vector v) { store_floats(p, v); }
  static NNC_INLINE void store(T *p, vector v, int count) {
    store_floats(p, v, count);
  }
};

/// v, kept in a register. Otherwise the compiler might read it from memory for
/// each use; see vec_avx512.h.
template <class V> NNC_INLINE V in_register(V v) { return v; }

/// V with every lane equal to x.
template <class V> NNC_INLINE V splat(float x) { return V(x); }

//===----------------------------------------------------------------------===//
// Operations composed of those in vec_portable.h and vec_<isa>.h.
//===----------------------------------------------------------------------===//

template <int W> NNC_INLINE f32x<W> &operator+=(f32x<W> &a, f32x<W> b) {
  return a = a + b;
}
template <int W> NNC_INLINE f32x<W> &operator-=(f32x<W> &a, f32x<W> b) {
  return a = a - b;
}
template <int W> NNC_INLINE f32x<W> &operator*=(f32x<W> &a, f32x<W> b) {
  return a = a * b;
}
template <int W> NNC_INLINE f32x<W> &operator/=(f32x<W> &a, f32x<W> b) {
  return a = a / b;
}
template <int W> NNC_INLINE maskx<W> operator>(f32x<W> a, f32x<W> b) {
  return b < a;
}
template <int W> NNC_INLINE maskx<W> operator>=(f32x<W> a, f32x<W> b) {
  return b <= a;
}
template <int W> NNC_INLINE maskx<W> operator!=(f32x<W> a, f32x<W> b) {
  return !(a == b);
}

template <int W> NNC_INLINE maskx<W> operator!=(maskx<W> a, maskx<W> b) {
  return (a | b) & !(a & b);
}

/// |x|, by clearing the sign bit.
template <class V> NNC_INLINE V vec_abs(V x) {
  return bit_cast_float(bit_cast_int(x) & integer_of<V>(0x7fffffff));
}

/// |x| with the sign bit of s.
template <class V> NNC_INLINE V copysign(V x, V s) {
  return bit_cast_float((bit_cast_int(x) & integer_of<V>(0x7fffffff)) |
                        (bit_cast_int(s) & integer_of<V>(INT32_MIN)));
}

/// -x, by flipping the sign bit (also of zero and NaN).
template <int W> NNC_INLINE f32x<W> operator-(f32x<W> x) {
  return bit_cast_float(bit_cast_int(x) ^ i32x<W>(INT32_MIN));
}

/// Lanes that are NaN.
template <class V> NNC_INLINE mask_of<V> vec_is_nan(V x) { return x != x; }

/// a or b, by one condition for all lanes.
template <int W>
NNC_INLINE enable_if_t<(W > 1), f32x<W>> select(bool m, f32x<W> a, f32x<W> b) {
  return m ? a : b;
}

/// The first `count` lanes of v, with zeros in the others.
template <class V> NNC_INLINE V keep_first(V v, int count) {
  return select(first_lanes<V>(count), v, V(0.0f));
}

/// Maximum and minimum; NaN if either operand is NaN. max_fast and min_fast
/// cost one instruction, and serve where no operand, or only b, may be NaN: if
/// either is NaN, some machines return b and others NaN. Which of two zeros of
/// different sign is returned depends on the machine, too.
NNC_INLINE float max(float a, float b) { return a != a ? a : max_fast(a, b); }
NNC_INLINE float min(float a, float b) { return a != a ? a : min_fast(a, b); }
template <int W> NNC_INLINE f32x<W> max(f32x<W> a, f32x<W> b) {
  return select(a != a, a, max_fast(a, b));
}
template <int W> NNC_INLINE f32x<W> min(f32x<W> a, f32x<W> b) {
  return select(a != a, a, min_fast(a, b));
}

} // namespace nnc

#endif // NNC_SIMD_VEC_H
