// Tests that the traits and limits of the runtime agree with those of the
// standard library.
#include "runtime/meta.h"

#include <limits>
#include <type_traits>

namespace {

template <class T> constexpr bool has_same_traits() {
  return nnc::is_integral<T>::value == std::is_integral<T>::value &&
         nnc::is_floating_point<T>::value == std::is_floating_point<T>::value &&
         nnc::is_arithmetic<T>::value == std::is_arithmetic<T>::value &&
         nnc::is_signed<T>::value == std::is_signed<T>::value &&
         nnc::is_unsigned<T>::value == std::is_unsigned<T>::value &&
         nnc::is_void<T>::value == std::is_void<T>::value &&
         nnc::is_pointer_v<T> == std::is_pointer_v<T>;
}

template <class T> constexpr bool has_same_limits() {
  using own = nnc::numeric_limits<T>;
  using standard = std::numeric_limits<T>;
  return has_same_traits<T>() && own::min() == standard::min() &&
         own::max() == standard::max() && own::lowest() == standard::lowest();
}

template <class... T> constexpr bool have_same_limits() {
  return (has_same_limits<T>() && ...);
}

static_assert(
    have_same_limits<bool, char, signed char, unsigned char, short,
                     unsigned short, int, unsigned, long, unsigned long,
                     long long, unsigned long long, float, double>());

struct from_int {
  void operator()(int) const {}
};
struct from_object {
  float operator()(from_int) { return 0; }
};
static_assert(has_same_traits<long double>() && has_same_traits<void>() &&
              has_same_traits<const void>() && has_same_traits<int *>() &&
              has_same_traits<const int *const>() &&
              has_same_traits<from_int>());

static_assert(nnc::is_invocable<from_int, int>::value);
static_assert(nnc::is_invocable<const from_int &, float>::value);
static_assert(!nnc::is_invocable<from_int, from_int>::value);
static_assert(!nnc::is_invocable<from_int>::value);
static_assert(!nnc::is_invocable<const from_object &, from_int>::value);
static_assert(nnc::is_invocable_r<int, from_object, from_int>::value);
static_assert(!nnc::is_invocable_r<from_int, from_object, from_int>::value);
static_assert(!nnc::is_invocable_r<int, from_int, int>::value);

static_assert(nnc::is_same<nnc::make_index_sequence<3>,
                           nnc::index_sequence<0, 1, 2>>::value);
static_assert(
    nnc::is_same<nnc::index_sequence_for<>, nnc::index_sequence<>>::value);
static_assert(
    nnc::is_same<nnc::conditional_t<false, int, float>, float>::value);

} // namespace
