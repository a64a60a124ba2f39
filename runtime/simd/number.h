//===- number.h - Arithmetic on double, integers and bool -----------------===//
//
// The functions of vec.h for double, integers and bool, so that one template of
// elementwise.h serves these types and floats of every width; and arithmetic on
// integers, which wraps and is defined for all operands.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_NUMBER_H
#define NNC_SIMD_NUMBER_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"
#include "runtime/simd/wrap.h"

namespace nnc {

template <class T>
NNC_INLINE enable_if_t<is_same<T, double>::value || is_int<T> || is_mask<T>, T>
select(bool m, T a, T b) {
  return m ? a : b;
}

template <class T, if_other<T> = 0> NNC_INLINE T max_fast(T a, T b) {
  return a > b ? a : b;
}
template <class T, if_other<T> = 0> NNC_INLINE T min_fast(T a, T b) {
  return a < b ? a : b;
}
template <class T, if_other<T> = 0> NNC_INLINE T max(T a, T b) {
  return a != a ? a : max_fast(a, b);
}
template <class T, if_other<T> = 0> NNC_INLINE T min(T a, T b) {
  return a != a ? a : min_fast(a, b);
}

//===----------------------------------------------------------------------===//
// Integers, whose arithmetic wraps (runtime/simd/wrap.h)
//===----------------------------------------------------------------------===//

template <class T, if_int<T> = 0> NNC_INLINE T add(T a, T b) {
  return plus(a, b);
}
template <class T, if_int<T> = 0> NNC_INLINE T sub(T a, T b) {
  return static_cast<T>(wrapping<T>(a) - wrapping<T>(b));
}
template <class T, if_int<T> = 0> NNC_INLINE T mul(T a, T b) {
  return times(a, b);
}
template <class T, if_int<T> = 0> NNC_INLINE T neg(T x) {
  return static_cast<T>(wrapping<T>(0) - wrapping<T>(x));
}
template <class T, if_int<T> = 0> NNC_INLINE T abs(T x) {
  return x < T(0) ? neg(x) : x;
}
template <class T, if_int<T> = 0> NNC_INLINE T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}
template <class T, if_int<T> = 0> NNC_INLINE T relu(T x) {
  return x < T(0) ? T(0) : x;
}

template <class T> NNC_INLINE bool is_minus_one(T x) {
  return is_signed<T>::value && x == static_cast<T>(-1);
}
/// Quotient towards zero; 0 for a divisor of 0.
template <class T, if_int<T> = 0> NNC_INLINE T div(T a, T b) {
  if (b == T(0))
    return T(0);
  return is_minus_one(b) ? neg(a) : static_cast<T>(a / b);
}
/// Remainder with the sign of a (C's %); 0 for a divisor of 0.
template <class T, if_int<T> = 0> NNC_INLINE T fmod(T a, T b) {
  return b == T(0) || is_minus_one(b) ? T(0) : static_cast<T>(a % b);
}
/// Remainder with the sign of b (Python's %); 0 for a divisor of 0.
template <class T, if_int<T> = 0> NNC_INLINE T mod(T a, T b) {
  T r = nnc::fmod(a, b);
  return r != T(0) && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
}
/// x^y by squaring. For negative y the result is 1 / x^-y cut towards zero, and
/// 0 for x = 0.
template <class T, if_int<T> = 0> NNC_INLINE T pow(T x, T y) {
  if (y < T(0)) {
    if (is_minus_one(x))
      return (y & T(1)) ? x : T(1);
    return x == T(1) ? T(1) : T(0);
  }
  T power = x, result = T(1);
  for (wrapping<T> n = wrapping<T>(y); n; n >>= 1) {
    if (n & 1)
      result = mul(result, power);
    power = mul(power, power);
  }
  return result;
}

template <class T, if_int<T> = 0> NNC_INLINE T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T, if_int<T> = 0> NNC_INLINE T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T, if_int<T> = 0> NNC_INLINE T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T, if_int<T> = 0> NNC_INLINE T bit_not(T a) {
  return static_cast<T>(~a);
}

/// The entry of a table whose index is the bits of x, an integer of 8 bits.
template <class T, class X> NNC_INLINE T lookup(const T (&table)[256], X x) {
  static_assert(sizeof(X) == 1 && is_int<X>, "256 values");
  return table[static_cast<uint8_t>(x)];
}

/// x converted to T. Reals are cut towards zero; those out of range give the
/// nearest end of T's range, NaN gives 0. Integers keep their low bits.
/// Conversion to bool gives x != 0. A vector of float is its own cast<float>.
template <class T, class S> NNC_INLINE auto cast(S x) {
  if constexpr (is_same<T, S>::value || lanes<S> != 1) {
    static_assert(is_same<T, S>::value || is_real<S>, "vectors of float");
    return x;
  } else if constexpr (is_same<T, bool>::value) {
    return x != S(0);
  } else if constexpr (is_int<T> && is_real<S>) {
    // S may not hold the largest T itself, but holds the power of two above it.
    constexpr S low = static_cast<S>(numeric_limits<T>::min());
    constexpr S high = static_cast<S>(numeric_limits<T>::max() / 2 + 1) * S(2);
    if (!(x > low))
      return x != x ? T(0) : numeric_limits<T>::min();
    return x >= high ? numeric_limits<T>::max() : static_cast<T>(x);
  } else {
    return static_cast<T>(x);
  }
}

} // namespace nnc

#endif // NNC_SIMD_NUMBER_H
