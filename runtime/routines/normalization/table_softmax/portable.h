//===- portable.h - Softmax of 16-bit integers on any machine -------------===//
//
// TFLite's softmax of x[outer][size] by tables. Both tables have 513 numbers
// with 15 fraction bits for arguments from -32768 on in steps of 128: the first
// e^(10 (a - 32767) / 65535), the second 1 / (1 + (a + 32768) / 65535). Results
// have 15 fraction bits. A unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_PORTABLE_H
#define NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/fixed_point.h"

namespace nnc {

template <class S, class Epi> struct table_softmax_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer; }

  NNC_FN static void run(const S &s, const int16_t *x,
                         const int16_t *exponentials,
                         const int16_t *reciprocals, int16_t *y, const Epi &,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = ptrdiff_t(unit) * s.size;
      row(s, x + at, exponentials, reciprocals, y + at);
    }
  }

private:
  NNC_FN static void row(const S &s, const int16_t *x,
                         const int16_t *exponentials,
                         const int16_t *reciprocals, int16_t *y) {
    int32_t largest = x[0];
    for (int i = 1; i < s.size; ++i)
      largest = x[i] > largest ? x[i] : largest;
    // The result holds the exponentials until their sum is known. Rows are
    // shorter than 2^16, so that the sum, which is at least 2^15 - 1, fits.
    int32_t sum = 0;
    for (int i = 0; i < s.size; ++i) {
      const int32_t place = rescaled(s, x[i] - largest) + 32767;
      y[i] = static_cast<int16_t>(look_up(place, exponentials));
      sum += y[i];
    }
    int bits = 0; // leading zero bits of the sum
    for (uint32_t v = static_cast<uint32_t>(sum); v < 0x80000000u; v <<= 1)
      ++bits;
    const int64_t scaled = (int64_t(sum) << (bits - 1)) + (1 << 13);
    const int32_t factor = look_up(
        static_cast<int32_t>(scaled >> 14) - 3 * (1 << 15), reciprocals);
    const int shift = 31 - bits;
    for (int i = 0; i < s.size; ++i) {
      const int32_t v = (y[i] * factor + (1 << (shift - 1))) >> shift;
      y[i] = static_cast<int16_t>(v < 0 ? 0 : v > 32767 ? 32767 : v);
    }
  }

  NNC_FN static int32_t rescaled(const S &s, int32_t x) {
    const int32_t multiplier = s.multiplier, shift = s.shift;
    return s.single != 0 ? rescale_single(x, multiplier, shift)
                         : rescale_double(x, multiplier, shift);
  }

  /// Linear interpolation in a table at x, which is saturated to 16 bits.
  NNC_FN static int32_t look_up(int32_t x, const int16_t *table) {
    x = x < -32768 ? -32768 : x > 32767 ? 32767 : x;
    const int16_t *entry = table + 256 + (x >> 7);
    const int32_t slope = static_cast<int16_t>(entry[1] - entry[0]);
    return static_cast<int16_t>(entry[0] + ((slope * (x & 127) + 64) >> 7));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_PORTABLE_H
