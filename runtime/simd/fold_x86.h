//===- fold_x86.h - Reductions over the lanes of an x86 register ----------===//
#ifndef NNC_SIMD_FOLD_X86_H
#define NNC_SIMD_FOLD_X86_H

#include "runtime/functions.h"
#include "runtime/simd/vec_portable.h"

#if defined(__SSE4_1__) && !defined(NNC_PORTABLE_SIMD)
#include <immintrin.h>

namespace nnc {

/// Operations for fold(): sum, maximum or minimum of two registers, lane by
/// lane.
struct add_lanes {
  static NNC_INLINE __m128 of(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
#if defined(__AVX__)
  static NNC_INLINE __m256 of(__m256 a, __m256 b) {
    return _mm256_add_ps(a, b);
  }
#endif
};
struct max_lanes {
  static NNC_INLINE __m128 of(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
#if defined(__AVX__)
  static NNC_INLINE __m256 of(__m256 a, __m256 b) {
    return _mm256_max_ps(a, b);
  }
#endif
};
struct min_lanes {
  static NNC_INLINE __m128 of(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
#if defined(__AVX__)
  static NNC_INLINE __m256 of(__m256 a, __m256 b) {
    return _mm256_min_ps(a, b);
  }
#endif
};

/// Reduces all lanes to one by the binary function F (a sum, a maximum): F
/// combines the two halves of the vector, then the halves of the result, and so
/// on.
template <class F> NNC_INLINE float fold(__m128 a) {
  __m128 pair = F::of(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(F::of(pair, _mm_shuffle_ps(pair, pair, 1)));
}
#if defined(__AVX__)
template <class F> NNC_INLINE float fold(__m256 a) {
  return fold<F>(F::of(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}
#endif

} // namespace nnc

#endif // __SSE4_1__

#endif // NNC_SIMD_FOLD_X86_H
