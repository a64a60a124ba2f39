//===- small_floats.h - Floats of 4 to 16 bits as their codes -------------===//
//
// A small float is a sign, E bits of exponent and M bits of fraction, with a
// bias. Its code is these bits as a whole number. encode_<format>(x, saturate)
// rounds x to the nearest number of the format, ties to even, and returns its
// code as a float; decode_<format>(code) is the inverse. Numbers
// beyond the largest one become that one where `saturate` is not zero, else
// infinity or NaN. A format without either always saturates; it has no code for
// NaN, which becomes zero with the other sign, as in Python's ml_dtypes.
//
// e8m0 is a power of two, from 2^-127 on, or NaN. It has no sign:
// encode_e8m0(x, saturate, rounding) drops that of x. `rounding` is 0 for down,
// 1 for up, and 0.5 for the nearest, ties up.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_SMALL_FLOATS_H
#define NNC_SIMD_SMALL_FLOATS_H

#include "runtime/functions.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// The codes of a format that are not finite numbers.
enum class small_specials {
  none,      ///< all codes are finite numbers
  infinity,  ///< the last exponent is infinity and NaN, as IEEE 754 says
  last_nan,  ///< the last code of either sign is NaN
  minus_zero ///< the code of -0 is NaN, and there is no -0
};

template <int E, int M, int BIAS, small_specials SPECIALS> struct small_float {
  static constexpr int fraction = M, bias = BIAS;
  static constexpr small_specials specials = SPECIALS;
  static constexpr int32_t sign = int32_t(1) << (E + M);
  /// The code of the largest number.
  static constexpr int32_t largest =
      SPECIALS == small_specials::infinity
          ? (((int32_t(1) << E) - 1) << M) - 1
          : sign - 1 - (SPECIALS == small_specials::last_nan);
  /// The code of NaN, and of numbers beyond the largest one.
  static constexpr int32_t nan = SPECIALS == small_specials::none         ? 0
                                 : SPECIALS == small_specials::minus_zero ? sign
                                 : SPECIALS == small_specials::last_nan
                                     ? largest + 1
                                     : (largest + 1) | int32_t(1) << (M - 1);
  static constexpr int32_t beyond = SPECIALS == small_specials::none ? largest
                                    : SPECIALS == small_specials::minus_zero
                                        ? nan
                                        : largest + 1;
  /// The bits of float's fraction that the format lacks.
  static constexpr int dropped = 23 - M;
};

/// 2^exponent, which is a normal float.
NNC_FN constexpr float power_of_two(int exponent) {
  float x = 1;
  for (; exponent > 0; --exponent)
    x *= 2;
  for (; exponent < 0; ++exponent)
    x /= 2;
  return x;
}

template <class F, class V> NNC_INLINE V encode_small(V x, V saturate) {
  using I = integer_of<V>;
  const I bits = bit_cast_int(x), all = bits & I(0x7fffffff);
  const mask_of<V> is_nan = x != x;
  const I size = select(I(0x7f800000) < all, I(0x7f800000), all);
  const I odd = shift_right<F::dropped>(size) & I(1);
  I code = shift_right<F::dropped>(
               size + (odd + I((int32_t(1) << (F::dropped - 1)) - 1))) -
           I((127 - F::bias) << F::fraction);
  if constexpr (F::bias != 127) {
    // Below the first normal number the sum's last bit is a unit of the code.
    constexpr float unit =
        power_of_two(F::dropped + 1 - F::bias); // 2^23 times that
    const I denormal =
        bit_cast_int(bit_cast_float(size) + V(unit)) - bit_cast_int(V(unit));
    code = select(size < I((128 - F::bias) << 23), denormal, code);
  }
  const I beyond = select(saturate != V(0.0f), I(F::largest), I(F::beyond));
  code = select(I(F::largest) < code, beyond, code);
  const I sign = select(bits < I(0), I(F::sign), I(0));
  if constexpr (F::specials == small_specials::minus_zero) {
    const I with_sign = select(code < I(1), I(0), code | sign);
    code = select(is_nan | (I(F::sign - 1) < code), I(F::nan), with_sign);
  } else if constexpr (F::specials == small_specials::none) {
    code = select(is_nan, sign ^ I(F::sign), code | sign);
  } else {
    I nan = I(F::nan);
    // 16-bit formats keep the payload of a NaN.
    if constexpr (F::fraction > 3)
      nan = nan |
            (shift_right<F::dropped>(all) & I((int32_t(1) << F::fraction) - 1));
    code = select(is_nan, nan, code) | sign;
  }
  return to_float(code);
}

/// Converts x, an integer from 0 to `mask`, to an integer type. Any other x
/// gives an unspecified integer, which is the same for every vector width.
template <class V> NNC_INLINE integer_of<V> small_code(V x, int32_t mask) {
  return bit_cast_int(x + V(0x1p23f)) & integer_of<V>(mask);
}

template <class F, class V> NNC_INLINE V decode_small(V x) {
  using I = integer_of<V>;
  const I code = small_code(x, 2 * F::sign - 1), size = code & I(F::sign - 1);
  I bits = shift_left<F::dropped>(size) + I((127 - F::bias) << 23);
  if constexpr (F::bias != 127) {
    constexpr float unit = power_of_two(1 - F::bias - F::fraction);
    const I denormal = bit_cast_int(to_float(size) * V(unit));
    bits = select(size < I(int32_t(1) << F::fraction), denormal, bits);
  }
  if constexpr (F::specials == small_specials::infinity) {
    const I fraction = size & I((int32_t(1) << F::fraction) - 1);
    bits = select(I(F::largest) < size,
                  I(0x7f800000) | shift_left<F::dropped>(fraction), bits);
  } else if constexpr (F::specials == small_specials::last_nan) {
    bits = select(I(F::largest) < size, I(0x7fc00000), bits);
  }
  const I sign = select(I(F::sign - 1) < code, I(INT32_MIN), I(0));
  if constexpr (F::specials == small_specials::minus_zero)
    bits = select((size < I(1)) & (I(F::sign - 1) < code), I(0x7fc00000), bits);
  return bit_cast_float(bits | sign);
}

/// Defines encode_NAME and decode_NAME for floats and vectors of them.
#define NNC_SMALL_FLOAT(NAME, ...)                                             \
  using small_##NAME = small_float<__VA_ARGS__>;                               \
  template <class V, if_f32<V> = 0>                                            \
  NNC_INLINE V encode_##NAME(V x, V saturate) {                                \
    return encode_small<small_##NAME>(x, saturate);                            \
  }                                                                            \
  template <class V, if_f32<V> = 0> NNC_INLINE V decode_##NAME(V x) {          \
    return decode_small<small_##NAME>(x);                                      \
  }
NNC_SMALL_FLOAT(e4m3fn, 4, 3, 7, small_specials::last_nan)
NNC_SMALL_FLOAT(e4m3fnuz, 4, 3, 8, small_specials::minus_zero)
NNC_SMALL_FLOAT(e5m2, 5, 2, 15, small_specials::infinity)
NNC_SMALL_FLOAT(e5m2fnuz, 5, 2, 16, small_specials::minus_zero)
NNC_SMALL_FLOAT(e2m1, 2, 1, 1, small_specials::none)
NNC_SMALL_FLOAT(e2m3, 2, 3, 1, small_specials::none)
NNC_SMALL_FLOAT(e3m2, 3, 2, 3, small_specials::none)
NNC_SMALL_FLOAT(e5m10, 5, 10, 15, small_specials::infinity)
NNC_SMALL_FLOAT(e8m7, 8, 7, 127, small_specials::infinity)
#undef NNC_SMALL_FLOAT

template <class V, if_f32<V> = 0>
NNC_INLINE V encode_e8m0(V x, V saturate, V rounding) {
  using I = integer_of<V>;
  const I all = bit_cast_int(x) & I(0x7fffffff);
  const I size = select(I(0x7f800000) < all, I(0x7f800000), all);
  const I nearest = select(size < I(0x800000), I(0x3fffff), I(0x400000));
  const I added = select(rounding > V(0.75f), I(0x7fffff),
                         select(rounding > V(0.25f), nearest, I(0)));
  const I code = shift_right<23>(size + added);
  const I beyond = select(saturate != V(0.0f), I(254), I(255));
  return to_float(select(I(0x7f7fffff) < size, I(255),
                         select(I(254) < code, beyond, code)));
}

template <class V, if_f32<V> = 0> NNC_INLINE V decode_e8m0(V x) {
  using I = integer_of<V>;
  const I code = small_code(x, 255);
  const I power = select(code < I(1), I(0x400000), shift_left<23>(code));
  return bit_cast_float(select(I(254) < code, I(0x7fc00000), power));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// The bits of a float as an integer of the same size, and back.
NNC_INLINE int32_t bit_cast(float x) { return bit_cast_int(x); }
NNC_INLINE float bit_cast(int32_t x) { return bit_cast_float(x); }
NNC_INLINE int64_t bit_cast(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
NNC_INLINE double bit_cast(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

} // namespace nnc

#endif // NNC_SIMD_SMALL_FLOATS_H
