//===- portable.h - LSTM of integers on any machine -----------------------===//
//
// TFLite's LSTM in fixed point. The operands are those of lstm_portable, with
// numbers of 8 bits as inputs, weights and results, but:
//   - sums of x and of h have biases of their own, bias and rbias[4][units],
//     which include the zero points of x and h;
//   - gates are numbers of 16 bits: their arguments have 12 fraction bits,
//     sigmoids and tangents 15;
//   - cells are numbers of 16 bits, each stored as two bytes, the low one
//     first, in c0[batch][2 * units] and at the end of y;
//   - factors holds pairs of a multiplier and a shift (simd/fixed_point.h): of
//     the sums of x and of h for each gate, of f c, of i g, and of h;
//   - table[256] holds sigmoid(k / 24) in units of 2^-16.
// A unit is a sequence.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_INTEGER_LSTM_PORTABLE_H
#define NNC_ROUTINES_INTEGER_LSTM_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_armdsp.h"

namespace nnc {

template <class S, class Epi> struct integer_lstm_portable {
  static constexpr int units(const S &s) { return s.batch; }

  static void run(const S &s, const int8_t *x, const int8_t *w, const int8_t *r,
                  const int32_t *bias, const int32_t *rbias,
                  const int32_t *factors, const uint16_t *table,
                  const int8_t *h0, const int8_t *c0, int8_t *y, const Epi &,
                  int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const int8_t *h = h0 + ptrdiff_t(b) * s.units;
      const int8_t *old = c0 + ptrdiff_t(b) * 2 * s.units;
      int8_t *c =
          y + (ptrdiff_t(s.steps) * s.batch + ptrdiff_t(b) * 2) * s.units;
      for (int u = 0; u < 2 * s.units; ++u)
        c[u] = old[u];
      for (int t = 0; t < s.steps; ++t) {
        const ptrdiff_t row = s.time_major ? ptrdiff_t(t) * s.batch + b
                                           : ptrdiff_t(b) * s.steps + t;
        int8_t *next = y + row * s.units;
        for (int u = 0; u < s.units; ++u) {
          int32_t ofX[4], ofH[4], gates[4];
          sums(x + row * s.input, w + ptrdiff_t(u) * s.input,
               ptrdiff_t(s.units) * s.input, s.input, ofX);
          sums(h, r + ptrdiff_t(u) * s.units, ptrdiff_t(s.units) * s.units,
               s.units, ofH);
          for (int gate = 0; gate < 4; ++gate) {
            const int at = gate * s.units + u;
            const int32_t *pairs = factors + 4 * gate;
            gates[gate] = saturate16(
                saturate16(times(s, plus(ofX[gate], bias[at]), pairs)) +
                saturate16(times(s, plus(ofH[gate], rbias[at]), pairs + 2)));
          }
          next[u] = step(s, gates, factors + 16, table, c + 2 * u);
        }
        h = next;
      }
    }
  }

private:
  /// Moves a cell on by one vector, and returns what it gives.
  static int8_t step(const S &s, const int32_t *gates, const int32_t *pairs,
                     const uint16_t *table, int8_t *cell) {
    const int32_t i = sigmoid_of(3 * gates[0], table),
                  f = sigmoid_of(3 * gates[1], table),
                  g = tanh_of(3 * gates[2], table),
                  o = sigmoid_of(3 * gates[3], table);
    int32_t c = saturate16(saturate16(times(s, f * load16(cell), pairs)) +
                           saturate16(times(s, i * g, pairs + 2)));
    if (s.clip > 0)
      c = c > s.clip ? s.clip : c < -s.clip ? -s.clip : c;
    store16(cell, c);
    const int32_t round =
        s.shift > 0 ? 1 << (s.shift > 0 ? s.shift - 1 : 0) : 0;
    const int32_t th = tanh_of((c * s.multiplier + round) >> s.shift, table);
    const int32_t h = times(s, th * o, pairs + 4) + s.zero;
    return static_cast<int8_t>(h > 127 ? 127 : h < -128 ? -128 : h);
  }

  static int32_t times(const S &s, int32_t x, const int32_t *pair) {
    return s.single ? rescale_single(x, pair[0], pair[1])
                    : rescale_double(x, pair[0], pair[1]);
  }
  static int32_t saturate16(int32_t x) {
    return x > 32767 ? 32767 : x < -32768 ? -32768 : x;
  }
  static int32_t load16(const int8_t *bytes) {
    return static_cast<int16_t>(static_cast<uint8_t>(bytes[0]) |
                                static_cast<uint8_t>(bytes[1]) << 8);
  }
  static void store16(int8_t *bytes, int32_t x) {
    bytes[0] = static_cast<int8_t>(x & 255);
    bytes[1] = static_cast<int8_t>(x >> 8);
  }

  /// The sums of products of a[count] with each of four rows, `step` bytes
  /// apart. A function of its own, so that the loops have all registers.
  NNC_NOINLINE static void sums(const int8_t *a, const int8_t *rows,
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

  /// 2^(16 + bits) * sigmoid(|x| / 2^bits / 24): a line between two entries of
  /// the table.
  template <int bits>
  static uint32_t interpolate(uint32_t x, const uint16_t *table,
                              uint32_t most) {
    const uint32_t at = x >> bits, rest = x & ((1u << bits) - 1);
    if (at >= 255)
      return most;
    const uint32_t low = table[at], high = table[at + 1];
    return (low << bits) + rest * (high - low);
  }
  static uint32_t magnitude(int32_t x) {
    return x < 0 ? 0u - static_cast<uint32_t>(x) : static_cast<uint32_t>(x);
  }
  /// 2^15 * sigmoid(x / 12288).
  static int32_t sigmoid_of(int32_t x, const uint16_t *table) {
    const uint32_t y = interpolate<9>(magnitude(x), table, 0x7fffu << 10);
    return static_cast<int32_t>(
        (x >= 0 ? y + (1u << 9) : (1u << 25) - y + (1u << 9) - 1) >> 10);
  }
  /// 2^15 * tanh(x / 12288).
  static int32_t tanh_of(int32_t x, const uint16_t *table) {
    const int32_t y =
        static_cast<int32_t>(interpolate<8>(magnitude(x), table, 0xffffu << 8));
    return (x >= 0 ? y - (1 << 23) + (1 << 7) : (1 << 23) - y + (1 << 7) - 1) >>
           8;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_INTEGER_LSTM_PORTABLE_H
