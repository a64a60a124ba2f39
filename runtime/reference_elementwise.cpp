//===- reference_elementwise.cpp - Elementwise functions by name ----------===//

#include "runtime/reference.h"

#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/simd/elementwise.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace {
using namespace nnc;

/// The C++ type of a tensor's elements by nnc_dtype, and the nnc_dtype by type.
template <int D> struct type_of;
template <class T> struct dtype_of;
#define NNC_TYPE(NAME, T)                                                      \
  template <> struct type_of<NAME> {                                           \
    using type = T;                                                            \
  };                                                                           \
  template <> struct dtype_of<T> {                                             \
    static constexpr int value = NAME;                                         \
  };
NNC_TYPE(NNC_F32, float)
NNC_TYPE(NNC_F64, double)
NNC_TYPE(NNC_BOOL, bool)
NNC_TYPE(NNC_I8, std::int8_t)
NNC_TYPE(NNC_I16, std::int16_t)
NNC_TYPE(NNC_I32, std::int32_t)
NNC_TYPE(NNC_I64, std::int64_t)
NNC_TYPE(NNC_U8, std::uint8_t)
NNC_TYPE(NNC_U16, std::uint16_t)
NNC_TYPE(NNC_U32, std::uint32_t)
NNC_TYPE(NNC_U64, std::uint64_t)
#undef NNC_TYPE

/// Calls f with a value of the type of `dtype`.
template <class F> int with_type(int dtype, F f) {
  switch (dtype) {
#define NNC_CASE(NAME)                                                         \
  case NAME:                                                                   \
    return f(type_of<NAME>::type());
    NNC_CASE(NNC_F32)
    NNC_CASE(NNC_F64)
    NNC_CASE(NNC_BOOL)
    NNC_CASE(NNC_I8)
    NNC_CASE(NNC_I16)
    NNC_CASE(NNC_I32)
    NNC_CASE(NNC_I64)
    NNC_CASE(NNC_U8)
    NNC_CASE(NNC_U16)
    NNC_CASE(NNC_U32)
    NNC_CASE(NNC_U64)
#undef NNC_CASE
  default:
    return NNC_REFERENCE_NO_TYPE;
  }
}

constexpr bool is_name(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return *a == *b;
}

/// The tensors and attributes of one call.
struct call {
  const elementwise_shape &s;
  const nnc_tensor *in;
  int inputs;
  const nnc_tensor &out;
  const double *scalars;
  int scalar_count;

  template <class T> const T *x(int i) const {
    return static_cast<const T *>(in[i].data);
  }
  template <class F, class Y, class... X>
  int run(const F &f, const X *...operands) const {
    if (out.dtype != dtype_of<Y>::value)
      return NNC_REFERENCE_NO_TYPE;
    using R = elementwise_portable<elementwise_shape, F>;
    R::run(s, operands..., static_cast<Y *>(out.data), f, 0, R::units(s));
    return NNC_REFERENCE_OK;
  }
};

/// T for any I: repeats a type in a pack.
template <class T, std::size_t I> using repeated = T;

/// A function of operands of types X behind a pointer, with its attributes. The
/// loops of elementwise_portable are compiled once for a list of types: with
/// the function itself in them, once for each function and type, this file took
/// more than twice as long.
template <class Y, class T, class... X> struct pointed {
  Y (*function)(const T *scalars, X... x);
  T scalars[2];
  Y operator()(X... x) const { return function(scalars, x...); }
};

/// Type of a function's result: bool for a comparison, the type R of what it
/// returns for a cast of bits, the operands' type T for any other.
template <class F, class R, class T>
using result_of =
    std::conditional_t<F::is_bit_cast || std::is_same<R, bool>::value, R, T>;

/// Calls F with one tensor of T for each I (the first is bool for select), and
/// one attribute for each J.
template <class F, class T, std::size_t... I, std::size_t... J>
int call_on(const call &c, std::index_sequence<I...>,
            std::index_sequence<J...>) {
  if constexpr (F::is_select) {
    if (c.in[0].dtype != NNC_BOOL || c.in[2].dtype != dtype_of<T>::value)
      return NNC_REFERENCE_NO_TYPE;
    return c.run<F, T>(F{}, c.x<bool>(0), c.x<T>(1), c.x<T>(2));
  } else if constexpr (std::is_invocable<F, repeated<T, I>...,
                                         repeated<T, J>...>::value) {
    for (int i = 1; i < c.inputs; ++i)
      if (c.in[i].dtype != c.in[0].dtype)
        return NNC_REFERENCE_NO_TYPE;
    using R = std::invoke_result_t<F, repeated<T, I>..., repeated<T, J>...>;
    using Y = result_of<F, R, T>;
    pointed<Y, T, repeated<T, I>...> f{};
    f.function = [](const T *scalars, repeated<T, I>... x) {
      static_cast<void>(scalars); // which F may have none of
      return static_cast<Y>(F{}(x..., scalars[J]...));
    };
    for (std::size_t i = 0; i < sizeof...(J); ++i)
      f.scalars[i] = cast<T>(c.scalars[i]);
    return c.run<decltype(f), Y>(f, c.x<T>(I)...);
  } else {
    return NNC_REFERENCE_NO_TYPE;
  }
}

#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  struct function_##NAME {                                                     \
    static constexpr bool is_select = is_name(#NAME, "select");                \
    static constexpr bool is_bit_cast = is_name(#NAME, "bit_cast");            \
    template <class... X>                                                      \
    auto operator()(X... x) const -> decltype(nnc::NAME(x...)) {               \
      return nnc::NAME(x...);                                                  \
    }                                                                          \
  };
#include "runtime/routines/elementwise/functions.inc"

/// N bytes of an element of some type.
template <std::size_t N> struct raw {
  unsigned char bytes[N];
};

/// A cast of elements, of which only the sizes are known: the loops of
/// elementwise_portable are compiled once for two sizes, not for two types.
template <std::size_t X, std::size_t Y> struct cast_of_raw {
  raw<Y> (*function)(raw<X> x);
  raw<Y> operator()(raw<X> x) const { return function(x); }
};

template <class X, class Y> raw<sizeof(Y)> cast_raw(raw<sizeof(X)> from) {
  X x;
  std::memcpy(&x, &from, sizeof x);
  const Y y = nnc::cast<Y>(x);
  raw<sizeof(Y)> to;
  std::memcpy(&to, &y, sizeof y);
  return to;
}

template <std::size_t X, std::size_t Y>
int run_cast(const call &c, const cast_of_raw<X, Y> &f) {
  using R = elementwise_portable<elementwise_shape, cast_of_raw<X, Y>>;
  R::run(c.s, c.x<raw<X>>(0), static_cast<raw<Y> *>(c.out.data), f, 0,
         R::units(c.s));
  return NNC_REFERENCE_OK;
}

int call_cast(const call &c) {
  if (c.inputs != 1)
    return NNC_REFERENCE_NO_TYPE;
  return with_type(c.in[0].dtype, [&](auto x) {
    return with_type(c.out.dtype, [&](auto y) {
      using X = decltype(x);
      using Y = decltype(y);
      return run_cast(c, cast_of_raw<sizeof(X), sizeof(Y)>{cast_raw<X, Y>});
    });
  });
}

} // namespace

int nnc::reference_elementwise(const char *function, const elementwise_shape &s,
                               const nnc_tensor *in, int inputs,
                               nnc_tensor &out, const double *scalars,
                               int scalar_count) {
  const call c{s, in, inputs, out, scalars, scalar_count};
  if (std::strcmp(function, "cast") == 0)
    return call_cast(c);
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  if (std::strcmp(function, #NAME) == 0) {                                     \
    if (inputs != TENSORS || scalar_count != SCALARS)                          \
      return NNC_REFERENCE_BAD_COUNT;                                          \
    return with_type(in[function_##NAME::is_select].dtype, [&](auto t) {       \
      return call_on<function_##NAME, decltype(t)>(                            \
          c, std::make_index_sequence<TENSORS>{},                              \
          std::make_index_sequence<SCALARS>{});                                \
    });                                                                        \
  }
#include "runtime/routines/elementwise/functions.inc"
  return NNC_REFERENCE_NO_FAMILY;
}
