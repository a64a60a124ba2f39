//===- wrap.h - Sums and products of any scalar, integers wrapping --------===//
//
// For routines whose sums are of a type that is a template argument: float,
// double, or an integer, whose arithmetic wraps around and is defined for all
// operands.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_WRAP_H
#define NNC_SIMD_WRAP_H

#include "runtime/functions.h"
#include "runtime/simd/traits.h"

namespace nnc {

/// The unsigned type of at least 32 bits in which arithmetic on the integer
/// type T is done, since it wraps around there.
template <class T>
using wrapping = conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

/// a + b for any scalar: integers wrap, reals round.
template <class T> NNC_INLINE T plus(T a, T b) {
  if constexpr (is_int<T>)
    return static_cast<T>(wrapping<T>(a) + wrapping<T>(b));
  else
    return a + b;
}
/// a * b for any scalar: integers wrap, reals round.
template <class T> NNC_INLINE T times(T a, T b) {
  if constexpr (is_int<T>)
    return static_cast<T>(wrapping<T>(a) * wrapping<T>(b));
  else
    return a * b;
}

} // namespace nnc

#endif // NNC_SIMD_WRAP_H
