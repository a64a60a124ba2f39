//===- vec_armdsp.h - Pairs of 16 bits in Arm's general registers ---------===//
//
// Cores with the DSP extension, such as Cortex-M4, M7 and M33, multiply two
// pairs of signed halves of 16 bits and add both products in one instruction. A
// word of four bytes b0, b1, b2, b3 becomes the pairs (b0, b2) and (b1, b3).
// Other machines multiply the numbers one by one.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_ARMDSP_H
#define NNC_SIMD_VEC_ARMDSP_H

#include "runtime/functions.h"
#include "runtime/simd/fixed_point.h"
#include "runtime/simd/unroll.h"

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

/// Stores four bytes as two pairs.
NNC_INLINE void store_pairs(uint32_t *pairs, const int8_t *x) {
  const uint32_t word = load_word(x);
  pairs[0] = even_bytes(word);
  pairs[1] = odd_bytes(word);
}

#else

// Pairs are only stored and read as their halves.

/// The index of byte i of four in two pairs.
constexpr int place_in_pairs[] = {0, 2, 1, 3};

NNC_INLINE void store_pairs(uint32_t *pairs, const int8_t *x) {
  auto *halves = static_cast<int16_t *>(static_cast<void *>(pairs));
  NNC_UNROLL for (int i = 0; i < 4; ++i) halves[place_in_pairs[i]] = x[i];
}
/// Number i of the four of two pairs.
NNC_INLINE int32_t number_in_pairs(const uint32_t *pairs, int i) {
  return static_cast<const int16_t *>(
      static_cast<const void *>(pairs))[place_in_pairs[i]];
}
/// sum + a * b.
NNC_INLINE int32_t add_product(int32_t sum, int32_t a, int32_t b) {
  return plus(sum, times(a, b));
}

#endif

} // namespace nnc

#endif // NNC_SIMD_VEC_ARMDSP_H
