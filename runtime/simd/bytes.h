//===- bytes.h - Vectors of integers, and sums of products of bytes -------===//
//
// narrow<T, W> is a vector of W integers of a type T of fewer than 32 bits,
// each in a lane of 32 bits of its own; vector_of<T, W> is the vector of any
// type of at most 32 bits. One template of an expression on mixed types
// therefore serves scalars and vectors of every width, with the same result in
// each lane:
//
//   template <class V> auto operator()(V sum, nnc::like<V, float> scale) const
//   {
//     return nnc::cast<uint8_t>(nnc::mul(nnc::cast<float>(sum), scale));
//   }
//
// byte_lanes<W> has the operations that each instruction set implements
// differently. Sums of products take several narrow factors for each lane of a
// sum: two of 16 bits (dot2), or four of 8 bits (dot4).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_BYTES_H
#define NNC_SIMD_BYTES_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/number.h"
#include "runtime/simd/operands.h"

#include "runtime/simd/bytes_avx2.h"
#include "runtime/simd/bytes_avx512.h"
#include "runtime/simd/bytes_helium.h"
#include "runtime/simd/bytes_neon.h"
#include "runtime/simd/bytes_rvv.h"
#include "runtime/simd/bytes_sse4.h"

namespace nnc {

/// Enabled if T is an integer type of at most 32 bits, which vectors can hold.
template <class T>
using if_vector_integer =
    enable_if_t<is_int<T> && (sizeof(T) < 4 || is_same<T, int32_t>::value)>;

/// W integers of type T, each in a lane of 32 bits that holds its value.
template <class T, int W> struct narrow {
  static_assert(is_integral<T>::value && sizeof(T) < 4, "a narrow type");
  i32x<W> v;
};
template <class T, int W> constexpr int lanes<narrow<T, W>> = W;

template <class T, int W> struct vector_type {
  using type = narrow<T, W>;
};
template <int W> struct vector_type<float, W> {
  using type = f32x<W>;
};
template <int W> struct vector_type<int32_t, W> {
  using type = i32x<W>;
};
template <class T> struct vector_type<T, 1> {
  using type = T;
};
template <> struct vector_type<float, 1> {
  using type = float;
};
template <> struct vector_type<int32_t, 1> {
  using type = int32_t;
};
/// True if V is a vector of integers.
template <class V> constexpr bool is_int_vector = false;
template <int W> constexpr bool is_int_vector<i32x<W>> = true;
template <class T, int W> constexpr bool is_int_vector<narrow<T, W>> = true;
template <class V> using if_int_vector = enable_if_t<is_int_vector<V>, int>;

/// The vector of W values of type T: T itself if W is 1.
template <class T, int W> using vector_of = typename vector_type<T, W>::type;
/// The vector of values of type T with as many lanes as V.
template <class V, class T> using like = vector_of<T, lanes<V>>;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Vectors of T in memory, for the integer types of this header.
template <class T, int W> struct vector_memory<T, W, if_vector_integer<T>> {
  using vector = vector_of<T, W>;
  static constexpr bool exists = true;

  static NNC_INLINE vector load(const T *p) {
    if constexpr (W == 1) {
      return *p;
    } else if constexpr (is_byte_register<T, W>) {
      return vector::load(p);
    } else if constexpr (sizeof(T) == 1) {
      return {byte_lanes<W>::load(p)};
    } else if constexpr (sizeof(T) == 4) {
      return byte_lanes<W>::load_bits(p);
    } else {
      int32_t values[static_cast<size_t>(W)];
      for (int i = 0; i < W; ++i)
        values[i] = p[i];
      return {byte_lanes<W>::load_bits(values)};
    }
  }
  /// Loads the first `count` lanes; the others are zero and are not read.
  static NNC_INLINE vector load(const T *p, int count) {
    if constexpr (has_byte_parts<W>) {
      return {byte_lanes<W>::load_part(p, count)};
    } else {
      T values[static_cast<size_t>(W)] = {};
      for (int i = 0; i < W && i < count; ++i)
        values[i] = p[i];
      return load(values);
    }
  }
  static NNC_INLINE vector repeat(T x) {
    if constexpr (W == 1)
      return x;
    else
      return {i32x<W>(x)};
  }
  static NNC_INLINE void store(T *p, vector v) {
    if constexpr (W == 1) {
      *p = v;
    } else if constexpr (sizeof(T) == 4) {
      byte_lanes<W>::store_bits(p, v);
    } else if constexpr (is_byte_register<T, W>) {
      v.store(p);
    } else if constexpr (sizeof(T) == 1) {
      byte_lanes<W>::store(p, v.v);
    } else {
      int32_t values[static_cast<size_t>(W)];
      byte_lanes<W>::store_bits(values, v.v);
      for (int i = 0; i < W; ++i)
        p[i] = static_cast<T>(values[i]);
    }
  }
  /// Stores the first `count` lanes; memory after them is untouched.
  static NNC_INLINE void store(T *p, vector v, int count) {
    if constexpr (has_byte_parts<W> && sizeof(T) == 4) {
      byte_lanes<W>::store_part(p, v, count);
    } else if constexpr (has_byte_parts<W>) {
      byte_lanes<W>::store_part(p, v.v, count);
    } else {
      T values[static_cast<size_t>(W)];
      store(values, v);
      for (int i = 0; i < W && i < count; ++i)
        p[i] = values[i];
    }
  }
};

/// The vector of 32-bit integers with a quarter of the lanes of V.
template <class V> using quarter_of = vector_of<int32_t, lanes<V> / 4>;

/// The form of an operand of an epilogue on vectors of integers: a vector of
/// the operand's own type.
template <class V, class T>
struct operand_beside<V, T, enable_if_t<is_int_vector<V>>> {
  using memory = vector_memory<T, lanes<V>>;
  using type = like<V, T>;
  static NNC_INLINE type load(const T *p) { return memory::load(p); }
  static NNC_INLINE type load(const T *p, int count) {
    return memory::load(p, count);
  }
  static NNC_INLINE type repeat(const T *p) { return memory::repeat(*p); }
  /// Loads a quarter of the lanes, and repeats it in the other three. g++ keeps
  /// halves that both halves of the result are copied from in memory.
  static NNC_INLINE type load_quarter(const T *p) {
    const auto quarter = operand_beside<quarter_of<V>, T>::load(p);
    if constexpr (sizeof(T) == 4) {
      return {{quarter, quarter}, {quarter, quarter}};
    } else {
      const auto v = lanes_of(quarter);
      return {i32x<lanes<V>>({v, v}, {v, v})};
    }
  }
};

/// The form of an integer operand of an epilogue on floats or vectors of
/// floats: an integer or a vector of integers.
template <class V, class T>
struct operand_beside<V, T, enable_if_t<is_f32<V> && is_integral<T>::value>> {
  using type = like<V, T>;
  static NNC_INLINE type load(const T *p) { return load_lanes(p, lanes<V>); }
  static NNC_INLINE type load(const T *p, int count) {
    return load_lanes(p, count);
  }
  static NNC_INLINE type repeat(const T *p) {
    if constexpr (lanes<V> == 1)
      return *p;
    else
      return vector_memory<T, lanes<V>>::repeat(*p);
  }

private:
  static NNC_INLINE type load_lanes(const T *p, int count) {
    if constexpr (lanes<V> == 1)
      return *p;
    else if (count == lanes<V>)
      return vector_memory<T, lanes<V>>::load(p);
    else
      return vector_memory<T, lanes<V>>::load(p, count);
  }
};

/// The numbers in the lanes of a vector.
template <int W> NNC_INLINE void spread(i32x<W> v, int32_t *to) {
  byte_lanes<W>::store_bits(to, v);
}
template <int W> NNC_INLINE void spread(f32x<W> v, float *to) { v.store(to); }

//===----------------------------------------------------------------------===//
// Functions of expressions, as simd/elementwise.h describes them
//===----------------------------------------------------------------------===//

/// lanes_of() returns the lanes of a vector of integers as 32-bit integers. The
/// reverse function makes a vector of T from lanes, which keep their low bits
/// if they are outside of T's range.
template <int W> NNC_INLINE i32x<W> lanes_of(i32x<W> x) { return x; }
template <class T, int W> NNC_INLINE i32x<W> lanes_of(narrow<T, W> x) {
  if constexpr (is_byte_register<T, W>)
    return x.widened();
  else
    return x.v;
}
template <class T, int W> NNC_INLINE vector_of<T, W> wrap_lanes(i32x<W> x) {
  if constexpr (sizeof(T) == 4) {
    return x;
  } else if constexpr (is_unsigned<T>::value) {
    return {x & i32x<W>((1 << 8 * sizeof(T)) - 1)};
  } else {
    constexpr int spare = 32 - 8 * int(sizeof(T));
    return {shift_right<spare>(shift_left<spare>(x))};
  }
}
template <class V> struct integer_lanes {};
template <int W> struct integer_lanes<i32x<W>> {
  using type = int32_t;
};
template <class T, int W> struct integer_lanes<narrow<T, W>> {
  using type = T;
};
template <class V> using lane_type = typename integer_lanes<V>::type;

template <class V, if_int_vector<V> = 0> NNC_INLINE V add(V a, V b) {
  return wrap_lanes<lane_type<V>>(lanes_of(a) + lanes_of(b));
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V sub(V a, V b) {
  return wrap_lanes<lane_type<V>>(lanes_of(a) - lanes_of(b));
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V mul(V a, V b) {
  return wrap_lanes<lane_type<V>>(
      byte_lanes<lanes<V>>::multiply(lanes_of(a), lanes_of(b)));
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V max(V a, V b) {
  return {byte_lanes<lanes<V>>::most(lanes_of(a), lanes_of(b))};
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V min(V a, V b) {
  return {byte_lanes<lanes<V>>::least(lanes_of(a), lanes_of(b))};
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V clip(V x, V low, V high) {
  return min(high, max(low, x));
}
template <int W>
NNC_INLINE i32x<W> rescale_double(i32x<W> x, i32x<W> multiplier,
                                  i32x<W> shift) {
  return byte_lanes<W>::rescale_double(x, multiplier, shift);
}
template <int W>
NNC_INLINE i32x<W> rescale_single(i32x<W> x, i32x<W> multiplier,
                                  i32x<W> shift) {
  return byte_lanes<W>::rescale_single(x, multiplier, shift);
}
template <class V, if_int_vector<V> = 0> NNC_INLINE V relu(V x) {
  return {byte_lanes<lanes<V>>::most(lanes_of(x), i32x<lanes<V>>(0))};
}

/// Returns table[b] for each lane of x, where b is the lane's byte, read as
/// unsigned.
template <class T, class X, int W>
NNC_INLINE vector_of<T, W> lookup(const T (&table)[256], narrow<X, W> x) {
  static_assert(sizeof(T) == 1 && sizeof(X) == 1, "256 bytes");
  if constexpr (is_byte_register<T, W>)
    return narrow<T, W>::look_up(table, x);
  else
    return wrap_lanes<T>(byte_lanes<W>::look_up(table, x.v & i32x<W>(255)));
}

/// cast() of number.h for vectors: floats saturate to T's range, and NaN gives
/// 0.
template <class T, int W> NNC_INLINE vector_of<T, W> cast(f32x<W> x) {
  if constexpr (is_same<T, float>::value) {
    return x;
  } else if constexpr (sizeof(T) == 4) {
    const f32x<W> beyond(0x1p31f);
    const maskx<W> fits = x < beyond;
    const f32x<W> inside = select(fits, max_fast(x, -beyond), f32x<W>(0.0f));
    const i32x<W> cut = select(fits, to_int(inside), i32x<W>(INT32_MAX));
    return select(x == x, cut, i32x<W>(0));
  } else if constexpr (byte_lanes<W>::conversion_saturates) {
    const i32x<W> low(numeric_limits<T>::min());
    const i32x<W> high(numeric_limits<T>::max());
    return {byte_lanes<W>::least(byte_lanes<W>::most(to_int(x), low), high)};
  } else {
    // If x is NaN, max_fast(x, low) is NaN or low.
    if constexpr (is_signed<T>::value)
      x = select(x == x, x, f32x<W>(0.0f));
    const f32x<W> low(numeric_limits<T>::min());
    const f32x<W> high(numeric_limits<T>::max());
    return {to_int(min_fast(high, max_fast(x, low)))};
  }
}

template <class T, int W> NNC_INLINE vector_of<T, W> cast(i32x<W> x) {
  if constexpr (is_same<T, float>::value)
    return to_float(x);
  else
    return wrap_lanes<T>(x);
}
template <class T, class S, int W>
NNC_INLINE vector_of<T, W> cast(narrow<S, W> x) {
  return cast<T>(lanes_of(x));
}

/// Conversion to the nearest integer, halves to even, of |x| < 2^31.
template <int W> NNC_INLINE i32x<W> to_nearest_int(f32x<W> x) {
  return to_int(vec_round(x));
}

/// quantize_to() of requantize.h for vectors. The limits are whole numbers, so
/// that they may be applied before x is rounded, which the conversion then does
/// by itself. NaN gives any number of T.
template <class T, int Zero, int Low, int High, int W>
NNC_INLINE vector_of<T, W> quantize_to(f32x<W> x) {
  if constexpr (is_same<T, float>::value) {
    return min_fast(max_fast(vec_round(x), f32x<W>(float(Low - Zero))),
                    f32x<W>(float(High - Zero))) +
           f32x<W>(float(Zero));
  } else if constexpr (sizeof(T) == 4) {
    // Not all limits are floats.
    return cast<T>(clip(vec_round(x) + f32x<W>(float(Zero)),
                        f32x<W>(float(Low)), f32x<W>(float(High))));
  } else if constexpr (is_byte_register<T, W>) {
    return narrow<T, W>::template nearest<Zero, Low, High>(x);
  } else {
    i32x<W> y(0);
    if constexpr (byte_lanes<W>::conversion_saturates)
      y = clip(to_nearest_int(x), i32x<W>(Low - Zero), i32x<W>(High - Zero));
    else
      y = to_nearest_int(min_fast(max_fast(x, f32x<W>(float(Low - Zero))),
                                  f32x<W>(float(High - Zero))));
    if constexpr (Zero != 0)
      y = y + i32x<W>(Zero);
    return {y};
  }
}

/// A vector with the lanes of V that are all x.
template <class V, class T> NNC_INLINE like<V, T> same(T x) {
  if constexpr (lanes<V> == 1)
    return x;
  else
    return vector_memory<T, lanes<V>>::repeat(x);
}

} // namespace nnc

#endif // NNC_SIMD_BYTES_H
