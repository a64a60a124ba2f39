//===- bytes_rvv.h - Vectors of bytes in RISC-V vector registers ----------===//
#ifndef NNC_SIMD_BYTES_RVV_H
#define NNC_SIMD_BYTES_RVV_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_rvv.h"

#if defined(NNC_RVV_VECTORS)
namespace nnc {

/// The vector types of 8 and of 16 integers of type T.
template <class T> struct rvv_narrow;
template <> struct rvv_narrow<int8_t> {
  typedef int8_t eight __attribute__((vector_size(8)));
  typedef int8_t sixteen __attribute__((vector_size(16)));
};
template <> struct rvv_narrow<uint8_t> {
  typedef uint8_t eight __attribute__((vector_size(8)));
  typedef uint8_t sixteen __attribute__((vector_size(16)));
};
template <> struct rvv_narrow<int16_t> {
  typedef int16_t sixteen __attribute__((vector_size(32)));
};

template <> struct byte_lanes<8> {
  using V = i32x<8>;
  static constexpr bool conversion_saturates = false;
  template <class T> static NNC_INLINE V load(const T *p) {
    typename rvv_narrow<T>::eight v;
    memcpy(&v, p, sizeof v);
    return {__builtin_convertvector(v, rvv_words)};
  }
  template <class T> static NNC_INLINE V load_pairs(const T *p) {
    typename rvv_narrow<T>::sixteen v;
    memcpy(&v, p, sizeof v);
    return {rvv_words(__builtin_convertvector(v, halfwords))};
  }
  template <class T> static NNC_INLINE V load_two(const T *p, const T *q) {
    typename rvv_narrow<T>::eight v, w;
    memcpy(&v, p, sizeof v);
    memcpy(&w, q, sizeof w);
    const auto both = __builtin_shufflevector(v, w, 0, 8, 1, 9, 2, 10, 3, 11, 4,
                                              12, 5, 13, 6, 14, 7, 15);
    return {rvv_words(__builtin_convertvector(both, halfwords))};
  }
  // From an address that is known to be a multiple of 4, the load uses words,
  // otherwise bytes.
  static NNC_INLINE V load_bits(const void *p) {
    V v;
    memcpy(&v.v, p, sizeof v.v);
    return v;
  }
  static NNC_INLINE V load_bits(const int32_t *p) {
    V v;
    memcpy(&v.v, p, sizeof v.v);
    return v;
  }
  static NNC_INLINE void store_bits(int32_t *p, V v) {
    memcpy(p, &v.v, sizeof v.v);
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    memcpy(p, &v.v, sizeof v.v);
  }
  static NNC_INLINE void store(void *p, V v) {
    const auto bytes = __builtin_convertvector(v.v, rvv_narrow<int8_t>::eight);
    memcpy(p, &bytes, sizeof bytes);
  }
  /// Copies N bytes at once.
  template <int N> static NNC_INLINE void copy(void *to, const void *from) {
    static_assert(N <= 128, "eight registers of 16 bytes");
    __riscv_vse8_v_u8m8(
        static_cast<uint8_t *>(to),
        __riscv_vle8_v_u8m8(static_cast<const uint8_t *>(from), N), N);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
    store_in_turn<8>(p, a, b, c, d);
  }
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    return look_up_in_turn<8>(table, at);
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    const V zero(0), one(1);
    const V left = most(shift, zero);
    const wide half = wide{} + (int64_t(1) << 30);
    const wide product =
        times_wide(rvv_words(rvv_bits(x.v) << left.v), multiplier.v);
    const rvv_words high =
        __builtin_convertvector((product + half) >> 31, rvv_words);
    // Rounds to nearest, halves away from zero.
    const rvv_words right = (zero - least(shift, zero)).v;
    const rvv_words nudged = high + (high >> 31);
    const rvv_words last = nudged >> most(V(right) - one, zero).v & one.v;
    return select(shift < zero, V((nudged >> right) + last), V(high));
  }
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    const wide bits = __builtin_convertvector((V(31) - shift).v, wide);
    const wide half = (wide{} + 1) << (bits - 1);
    const wide product = times_wide(x.v, multiplier.v);
    return {__builtin_convertvector((product + half) >> bits, rvv_words)};
  }
  static NNC_INLINE V multiply(V a, V b) {
    return rvv_words(rvv_bits(a.v) * rvv_bits(b.v));
  }
  static NNC_INLINE V most(V a, V b) { return select(a < b, b, a); }
  static NNC_INLINE V least(V a, V b) { return select(a < b, a, b); }
  static NNC_INLINE V dot2(V sum, V a, V b) {
    const auto low = [](V v) { return shift_right<16>(shift_left<16>(v)); };
    return sum + multiply(low(a), low(b)) +
           multiply(shift_right<16>(a), shift_right<16>(b));
  }
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const V byte(255);
    sum = sum + multiply(a & byte, shift_right<24>(shift_left<24>(b)));
    sum = sum + multiply(shift_right_logical<8>(a) & byte,
                         shift_right<24>(shift_left<16>(b)));
    sum = sum + multiply(shift_right_logical<16>(a) & byte,
                         shift_right<24>(shift_left<8>(b)));
    return sum + multiply(shift_right_logical<24>(a), shift_right<24>(b));
  }

private:
  using halfwords = rvv_narrow<int16_t>::sixteen;
  typedef int64_t wide __attribute__((vector_size(64)));

  static NNC_INLINE wide times_wide(rvv_words a, rvv_words b) {
    return __builtin_convertvector(a, wide) * __builtin_convertvector(b, wide);
  }
};

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_RVV_H
