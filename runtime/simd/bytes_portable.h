//===- bytes_portable.h - Portable operations on bytes --------------------===//
//
// The primary template of byte_lanes, whose vectors are pairs down to one lane.
// Each bytes_<isa>.h specializes it for its own registers.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_BYTES_PORTABLE_H
#define NNC_SIMD_BYTES_PORTABLE_H

#include "runtime/functions.h"
#include "runtime/simd/fixed_point.h"
#include "runtime/simd/wrap.h"

namespace nnc {

template <int W, class T>
NNC_INLINE void store_in_turn(T *p, i32x<W> a, i32x<W> b, i32x<W> c, i32x<W> d);

template <class T, int W> struct narrow;
/// True if narrow<T, W>, a vector of bytes.h, is a register of W bytes: its
/// lanes are widened where an expression needs them.
template <class T, int W> constexpr bool is_byte_register = false;

/// True if byte_lanes<W> can load and store only the first lanes of a vector of
/// any integers: load_part(p, count) and store_part(p, v, count).
template <int W> constexpr bool has_byte_parts = false;

template <int W> struct byte_lanes {
  using half = byte_lanes<W / 2>;
  /// True if to_int() saturates to 32 bits and gives 0 for NaN.
  static constexpr bool conversion_saturates = half::conversion_saturates;

  /// Loads W bytes, each into a lane.
  template <class T> static NNC_INLINE i32x<W> load(const T *p) {
    return {half::load(p), half::load(p + W / 2)};
  }
  /// Loads 2 * W bytes, each into 16 bits.
  template <class T> static NNC_INLINE i32x<W> load_pairs(const T *p) {
    return {half::load_pairs(p), half::load_pairs(p + W)};
  }
  /// Loads W bytes from each of two addresses, those of p into the lower halves
  /// and those of q into the upper halves of the lanes.
  template <class T>
  static NNC_INLINE i32x<W> load_two(const T *p, const T *q) {
    return {half::load_two(p, q), half::load_two(p + W / 2, q + W / 2)};
  }
  /// Loads 4 * W bytes unchanged.
  static NNC_INLINE i32x<W> load_bits(const void *p) {
    const auto *bytes = static_cast<const unsigned char *>(p);
    return {half::load_bits(bytes), half::load_bits(bytes + 2 * W)};
  }
  static NNC_INLINE void store_bits(void *p, i32x<W> v) {
    auto *bytes = static_cast<unsigned char *>(p);
    half::store_bits(bytes, v.lo);
    half::store_bits(bytes + 2 * W, v.hi);
  }
  /// Stores the low byte of every lane.
  static NNC_INLINE void store(void *p, i32x<W> v) {
    auto *bytes = static_cast<unsigned char *>(p);
    half::store(bytes, v.lo);
    half::store(bytes + W / 2, v.hi);
  }
  /// Stores the lanes of four vectors consecutively as T. They must be in the
  /// range of T.
  template <class T>
  static NNC_INLINE void store_four(T *p, i32x<W> a, i32x<W> b, i32x<W> c,
                                    i32x<W> d) {
    store_in_turn<W>(p, a, b, c, d);
  }
  /// Looks up bytes in a table of 256, with the indices in the lanes. The upper
  /// bits of the lanes of the result have no meaning.
  template <class T>
  static NNC_INLINE i32x<W> look_up(const T *table, i32x<W> at) {
    return {half::look_up(table, at.lo), half::look_up(table, at.hi)};
  }
  /// Products of lanes; overflow wraps around.
  static NNC_INLINE i32x<W> multiply(i32x<W> a, i32x<W> b) {
    return {half::multiply(a.lo, b.lo), half::multiply(a.hi, b.hi)};
  }
  /// rescale_double and rescale_single of fixed_point.h, lane by lane.
  static NNC_INLINE i32x<W> rescale_double(i32x<W> x, i32x<W> multiplier,
                                           i32x<W> shift) {
    return {half::rescale_double(x.lo, multiplier.lo, shift.lo),
            half::rescale_double(x.hi, multiplier.hi, shift.hi)};
  }
  static NNC_INLINE i32x<W> rescale_single(i32x<W> x, i32x<W> multiplier,
                                           i32x<W> shift) {
    return {half::rescale_single(x.lo, multiplier.lo, shift.lo),
            half::rescale_single(x.hi, multiplier.hi, shift.hi)};
  }
  static NNC_INLINE i32x<W> most(i32x<W> a, i32x<W> b) {
    return select(a < b, b, a);
  }
  static NNC_INLINE i32x<W> least(i32x<W> a, i32x<W> b) {
    return select(a < b, a, b);
  }
  /// sum + a0 * b0 + a1 * b1 in every lane, where a lane holds two signed
  /// 16-bit factors. Sums wrap around.
  static NNC_INLINE i32x<W> dot2(i32x<W> sum, i32x<W> a, i32x<W> b) {
    return {half::dot2(sum.lo, a.lo, b.lo), half::dot2(sum.hi, a.hi, b.hi)};
  }
  /// sum + the four products of a lane's unsigned bytes of a and signed bytes
  /// of b.
  static NNC_INLINE i32x<W> dot4(i32x<W> sum, i32x<W> a, i32x<W> b) {
    return {half::dot4(sum.lo, a.lo, b.lo), half::dot4(sum.hi, a.hi, b.hi)};
  }
  /// dot4 where the two products of either half of a lane fit in 16 bits.
  static NNC_INLINE i32x<W> bounded_dot4(i32x<W> sum, i32x<W> a, i32x<W> b) {
    return {half::bounded_dot4(sum.lo, a.lo, b.lo),
            half::bounded_dot4(sum.hi, a.hi, b.hi)};
  }
  /// sum + the products of a and b + those of c and d as dot4 has them, where
  /// the four products of the lower half of a lane fit in 16 bits together, and
  /// so do those of the upper half.
  static NNC_INLINE i32x<W> bounded_dot8(i32x<W> sum, i32x<W> a, i32x<W> b,
                                         i32x<W> c, i32x<W> d) {
    return {half::bounded_dot8(sum.lo, a.lo, b.lo, c.lo, d.lo),
            half::bounded_dot8(sum.hi, a.hi, b.hi, c.hi, d.hi)};
  }
};

/// Implement byte_lanes<W>::store_four and look_up for instruction sets that
/// have no instructions for them.
template <int W, class T>
NNC_INLINE void store_in_turn(T *p, i32x<W> a, i32x<W> b, i32x<W> c,
                              i32x<W> d) {
  byte_lanes<W>::store(p, a);
  byte_lanes<W>::store(p + W, b);
  byte_lanes<W>::store(p + 2 * W, c);
  byte_lanes<W>::store(p + 3 * W, d);
}
template <int W, class T>
NNC_INLINE i32x<W> look_up_in_turn(const T *table, i32x<W> at) {
  int32_t lanes_of_at[static_cast<size_t>(W)];
  byte_lanes<W>::store_bits(lanes_of_at, at);
  for (int32_t &lane : lanes_of_at)
    lane = table[lane];
  return byte_lanes<W>::load_bits(lanes_of_at);
}

/// Implements byte_lanes<W>::rescale_double and rescale_single for instruction
/// sets that have no instructions for them.
template <class F, int W>
NNC_INLINE i32x<W> rescale_in_turn(i32x<W> x, i32x<W> multiplier,
                                   i32x<W> shift) {
  constexpr auto count = static_cast<size_t>(W);
  int32_t values[count], multipliers[count], shifts[count];
  byte_lanes<W>::store_bits(values, x);
  byte_lanes<W>::store_bits(multipliers, multiplier);
  byte_lanes<W>::store_bits(shifts, shift);
  for (int i = 0; i < W; ++i)
    values[i] = F::call(values[i], multipliers[i], shifts[i]);
  return byte_lanes<W>::load_bits(values);
}
struct double_rescaling {
  static NNC_INLINE int32_t call(int32_t x, int32_t multiplier, int32_t shift) {
    return nnc::rescale_double(x, multiplier, shift);
  }
};
struct single_rescaling {
  static NNC_INLINE int32_t call(int32_t x, int32_t multiplier, int32_t shift) {
    return nnc::rescale_single(x, multiplier, shift);
  }
};

template <> struct byte_lanes<1> {
  static constexpr bool conversion_saturates = false;
  template <class T> static NNC_INLINE i32x<1> load(const T *p) {
    return i32x<1>(*p);
  }
  template <class T> static NNC_INLINE i32x<1> load_pairs(const T *p) {
    const int16_t pair[2] = {p[0], p[1]};
    return load_bits(pair);
  }
  template <class T>
  static NNC_INLINE i32x<1> load_two(const T *p, const T *q) {
    const int16_t pair[2] = {*p, *q};
    return load_bits(pair);
  }
  static NNC_INLINE i32x<1> load_bits(const void *p) {
    int32_t v;
    memcpy(&v, p, sizeof v);
    return i32x<1>(v);
  }
  static NNC_INLINE void store_bits(void *p, i32x<1> v) {
    memcpy(p, &v.v, sizeof v.v);
  }
  static NNC_INLINE void store(void *p, i32x<1> v) {
    *static_cast<unsigned char *>(p) = static_cast<unsigned char>(v.v);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, i32x<1> a, i32x<1> b, i32x<1> c,
                                    i32x<1> d) {
    store_in_turn<1>(p, a, b, c, d);
  }
  template <class T>
  static NNC_INLINE i32x<1> look_up(const T *table, i32x<1> at) {
    return i32x<1>(table[at.v]);
  }
  static NNC_INLINE i32x<1> multiply(i32x<1> a, i32x<1> b) {
    return i32x<1>(times(a.v, b.v));
  }
  static NNC_INLINE i32x<1> rescale_double(i32x<1> x, i32x<1> multiplier,
                                           i32x<1> shift) {
    return i32x<1>(nnc::rescale_double(x.v, multiplier.v, shift.v));
  }
  static NNC_INLINE i32x<1> rescale_single(i32x<1> x, i32x<1> multiplier,
                                           i32x<1> shift) {
    return i32x<1>(nnc::rescale_single(x.v, multiplier.v, shift.v));
  }
  static NNC_INLINE i32x<1> most(i32x<1> a, i32x<1> b) {
    return a.v < b.v ? b : a;
  }
  static NNC_INLINE i32x<1> least(i32x<1> a, i32x<1> b) {
    return a.v < b.v ? a : b;
  }
  static NNC_INLINE i32x<1> dot2(i32x<1> sum, i32x<1> a, i32x<1> b) {
    int16_t x[2], y[2];
    memcpy(x, &a.v, sizeof x);
    memcpy(y, &b.v, sizeof y);
    return sum + i32x<1>(x[0] * y[0]) + i32x<1>(x[1] * y[1]);
  }
  static NNC_INLINE i32x<1> dot4(i32x<1> sum, i32x<1> a, i32x<1> b) {
    unsigned char x[4];
    signed char y[4];
    memcpy(x, &a.v, sizeof x);
    memcpy(y, &b.v, sizeof y);
    return sum + i32x<1>(x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]);
  }
  static NNC_INLINE i32x<1> bounded_dot4(i32x<1> sum, i32x<1> a, i32x<1> b) {
    return dot4(sum, a, b);
  }
  static NNC_INLINE i32x<1> bounded_dot8(i32x<1> sum, i32x<1> a, i32x<1> b,
                                         i32x<1> c, i32x<1> d) {
    return dot4(dot4(sum, a, b), c, d);
  }
};

} // namespace nnc

#endif // NNC_SIMD_BYTES_PORTABLE_H
