//===- dsp_threes.h - Depthwise 3 x 3 windows of bytes, row by row --------===//
//
// Depthwise convolutions of dsp.h with windows of 3 x 3, strides of 1 or 2 and
// a requantization. A row of one channel is computed at a time: its nine
// weights stay in registers, and each byte of the image is read once for the
// outputs of a row, whose sums move on from one tap column to the next.
//
// Rows of taps outside of the image have weights of zero, and what they would
// add is in the bias. The column before the image and those after it only meet
// the first and the last output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_THREES_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_THREES_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/dsp_window.h"
#include "runtime/routines/microcontrollers/dsp_output.h"

namespace nnc {

/// A channel of a layer: its weights for three rows of the image, the numbers
/// of its requantization, where a loop over outputs ends, and what each tap
/// column adds outside of the image. The loops in assembly read the first 14
/// words.
struct dsp_three_taps {
  /// Words of two halves: rows 0 and 1 of each tap column, then row 2 of tap
  /// columns 0 and 1, and that of tap column 2.
  int16_t weights[10];
  int32_t multiplier;
  int32_t bias, nudge; ///< bias: with the taps above and below the image
  int32_t right, zero;
  uintptr_t distance; ///< of an output from its column of the image
  int step;           ///< from a pixel to the next one, in bytes
  uintptr_t last;     ///< where the loop ends, in the image
  int32_t extra;      ///< the last taps of the last output of a row
  int stride;
  int32_t channel_bias, channel_shift;
  int shift;        ///< row i of the image meets row i + shift of the window
  bool isUsual;     ///< the requantization is usual
  int fill, lead;   ///< lead: columns of padding on the left
  int down;         ///< from a row of the image to the next one, in bytes
  int lowest;       ///< the lowest row of the image that three rows begin with
  int inner;        ///< bytes of a row of the output without its last pixel
  int tail, beyond; ///< the place of the last tap in a row, in bytes, and how
                    ///< many tap columns of the last output are outside
  int32_t outside[3];

  /// Sets what depends on `shift`. The first weight is *w.
  NNC_ONCE void set(const int8_t *w) {
    const int c = step;
    int32_t above_and_below = 0;
    NNC_KEEP_LOOP for (int j = 0; j < 3; ++j, w += c) {
      int32_t w0 = w[0], w1 = w[3 * c], w2 = w[6 * c];
      for (int i = shift; i > 0; --i) {
        above_and_below += w0;
        w0 = w1, w1 = w2, w2 = 0;
      }
      for (int i = shift; i < 0; ++i) {
        above_and_below += w2;
        w2 = w1, w1 = w0, w0 = 0;
      }
      weights[2 * j] = int16_t(w0);
      weights[2 * j + 1] = int16_t(w1);
      weights[6 + j] = int16_t(w2);
      outside[j] = fill * (w0 + w1 + w2);
    }
    bias = plus(channel_bias, fill * above_and_below);
  }
  /// Returns the products of tap column j and the column of the image at p,
  /// whose pixels are `below` bytes apart.
  NNC_INLINE int32_t column(int j, const int8_t *p, int below) const {
#if defined(NNC_ARM_DSP)
    const int32_t low = p[0], high = p[below];
    uint32_t pair;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(low), "r"(high));
    return add_products(p[2 * below] * weights[6 + j], pair,
                        load_word(weights + 2 * j));
#else
    return p[0] * weights[2 * j] + p[below] * weights[2 * j + 1] +
           p[2 * below] * weights[6 + j];
#endif
  }
  /// Returns the same sum as column(), by a function that is not inlined. It is
  /// for the borders of the image, which a row has once at most.
  NNC_ONCE int32_t border_column(int j, const int8_t *p, int below) const {
    return column(j, p, below);
  }
};

/// Stores the outputs of a row. The last one's last taps are s.extra. With a
/// stride of 1, `first` and `second` are the sums of the windows that begin two
/// columns and one column before p. With a stride of 2, `first` is that of the
/// window that begins one column before p.
NNC_INLINE void dsp_three_outputs(dsp_three_taps &s, const int8_t *p, int down,
                                  int32_t first, int32_t second, int8_t *y) {
#if defined(NNC_ARM_DSP_LOOPS)
  // The loops read some values from registers and the others from copies on the
  // stack, whose addresses need no register of their own.
#define NNC_PUSH(OFFSET)                                                       \
  "ldrd %[x], %[v], [%[t], #" OFFSET "]\n\t"                                   \
  "strd %[x], %[v], [sp, #-8]!\n\t"
// The column of the image at p: rows 0 and 1 as the pair x, and row 2 as v.
#define NNC_COLUMN                                                             \
  "ldrsb %[x], [%[p]]\n\t"                                                     \
  "ldrsb %[t], [%[p], %[down]]\n\t"                                            \
  "ldrsb %[v], [%[p], %[down], lsl #1]\n\t"                                    \
  "pkhbt %[x], %[x], %[t], lsl #16\n\t"
// The requantization of the sum t, to x.
#define NNC_OUTPUT                                                             \
  "ldrd %[x], %[v], [sp, #16]\n\t"                                             \
  "add %[t], %[t], %[x]\n\t"                                                   \
  "asr %[x], %[t], #31\n\t"                                                    \
  "add %[v], %[v], %[x], lsl #31\n\t"                                          \
  "smlal %[v], %[x], %[t], %[m]\n\t"                                           \
  "ldrd %[t], %[v], [sp, #8]\n\t"                                              \
  "asrs %[x], %[x], %[t]\n\t"                                                  \
  "adc %[x], %[x], %[v]\n\t"                                                   \
  "ssat %[x], #8, %[x]\n\t"                                                    \
  "ldrd %[t], %[v], [sp]\n\t"                                                  \
  "strb %[x], [%[p], %[t]]\n\t"                                                \
  "add %[p], %[p], %[v]\n\t"
  s.distance = reinterpret_cast<uintptr_t>(y) - reinterpret_cast<uintptr_t>(p);
  s.last = reinterpret_cast<uintptr_t>(p + s.inner * s.stride);
  const void *t = &s;
  uint32_t x, v, w0, w1, w2, w3, w4, m;
  __asm__ volatile(
      NNC_PUSH("48") NNC_PUSH("24") NNC_PUSH("32") NNC_PUSH("40") //
      "ldrd %[w0], %[w1], [%[t]]\n\t"
      "ldrd %[w2], %[w3], [%[t], #8]\n\t"
      "ldrd %[w4], %[m], [%[t], #16]\n\t"
      "ldr %[x], [%[t], #56]\n\t"
      "ldr %[t], [sp, #24]\n\t"
      "cmp %[x], #1\n\t"
      "bne 4f\n\t"
      "b 3f\n\t"
      "1:\n\t" NNC_COLUMN //
      "smlad %[t], %[x], %[w2], %[first]\n\t"
      "smlad %[first], %[x], %[w1], %[second]\n\t"
      "smuad %[second], %[x], %[w0]\n\t"
      "smlabb %[t], %[v], %[w4], %[t]\n\t"
      "smlabt %[first], %[v], %[w3], %[first]\n\t"
      "smlabb %[second], %[v], %[w3], %[second]\n\t" //
      NNC_OUTPUT                                     //
      "ldr %[t], [sp, #24]\n\t"
      "3:\n\t"
      "cmp %[p], %[t]\n\t"
      "bne 1b\n\t"
      "b 5f\n\t"
      // With a stride of 2, the place in the image moves away from the output.
      "2:\n\t" NNC_COLUMN //
      "smlad %[first], %[x], %[w1], %[first]\n\t"
      "smlabt %[first], %[v], %[w3], %[first]\n\t"
      "ldrd %[t], %[x], [sp]\n\t"
      "sub %[t], %[t], %[x]\n\t"
      "str %[t], [sp]\n\t"
      "add %[p], %[p], %[x]\n\t" //
      NNC_COLUMN                 //
      "smlad %[t], %[x], %[w2], %[first]\n\t"
      "smuad %[first], %[x], %[w0]\n\t"
      "smlabb %[t], %[v], %[w4], %[t]\n\t"
      "smlabb %[first], %[v], %[w3], %[first]\n\t" //
      NNC_OUTPUT                                   //
      "ldr %[t], [sp, #24]\n\t"
      "4:\n\t"
      "cmp %[p], %[t]\n\t"
      "bne 2b\n\t"
      "5:\n\t"
      "ldr %[t], [sp, #28]\n\t"
      "add %[t], %[t], %[first]\n\t" //
      NNC_OUTPUT                     //
      "add sp, #32"
      : [p] "+&r"(p), [first] "+&r"(first), [second] "+&r"(second),
        [t] "+&r"(t), [x] "=&r"(x), [v] "=&r"(v), [w0] "=&r"(w0),
        [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3), [w4] "=&r"(w4),
        [m] "=&r"(m)
      : [down] "r"(down)
      : "cc", "memory");
#undef NNC_PUSH
#undef NNC_COLUMN
#undef NNC_OUTPUT
#else
  const int c = s.step;
  for (const int8_t *last = y + s.inner;; y += c, p += c) {
    int32_t sum = first + s.extra;
    if (y != last && s.stride == 1) {
      sum = first + s.column(2, p, down);
      first = second + s.column(1, p, down);
      second = s.column(0, p, down);
    } else if (y != last) {
      sum = first + s.column(1, p, down);
      p += c;
      sum += s.column(2, p, down);
      first = s.column(0, p, down);
    }
    *y = static_cast<int8_t>(
        dsp_requantize_usual(plus(sum, s.bias), s.multiplier, s.right, s.zero));
    if (y == last)
      return;
  }
#endif
}

/// Stores the outputs of a row for any requantization. x is the
/// first of three rows of the image.
NNC_ONCE_RARELY void dsp_three_unusual(const dsp_layer &s,
                                       const dsp_three_taps &t, const int8_t *x,
                                       int8_t *y) {
  int left = -s.pl;
  for (int8_t *const end = y + t.inner; y <= end; y += t.step, left += s.sw) {
    int32_t sum = t.bias;
    NNC_KEEP_LOOP for (int j = 0; j < 3; ++j) sum +=
        unsigned(left + j) < unsigned(s.window.w)
            ? t.border_column(j, x + (left + j) * t.step, t.down)
            : t.outside[j];
    *y = static_cast<int8_t>(
        dsp_saturate(dsp_rescale(sum, t.multiplier, t.channel_shift) + t.zero));
  }
}

/// Computes a row of a channel, whose first tap is in row `top` of the image. x
/// and w are at the channel.
NNC_ONCE void dsp_three_row(const dsp_layer &s, dsp_three_taps &t,
                            const int8_t *x, const int8_t *w, int8_t *y,
                            int top) {
  const int c = t.step, down = t.down;
  int from = top < t.lowest ? top : t.lowest;
  from = from > 0 ? from : 0;
  if (from - top != t.shift) {
    t.shift = from - top;
    t.set(w);
  }
  x += from * down;
  if (!t.isUsual) {
    dsp_three_unusual(s, t, x, y);
    return;
  }
  int32_t first = t.outside[0], second = 0;
  const int8_t *p = x + t.tail;
  t.extra = t.beyond > 0 ? t.outside[2] : t.border_column(2, p, down);
  if (t.lead == 0) {
    first = t.border_column(0, x, down);
    x += c;
  }
  if (t.stride == 1) {
    first += t.column(1, x, down);
    second = t.column(0, x, down);
    x += c;
  } else {
    t.extra += t.beyond > 1 ? t.outside[1] : t.border_column(1, p - c, down);
  }
  dsp_three_outputs(t, x, down, first, second, y);
}

/// Computes rows [begin, end) of all images, channel by channel.
NNC_ONCE_RARELY void dsp_depthwise_threes(const dsp_layer &s,
                                          const int32_t *bias,
                                          const int32_t *multiplier,
                                          const int32_t *shift, const int8_t *x,
                                          const int8_t *w, int8_t *y, int begin,
                                          int end) {
  const int c = s.window.c, next = s.ow * c;
  dsp_three_taps t;
  t.nudge = 1 << 30;
  t.zero = s.zero;
  t.step = c;
  t.stride = s.sw;
  t.fill = s.window.fill;
  t.lead = s.pl;
  t.down = s.window.w * c;
  t.lowest = s.window.h - 3;
  t.inner = next - c;
  t.tail = t.inner * s.sw + (2 - s.pl) * c;
  t.beyond = (s.ow - 1) * s.sw - s.pl + 3 - s.window.w;
  const int image = s.window.h * t.down;
  x += begin / s.oh * image;
  y += begin * next;
  for (int k = 0; k < c; ++k, ++x, ++w, ++y) {
    t.multiplier = *multiplier;
    t.channel_bias = *bias++;
    t.channel_shift = *shift;
    t.right = dsp_upper_shift(t.channel_shift);
    t.isUsual = dsp_are_usual_channels(multiplier++, shift++, 1);
    t.shift = -4;
    const int8_t *from = x;
    int8_t *to = y;
    int oy = begin % s.oh;
    for (int rows = end - begin; rows > 0; --rows, to += next) {
      dsp_three_row(s, t, from, w, to, oy * s.sh - s.pt);
      if (++oy == s.oh) {
        oy = 0;
        from += image;
      }
    }
  }
  if (s.low > -128 || s.high < 127)
    dsp_clamp(y - c, (end - begin) * next, s.low, s.high);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_THREES_H
