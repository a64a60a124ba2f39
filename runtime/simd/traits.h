//===- traits.h - Conditions on value types -------------------------------===//
//
// Functions of values are templates over V: f32x<W>, float, double, an integer,
// or the result of a comparison. The conditions here say for which of these
// types a template exists.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_TRAITS_H
#define NNC_SIMD_TRAITS_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/vec.h"

namespace nnc {

template <class V> constexpr bool is_f32 = is_same<V, float>::value;
template <int W> constexpr bool is_f32<f32x<W>> = true;
template <class T>
constexpr bool is_int = is_integral<T>::value && !is_same<T, bool>::value;
template <class V> constexpr bool is_real = is_floating_point<V>::value;
template <int W> constexpr bool is_real<f32x<W>> = true;
template <class M> constexpr bool is_mask = is_same<M, bool>::value;
template <int W> constexpr bool is_mask<maskx<W>> = true;

template <class V> using if_f32 = enable_if_t<is_f32<V>, int>;
template <class V> using if_f64 = enable_if_t<is_same<V, double>::value, int>;
template <class V> using if_int = enable_if_t<is_int<V>, int>;
template <class V> using if_real = enable_if_t<is_real<V>, int>;
template <class V> using if_mask = enable_if_t<is_mask<V>, int>;
template <class V> using if_number = enable_if_t<is_real<V> || is_int<V>, int>;
/// Enabled for the scalar types for which vec.h has no functions: double and
/// the integers.
template <class T>
using if_other = enable_if_t<is_int<T> || is_same<T, double>::value, int>;

/// The constant x, rounded to V's precision.
template <class V> NNC_INLINE V constant(double x) {
  if constexpr (is_same<V, double>::value)
    return x;
  else
    return V(static_cast<float>(x));
}

} // namespace nnc

#endif // NNC_SIMD_TRAITS_H
