//===- vec_armdsp.h - Pairs of 16 bits in Arm's general registers ---------===//
//
// Cores with the DSP extension, such as Cortex-M4, M7 and M33, multiply two
// pairs of signed halves of 16 bits and add both products in one instruction. A
// word of four bytes b0, b1, b2, b3 becomes the pairs (b0, b2) and (b1, b3).
// Other machines compute the same without such instructions.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_ARMDSP_H
#define NNC_SIMD_VEC_ARMDSP_H

#include "runtime/simd/fixed_point.h"

#include <string.h>

namespace nnc {

/// A word in memory, which need not be aligned.
NNC_INLINE uint32_t load_word(const void *p) {
  uint32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) &&                       \
    !defined(NNC_PORTABLE_SIMD)
#define NNC_ARM_DSP 1

/// The bytes b0 and b2, or b1 and b3, of a word as a pair.
NNC_INLINE uint32_t even_bytes(uint32_t word) {
  uint32_t pair;
  __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}
NNC_INLINE uint32_t odd_bytes(uint32_t word) {
  uint32_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
/// sum + a0 * b0 + a1 * b1.
NNC_INLINE int32_t add_products(int32_t sum, uint32_t a, uint32_t b) {
  __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
/// sum + a0 * b0, or sum + a1 * b1.
NNC_INLINE int32_t add_low_product(int32_t sum, uint32_t a, uint32_t b) {
  __asm__("smlabb %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
NNC_INLINE int32_t add_high_product(int32_t sum, uint32_t a, uint32_t b) {
  __asm__("smlatt %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

#else

NNC_INLINE uint32_t even_bytes(uint32_t word) {
  return (uint32_t(int32_t(int8_t(word))) & 0xffff) |
         uint32_t(int32_t(int8_t(word >> 16))) << 16;
}
NNC_INLINE uint32_t odd_bytes(uint32_t word) { return even_bytes(word >> 8); }
NNC_INLINE int32_t add_low_product(int32_t sum, uint32_t a, uint32_t b) {
  return plus(sum, int32_t(int16_t(a)) * int32_t(int16_t(b)));
}
NNC_INLINE int32_t add_high_product(int32_t sum, uint32_t a, uint32_t b) {
  return add_low_product(sum, a >> 16, b >> 16);
}
NNC_INLINE int32_t add_products(int32_t sum, uint32_t a, uint32_t b) {
  return add_high_product(add_low_product(sum, a, b), a, b);
}

#endif

} // namespace nnc

#endif // NNC_SIMD_VEC_ARMDSP_H
