//===- traits.h - Which kind of value a type V is -------------------------===//
//
// Functions of values are templates over V: f32x<W>, float, double, an integer,
// or the result of a comparison. The conditions here say for which of these
// types a template exists.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_TRAITS_H
#define NNC_SIMD_TRAITS_H

#include "runtime/simd/vec.h"

#include <type_traits>

namespace nnc {

template <class V> constexpr bool is_f32 = std::is_same<V, float>::value;
template <int W> constexpr bool is_f32<f32x<W>> = true;
template <class T>
constexpr bool is_int =
    std::is_integral<T>::value && !std::is_same<T, bool>::value;
template <class V> constexpr bool is_real = std::is_floating_point<V>::value;
template <int W> constexpr bool is_real<f32x<W>> = true;
template <class M> constexpr bool is_mask = std::is_same<M, bool>::value;
template <int W> constexpr bool is_mask<maskx<W>> = true;

template <class V> using if_f32 = std::enable_if_t<is_f32<V>, int>;
template <class V>
using if_f64 = std::enable_if_t<std::is_same<V, double>::value, int>;
template <class V> using if_int = std::enable_if_t<is_int<V>, int>;
template <class V> using if_real = std::enable_if_t<is_real<V>, int>;
template <class V> using if_mask = std::enable_if_t<is_mask<V>, int>;
template <class V>
using if_number = std::enable_if_t<is_real<V> || is_int<V>, int>;
/// Scalar types that vec.h has no functions for: double and the integers.
template <class T>
using if_other =
    std::enable_if_t<is_int<T> || std::is_same<T, double>::value, int>;

/// The constant x, rounded to V's precision.
template <class V> NNC_INLINE V constant(double x) {
  if constexpr (std::is_same<V, double>::value)
    return x;
  else
    return V(static_cast<float>(x));
}

} // namespace nnc

#endif // NNC_SIMD_TRAITS_H
