//===- vec_rvv.h - f32x<8> in two RISC-V vector registers (V 1.0) ---------===//
//
// GNU vectors of 32 bytes. The V extension guarantees registers of 16 bytes or
// more, so a vector is a group of two registers (LMUL = 2), of which compilers
// use the first eight lanes, whatever size the machine's registers have: code
// is right on all of them. Machines with registers of 32 bytes execute such an
// instruction at once. There are 16 groups. Multiply-adds take a scalar factor
// from a register of floats (vfmacc.vf), so that a broadcast costs nothing.
//
// Types of <riscv_vector.h> have no size and are no members of structs, so its
// intrinsics only serve loads and stores of some of the lanes. clang makes the
// same instructions of GNU vectors. g++, which lacks clang's builtins, computes
// some functions in loops over lanes.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_RVV_H
#define NNC_SIMD_VEC_RVV_H

#include "runtime/functions.h"
#include "runtime/simd/vec_portable.h"

#if defined(__riscv_v) && !defined(NNC_PORTABLE_SIMD)
#include <riscv_vector.h>
/// Says that this header is included; see vec_neon.h.
#define NNC_RVV_VECTORS

namespace nnc {

typedef float rvv_floats __attribute__((vector_size(32)));
typedef int32_t rvv_words __attribute__((vector_size(32)));
typedef uint32_t rvv_bits __attribute__((vector_size(32)));

/// Lanes that hold are -1, others 0: what comparisons give. Compilers keep it
/// as a mask of bits.
template <> struct maskx<8> {
  rvv_words v;
};
template <> struct i32x<8> {
  rvv_words v;
  i32x() = default;
  NNC_INLINE i32x(rvv_words x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v{x, x, x, x, x, x, x, x} {}
};
template <> struct first_lanes_of<f32x<8>> {
  static NNC_INLINE maskx<8> make(int count) {
    const rvv_words lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return {lane < i32x<8>(count).v};
  }
};
template <> struct f32x<8> {
  rvv_floats v;
  f32x() = default;
  NNC_INLINE f32x(rvv_floats x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v{x, x, x, x, x, x, x, x} {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) {
    f32x x;
    memcpy(&x.v, p, sizeof x.v);
    return x;
  }
  NNC_INLINE void store(float *p) const { memcpy(p, &v, sizeof v); }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    look_up16_by_lane(table, codes, low, high);
  }
  static NNC_INLINE f32x load(const float *p, int count) {
    if (count >= 8)
      return load(p);
    float x[8] = {};
    copy(x, p, count);
    return load(x);
  }
  NNC_INLINE void store(float *p, int count) const {
    if (count >= 8)
      return store(p);
    float x[8];
    store(x);
    copy(p, x, count);
  }

private:
  /// Copies fewer than eight floats without a call of memcpy, before which all
  /// vectors would have to be in memory.
  static NNC_INLINE void copy(float *to, const float *from, int count) {
    const size_t some = count > 0 ? static_cast<size_t>(count) : 0;
    __riscv_vse32_v_f32m2(to, __riscv_vle32_v_f32m2(from, some), some);
  }
};

NNC_INLINE f32x<8> operator+(f32x<8> a, f32x<8> b) { return a.v + b.v; }
NNC_INLINE f32x<8> operator-(f32x<8> a, f32x<8> b) { return a.v - b.v; }
NNC_INLINE f32x<8> operator*(f32x<8> a, f32x<8> b) { return a.v * b.v; }
NNC_INLINE f32x<8> operator/(f32x<8> a, f32x<8> b) { return a.v / b.v; }

#if defined(__clang__)
NNC_INLINE f32x<8> fma(f32x<8> a, f32x<8> b, f32x<8> c) {
  return __builtin_elementwise_fma(a.v, b.v, c.v);
}
NNC_INLINE f32x<8> vec_sqrt(f32x<8> a) {
  return __builtin_elementwise_sqrt(a.v);
}
NNC_INLINE f32x<8> vec_floor(f32x<8> a) {
  return __builtin_elementwise_floor(a.v);
}
NNC_INLINE f32x<8> vec_ceil(f32x<8> a) {
  return __builtin_elementwise_ceil(a.v);
}
NNC_INLINE f32x<8> vec_trunc(f32x<8> a) {
  return __builtin_elementwise_trunc(a.v);
}
NNC_INLINE f32x<8> vec_round(f32x<8> a) {
  return __builtin_elementwise_rint(a.v);
}
#else
NNC_INLINE f32x<8> fma(f32x<8> a, f32x<8> b, f32x<8> c) {
  for (int i = 0; i < 8; ++i)
    c.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return c;
}
#define NNC_RVV_FUNCTION(NAME)                                                 \
  NNC_INLINE f32x<8> NAME(f32x<8> a) {                                         \
    for (int i = 0; i < 8; ++i)                                                \
      a.v[i] = NAME(a.v[i]);                                                   \
    return a;                                                                  \
  }
NNC_RVV_FUNCTION(vec_sqrt)
NNC_RVV_FUNCTION(vec_floor)
NNC_RVV_FUNCTION(vec_ceil)
NNC_RVV_FUNCTION(vec_trunc)
NNC_RVV_FUNCTION(vec_round)
#undef NNC_RVV_FUNCTION
#endif

NNC_INLINE maskx<8> operator<(f32x<8> a, f32x<8> b) { return {a.v < b.v}; }
NNC_INLINE maskx<8> operator<=(f32x<8> a, f32x<8> b) { return {a.v <= b.v}; }
NNC_INLINE maskx<8> operator==(f32x<8> a, f32x<8> b) { return {a.v == b.v}; }
NNC_INLINE maskx<8> operator&(maskx<8> a, maskx<8> b) { return {a.v & b.v}; }
NNC_INLINE maskx<8> operator|(maskx<8> a, maskx<8> b) { return {a.v | b.v}; }
NNC_INLINE maskx<8> operator!(maskx<8> a) { return {~a.v}; }
// Needed beside the template of vec.h, because C++20 would otherwise prefer a
// rewritten operator==.
NNC_INLINE maskx<8> operator!=(f32x<8> a, f32x<8> b) { return {a.v != b.v}; }
NNC_INLINE f32x<8> select(maskx<8> m, f32x<8> a, f32x<8> b) {
  return m.v ? a.v : b.v;
}
NNC_INLINE i32x<8> select(maskx<8> m, i32x<8> a, i32x<8> b) {
  return m.v ? a.v : b.v;
}
// vfmax and vfmin would give a where b is NaN.
NNC_INLINE f32x<8> max_fast(f32x<8> a, f32x<8> b) {
  return select(b < a, a, b);
}
NNC_INLINE f32x<8> min_fast(f32x<8> a, f32x<8> b) {
  return select(a < b, a, b);
}

NNC_INLINE i32x<8> bit_cast_int(f32x<8> a) { return rvv_words(a.v); }
NNC_INLINE f32x<8> bit_cast_float(i32x<8> a) { return rvv_floats(a.v); }
NNC_INLINE i32x<8> to_int(f32x<8> a) {
  return __builtin_convertvector(a.v, rvv_words);
}
NNC_INLINE f32x<8> to_float(i32x<8> a) {
  return __builtin_convertvector(a.v, rvv_floats);
}

// Signed integers of GNU vectors wrap around with unsigned arithmetic only.
NNC_INLINE i32x<8> operator+(i32x<8> a, i32x<8> b) {
  return rvv_words(rvv_bits(a.v) + rvv_bits(b.v));
}
NNC_INLINE i32x<8> operator-(i32x<8> a, i32x<8> b) {
  return rvv_words(rvv_bits(a.v) - rvv_bits(b.v));
}
NNC_INLINE i32x<8> operator&(i32x<8> a, i32x<8> b) { return a.v & b.v; }
NNC_INLINE i32x<8> operator|(i32x<8> a, i32x<8> b) { return a.v | b.v; }
NNC_INLINE i32x<8> operator^(i32x<8> a, i32x<8> b) { return a.v ^ b.v; }
template <int N> NNC_INLINE i32x<8> shift_left(i32x<8> a) {
  return rvv_words(rvv_bits(a.v) << N);
}
template <int N> NNC_INLINE i32x<8> shift_right(i32x<8> a) { return a.v >> N; }
template <int N> NNC_INLINE i32x<8> shift_right_logical(i32x<8> a) {
  return rvv_words(rvv_bits(a.v) >> N);
}
NNC_INLINE maskx<8> operator==(i32x<8> a, i32x<8> b) { return {a.v == b.v}; }
NNC_INLINE maskx<8> operator<(i32x<8> a, i32x<8> b) { return {a.v < b.v}; }

NNC_INLINE bool any(maskx<8> a) {
#if defined(__clang__)
  return __builtin_reduce_or(a.v) != 0;
#else
  int32_t all = 0;
  for (int i = 0; i < 8; ++i)
    all |= a.v[i];
  return all != 0;
#endif
}
NNC_INLINE f32x<8> zip_low(f32x<8> a, f32x<8> b) {
  return __builtin_shufflevector(a.v, b.v, 0, 8, 1, 9, 2, 10, 3, 11);
}
NNC_INLINE f32x<8> zip_high(f32x<8> a, f32x<8> b) {
  return __builtin_shufflevector(a.v, b.v, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// Combines lane i with lane i + 4, then i + 2, then i + 1, as pairs of
/// narrower vectors do.
template <class F> NNC_INLINE float fold_halves(f32x<8> a, F combine) {
  const auto v = a.v;
  a = combine(
      a, f32x<8>(__builtin_shufflevector(v, v, 4, 5, 6, 7, -1, -1, -1, -1)));
  const auto w = a.v;
  a = combine(
      a, f32x<8>(__builtin_shufflevector(w, w, 2, 3, -1, -1, -1, -1, -1, -1)));
  return combine(a.v[0], a.v[1]);
}
NNC_INLINE float reduce_add(f32x<8> a) {
  return fold_halves(a, [](auto x, auto y) { return x + y; });
}
NNC_INLINE float reduce_max(f32x<8> a) {
  return fold_halves(a, [](auto x, auto y) { return max_fast(x, y); });
}
NNC_INLINE float reduce_min(f32x<8> a) {
  return fold_halves(a, [](auto x, auto y) { return min_fast(x, y); });
}

} // namespace nnc

#endif // __riscv_v

#endif // NNC_SIMD_VEC_RVV_H
