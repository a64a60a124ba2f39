//===- portable.h - Softmax of integers on any machine --------------------===//
//
// TFLite's softmax in fixed point. Each element of x[outer][size], of 8 bits,
// gives e = table[largest - x], a number in [0, 1] with 31 fraction bits, or 0
// if the table has no such entry. The result is e / sum of e, which is 1 at 2^8
// or 2^16 above the least number of y's type. Sums have 19 fraction bits, and
// the reciprocal of a sum is found by three steps of Newton's method. A unit is
// a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_PORTABLE_H
#define NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/fixed_point.h"

namespace nnc {

template <class S, class Epi> struct integer_softmax_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer; }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const int32_t *table, Y *y,
                         const Epi &, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = ptrdiff_t(unit) * s.size;
      row(s, x + at, table, y + at);
    }
  }

private:
  template <class X, class Y>
  NNC_FN static void row(const S &s, const X *x, const int32_t *table, Y *y) {
    int largest = x[0];
    for (int i = 1; i < s.size; ++i)
      largest = x[i] > largest ? x[i] : largest;
    // At least 2^19: the largest element's exponential is 1.
    int32_t sum = 0;
    for (int i = 0; i < s.size; ++i)
      if (largest - x[i] < s.entries)
        sum += divide_by_power(table[largest - x[i]], 12);
    int shift = 0;
    for (uint32_t v = static_cast<uint32_t>(sum); v < 0x80000000u; v <<= 1)
      ++shift;
    const int32_t factor = reciprocal(static_cast<int32_t>(
        (static_cast<uint32_t>(sum) << shift) - 0x80000000u));
    const int bits = 12 - shift + 31 - 8 * static_cast<int>(sizeof(Y));
    const int32_t least = numeric_limits<Y>::min(),
                  most = numeric_limits<Y>::max();
    for (int i = 0; i < s.size; ++i) {
      int32_t v = least;
      if (largest - x[i] < s.entries) {
        v = times_fraction(factor, table[largest - x[i]]);
        v = (bits > 0 ? divide_by_power(v, bits) : v) + least;
      }
      y[i] = static_cast<Y>(v > most ? most : v);
    }
  }

  /// The product of two numbers with 31 fraction bits.
  NNC_FN static int32_t times_fraction(int32_t a, int32_t b) {
    return rescale_double(a, b, int32_t(0));
  }
  /// x * 2^N, or the nearest end of the range.
  template <int N> NNC_FN static int32_t shift_up(int32_t x) {
    const int32_t most = (1 << (31 - N)) - 1;
    return x > most ? INT32_MAX : x < -most ? INT32_MIN : x * (1 << N);
  }
  /// 1 / (1 + a), for an a in [0, 1), both with 31 fraction bits.
  NNC_FN static int32_t reciprocal(int32_t a) {
    const int32_t half = static_cast<int32_t>((int64_t(a) + INT32_MAX + 1) / 2);
    // 48/17 - 32/17 * half, with 29 fraction bits.
    int32_t x = 1515870810 + times_fraction(half, -1010580540);
    for (int i = 0; i < 3; ++i)
      x += shift_up<2>(times_fraction(x, (1 << 29) - times_fraction(half, x)));
    return shift_up<1>(x);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_PORTABLE_H
