//===- portable.h - LSTM of integers on any machine -----------------------===//
//
// TFLite's LSTM in fixed point. The operands are those of lstm_portable, with
// weights of 8 bits, and inputs and results of 8 or 16 bits, but:
//   - sums of x and of h have biases of their own, bias and rbias[4][units],
//     which include the zero points of x and h;
//   - gates are numbers of 16 bits: their arguments have 12 fraction bits,
//     sigmoids and tangents 15;
//   - cells are numbers of 16 bits. Beside results of 8 bits, each is stored as
//     two bytes, the low one first, in c0[batch][2 * units] and at the end of
//     y; beside results of 16 bits, as one number;
//   - factors holds pairs of a multiplier and a shift (simd/fixed_point.h): of
//     the sums of x and of h for each gate, of f c, of i g, and of h. Inputs of
//     16 bits have sums of 64 bits, whose multipliers have 16;
//   - table[256] is that of simd/fixed_gates.h.
// With a multiplier of 0, which takes x of 8 bits, gates are those of
// simd/short_gates.h, as LiteRT computes them: sums of h are added to those of
// x before they are cut, cells have s.shift integer bits, and f c and i g are
// shifted and rounded once.
// A unit is a sequence.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_INTEGER_LSTM_PORTABLE_H
#define NNC_ROUTINES_RECURRENT_INTEGER_LSTM_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/fixed_gates.h"
#include "runtime/simd/fixed_point.h"
#include "runtime/simd/short_gates.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_armdsp.h"

namespace nnc {

template <class S, class Epi> struct integer_lstm_portable {
  NNC_FN static constexpr int units(const S &s) { return s.batch; }

  /// X is int8_t with biases of type B = int32_t, or int16_t with int64_t.
  template <class X, class B>
  NNC_FN static void
  run(const S &s, const X *x, const int8_t *w, const int8_t *r, const B *bias,
      const B *rbias, const int32_t *factors, const uint16_t *table,
      const X *h0, const X *c0, X *y, const Epi &, int begin, int end) {
    constexpr int width = 2 / static_cast<int>(sizeof(X)); // of a cell
    for (int b = begin; b < end; ++b) {
      const X *h = h0 + ptrdiff_t(b) * s.units;
      const X *old = c0 + ptrdiff_t(b) * width * s.units;
      X *c =
          y + (ptrdiff_t(s.steps) * s.batch + ptrdiff_t(b) * width) * s.units;
      for (int u = 0; u < width * s.units; ++u)
        c[u] = old[u];
      for (int t = 0; t < s.steps; ++t) {
        const ptrdiff_t row = s.time_major ? ptrdiff_t(t) * s.batch + b
                                           : ptrdiff_t(b) * s.steps + t;
        X *next = y + row * s.units;
        for (int u = 0; u < s.units; ++u) {
          B ofX[4], ofH[4];
          int32_t gates[4];
          sums(x + row * s.input, w + ptrdiff_t(u) * s.input,
               ptrdiff_t(s.units) * s.input, s.input, ofX);
          sums(h, r + ptrdiff_t(u) * s.units, ptrdiff_t(s.units) * s.units,
               s.units, ofH);
          for (int gate = 0; gate < 4; ++gate) {
            const int at = gate * s.units + u;
            const int32_t *pairs = factors + 4 * gate;
            const int32_t first =
                saturate16(scale(s, plus(ofX[gate], bias[at]), pairs));
            int32_t second = scale(s, plus(ofH[gate], rbias[at]), pairs + 2);
            if (s.multiplier != 0)
              second = saturate16(second);
            gates[gate] = saturate16(plus(first, second));
          }
          next[u] = s.multiplier == 0
                        ? short_step(s, gates, factors + 20, c + width * u)
                        : step(s, gates, factors + 16, table, c + width * u);
        }
        h = next;
      }
    }
  }

private:
  /// Advances a cell by one vector and returns its output.
  template <class X>
  NNC_FN static X step(const S &s, const int32_t *gates, const int32_t *pairs,
                       const uint16_t *table, X *cell) {
    const int32_t i = fixed_sigmoid(3 * gates[0], table),
                  f = fixed_sigmoid(3 * gates[1], table),
                  g = fixed_tanh(3 * gates[2], table),
                  o = fixed_sigmoid(3 * gates[3], table);
    const int32_t c =
        clip(s, saturate16(saturate16(times(s, f * load16(cell), pairs)) +
                           saturate16(times(s, i * g, pairs + 2))));
    store16(cell, c);
    const int32_t round =
        s.shift > 0 ? 1 << (s.shift > 0 ? s.shift - 1 : 0) : 0;
    const int32_t th = fixed_tanh((c * s.multiplier + round) >> s.shift, table);
    return give<X>(times(s, th * o, pairs + 4) + s.zero);
  }

  /// Advances a cell by one vector with 16-bit gates and returns its output.
  /// `pair` is the multiplier and shift of h.
  template <class X>
  NNC_FN static X short_step(const S &s, const int32_t *gates,
                             const int32_t *pair, X *cell) {
    const int32_t i = short_sigmoid(gates[0]), f = short_sigmoid(gates[1]),
                  g = short_tanh(gates[2], 3), o = short_sigmoid(gates[3]);
    const int32_t c = clip(s, saturate16(divide_by_power(f * load16(cell), 15) +
                                         divide_by_power(i * g, 15 + s.shift)));
    store16(cell, c);
    return give<X>(times(s, o * short_tanh(c, s.shift), pair) + s.zero);
  }

  NNC_FN static int32_t clip(const S &s, int32_t c) {
    if (s.clip > 0)
      return c > s.clip ? s.clip : c < -s.clip ? -s.clip : c;
    return c;
  }
  /// Returns h saturated to X.
  template <class X> NNC_FN static X give(int32_t h) {
    const int32_t most = numeric_limits<X>::max(),
                  least = numeric_limits<X>::min();
    return static_cast<X>(h > most ? most : h < least ? least : h);
  }

  NNC_FN static int32_t scale(const S &s, int32_t sum, const int32_t *pair) {
    return times(s, sum, pair);
  }
  NNC_FN static int32_t scale(const S &, int64_t sum, const int32_t *pair) {
    return static_cast<int32_t>(
        rescale_wide(sum, int64_t(pair[0]), int64_t(pair[1])));
  }

  NNC_FN static int32_t times(const S &s, int32_t x, const int32_t *pair) {
    return s.single ? rescale_single(x, pair[0], pair[1])
                    : rescale_double(x, pair[0], pair[1]);
  }
  NNC_FN static int32_t saturate16(int32_t x) {
    return x > 32767 ? 32767 : x < -32768 ? -32768 : x;
  }
  NNC_FN static int32_t load16(const int16_t *cell) { return *cell; }
  NNC_FN static void store16(int16_t *cell, int32_t x) {
    *cell = static_cast<int16_t>(x);
  }
  NNC_FN static int32_t load16(const int8_t *bytes) {
    return static_cast<int16_t>(static_cast<uint8_t>(bytes[0]) |
                                static_cast<uint8_t>(bytes[1]) << 8);
  }
  NNC_FN static void store16(int8_t *bytes, int32_t x) {
    bytes[0] = static_cast<int8_t>(x & 255);
    bytes[1] = static_cast<int8_t>(x >> 8);
  }

  NNC_FN static void sums(const int16_t *a, const int8_t *rows, ptrdiff_t step,
                          int count, int64_t *y) {
    for (int row = 0; row < 4; ++row) {
      int64_t sum = 0;
      for (int i = 0; i < count; ++i)
        sum += int32_t(a[i]) * rows[row * step + i];
      y[row] = sum;
    }
  }

  /// The sums of products of a[count] with each of four rows, `step` bytes
  /// apart. A function of its own, so that the loops have all registers.
  NNC_FN NNC_NOINLINE static void sums(const int8_t *a, const int8_t *rows,
                                       ptrdiff_t step, int count, int32_t *y) {
    for (int row = 0; row < 4; row += 2) {
      const int8_t *b = rows + row * step, *c = b + step;
      int32_t one = 0, two = 0;
      int i = 0;
#if defined(NNC_ARM_DSP)
      for (; i + 4 <= count; i += 4) {
        const uint32_t word = load_word(a + i), ofB = load_word(b + i),
                       ofC = load_word(c + i);
        const uint32_t even = even_bytes(word), odd = odd_bytes(word);
        one = add_products(one, even, even_bytes(ofB));
        one = add_products(one, odd, odd_bytes(ofB));
        two = add_products(two, even, even_bytes(ofC));
        two = add_products(two, odd, odd_bytes(ofC));
      }
#endif
      for (; i < count; ++i) {
        one = plus(one, int32_t(a[i]) * b[i]);
        two = plus(two, int32_t(a[i]) * c[i]);
      }
      y[row] = one;
      y[row + 1] = two;
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_INTEGER_LSTM_PORTABLE_H
