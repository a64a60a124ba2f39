//===- meta.h - Replacements of C++ standard headers ----------------------===//
//
// Toolchains for microcontrollers may have C headers but no C++ headers. So the
// runtime includes only C headers such as <stdint.h> and <math.h>. The parts of
// <type_traits>, <utility> and <limits> that it needs are defined here, with
// the names and meanings of the standard.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_META_H
#define NNC_META_H

#include "runtime/functions.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>

namespace nnc {

//===----------------------------------------------------------------------===//
// Conditions on types
//===----------------------------------------------------------------------===//

template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  NNC_FN constexpr operator T() const { return V; }
  NNC_FN constexpr T operator()() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;

template <bool B, class T> struct enable_if {};
template <class T> struct enable_if<true, T> {
  using type = T;
};
template <bool B, class T = void>
using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class T, class E> struct conditional {
  using type = T;
};
template <class T, class E> struct conditional<false, T, E> {
  using type = E;
};
template <bool B, class T, class E>
using conditional_t = typename conditional<B, T, E>::type;

template <class A, class B> struct is_same : bool_constant<false> {};
template <class A> struct is_same<A, A> : bool_constant<true> {};

template <class T> struct is_void : is_same<const T, const void> {};

template <class T> constexpr bool is_pointer_v = false;
template <class T> constexpr bool is_pointer_v<T *> = true;
template <class T> constexpr bool is_pointer_v<T *const> = true;

/// True if T is one of the types `Types`.
template <class T, class... Types>
struct is_one_of : bool_constant<(is_same<T, Types>::value || ...)> {};

template <class T>
struct is_integral : is_one_of<T, bool, char, signed char, unsigned char, short,
                               unsigned short, int, unsigned, long,
                               unsigned long, long long, unsigned long long> {};
template <class T>
struct is_floating_point : is_one_of<T, float, double, long double> {};
template <class T>
struct is_arithmetic
    : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};

template <class T, bool = is_arithmetic<T>::value>
struct is_signed : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_signed<T, false> : bool_constant<false> {};
template <class T>
struct is_unsigned
    : bool_constant<is_arithmetic<T>::value && !is_signed<T>::value> {};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// An expression of type T for unevaluated operands, like std::declval.
template <class T> NNC_FN T &&any_value();
/// A function whose argument must be convertible to T, for unevaluated
/// operands.
template <class T> NNC_FN void take(T);

/// Tests whether an F can be called with arguments of the types A and whether
/// its result converts to R.
template <class R, class F, class... A> struct call_test {
  template <class G>
  NNC_FN static auto call(int)
      -> decltype(any_value<G>()(any_value<A>()...), bool_constant<true>());
  template <class G> NNC_FN static bool_constant<false> call(long);
  template <class G>
  NNC_FN static auto convert(int)
      -> decltype(take<R>(any_value<G>()(any_value<A>()...)),
                  bool_constant<true>());
  template <class G> NNC_FN static bool_constant<false> convert(long);
};
template <class F, class... A>
using is_invocable = decltype(call_test<int, F, A...>::template call<F>(0));
template <class R, class F, class... A>
using is_invocable_r = decltype(call_test<R, F, A...>::template convert<F>(0));

//===----------------------------------------------------------------------===//
// Lists of indices
//===----------------------------------------------------------------------===//

template <size_t... I> struct index_sequence {};

template <size_t N, size_t... I>
struct indices : indices<N - 1, N - 1, I...> {};
template <size_t... I> struct indices<0, I...> {
  using type = index_sequence<I...>;
};
template <size_t N> using make_index_sequence = typename indices<N>::type;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

//===----------------------------------------------------------------------===//
// Ranges of numbers
//===----------------------------------------------------------------------===//

template <class T> struct numeric_limits {
  static_assert(is_integral<T>::value, "other types have their own");
  static constexpr int bits = static_cast<int>(sizeof(T) * 8);
  NNC_FN static constexpr T max() {
    if constexpr (is_same<T, bool>::value)
      return true;
    else if constexpr (is_signed<T>::value)
      return static_cast<T>(((static_cast<T>(1) << (bits - 2)) - 1) * 2 + 1);
    else
      return static_cast<T>(~static_cast<T>(0));
  }
  NNC_FN static constexpr T min() {
    return is_signed<T>::value ? static_cast<T>(-max() - 1) : T(0);
  }
  NNC_FN static constexpr T lowest() { return min(); }
};
template <> struct numeric_limits<float> {
  NNC_FN static constexpr float max() { return FLT_MAX; }
  NNC_FN static constexpr float min() { return FLT_MIN; }
  NNC_FN static constexpr float lowest() { return -FLT_MAX; }
};
template <> struct numeric_limits<double> {
  NNC_FN static constexpr double max() { return DBL_MAX; }
  NNC_FN static constexpr double min() { return DBL_MIN; }
  NNC_FN static constexpr double lowest() { return -DBL_MAX; }
};

} // namespace nnc

#endif // NNC_META_H
