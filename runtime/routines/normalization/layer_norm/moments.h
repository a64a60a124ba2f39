//===- moments.h - Mean and variance of a row of integers -----------------===//
//
// The mean and the variance of a row of integers. Sums of integers and
// of their squares are exact, so that all routines compute the same bits in
// whichever order they add, and a variance from both has no cancellation.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_MOMENTS_H
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_MOMENTS_H

#include "runtime/functions.h"
#include "runtime/simd/math.h"

namespace nnc {

/// The mean of a row, and 1 / sqrt(variance + epsilon).
template <class T> struct row_moments {
  T mean, factor;
};

/// The sums of integers and of their squares. The integers have at most 16
/// bits, and there are at most 2^15 of them, so that size times the sum of the
/// squares fits in 64 bits.
struct integer_sums {
  int64_t sum = 0;
  uint64_t squares = 0;

  NNC_FN void add(int64_t x) {
    sum += x;
    squares += uint64_t(x) * uint64_t(x);
  }

  /// The moments of `size` integers in T, float or double.
  template <class T> NNC_FN row_moments<T> moments(int size, T epsilon) const {
    // size * size times the variance.
    const uint64_t spread =
        uint64_t(size) * squares - uint64_t(sum) * uint64_t(sum);
    const T n = T(size);
    return {T(sum) / n, T(1) / nnc::sqrt(T(spread) / (n * n) + epsilon)};
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_MOMENTS_H
