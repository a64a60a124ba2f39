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

/// The weights of a channel for three rows of the image: tap column j holds
/// those of rows 0 and 1 as a pair, and that of row 2.
struct dsp_three_weights {
#if defined(NNC_ARM_DSP)
  uint32_t pairs[3];
  uint32_t first_two; // row 2 of tap columns 0 and 1
  int32_t last;       // row 2 of tap column 2

  NNC_INLINE void set(int j, int32_t w0, int32_t w1, int32_t w2) {
    pairs[j] = pair(w0, w1);
    if (j == 0)
      first_two = uint32_t(w2) & 0xffffu;
    else if (j == 1)
      first_two |= uint32_t(w2) << 16;
    else
      last = w2;
  }
  /// Returns the products of tap column j and the column of the image at p.
  NNC_INLINE int32_t column(int j, const int8_t *p, int down) const {
    const int32_t third = j == 0   ? int16_t(first_two & 0xffffu)
                          : j == 1 ? int32_t(first_two) >> 16
                                   : last;
    return add_products(p[2 * down] * third, pair(p[0], p[down]), pairs[j]);
  }

private:
  static NNC_INLINE uint32_t pair(int32_t low, int32_t high) {
    uint32_t v;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(v) : "r"(low), "r"(high));
    return v;
  }
#else
  int32_t taps[3][3];

  NNC_INLINE void set(int j, int32_t w0, int32_t w1, int32_t w2) {
    taps[j][0] = w0, taps[j][1] = w1, taps[j][2] = w2;
  }
  NNC_INLINE int32_t column(int j, const int8_t *p, int down) const {
    return p[0] * taps[j][0] + p[down] * taps[j][1] + p[2 * down] * taps[j][2];
  }
#endif
};

/// A channel of a row of the output: its weights for three rows of the image,
/// what tap columns outside of the image add, and the numbers of the
/// requantization.
struct dsp_three_taps {
  dsp_three_weights weights;
  int32_t outside[3];
  int32_t bias, multiplier, right, zero;

  /// Sets what depends on the rows: row i of the image meets row i + shift of
  /// the window, whose first weight is *w; pixels are c bytes apart.
  NNC_ONCE void set(const int8_t *w, int c, int shift, int fill,
                    int32_t channel_bias) {
    int32_t above_and_below = 0;
    NNC_UNROLL for (int j = 0; j < 3; ++j, w += c) {
      int32_t w0 = w[0], w1 = w[3 * c], w2 = w[6 * c];
      for (int i = shift; i > 0; --i) {
        above_and_below += w0;
        w0 = w1, w1 = w2, w2 = 0;
      }
      for (int i = shift; i < 0; ++i) {
        above_and_below += w2;
        w2 = w1, w1 = w0, w0 = 0;
      }
      weights.set(j, w0, w1, w2);
      outside[j] = fill * (w0 + w1 + w2);
    }
    bias = plus(channel_bias, fill * above_and_below);
  }
  NNC_INLINE int32_t column(int j, const int8_t *p, int down) const {
    return weights.column(j, p, down);
  }
  NNC_INLINE int8_t output(int32_t sum) const {
    return static_cast<int8_t>(
        dsp_requantize_usual(plus(sum, bias), multiplier, right, zero));
  }
};

#if defined(NNC_ARM_DSP_LOOPS)
// The column of the image at p: rows 0 and 1 as the pair x, and row 2 as v.
#define NNC_COLUMN                                                             \
  "ldrsb %[x], [%[p]]\n\t"                                                     \
  "ldrsb %[t], [%[p], %[down]]\n\t"                                            \
  "ldrsb %[v], [%[p], %[down], lsl #1]\n\t"                                    \
  "pkhbt %[x], %[x], %[t], lsl #16\n\t"
// The requantization of the sum t, to x.
#define NNC_OUTPUT                                                             \
  "ldrd %[x], %[v], %[addends]\n\t"                                            \
  "add %[t], %[t], %[x]\n\t"                                                   \
  "asr %[x], %[t], #31\n\t"                                                    \
  "add %[v], %[v], %[x], lsl #31\n\t"                                          \
  "smlal %[v], %[x], %[t], %[m]\n\t"                                           \
  "ldrd %[t], %[v], %[ends]\n\t"                                               \
  "asrs %[x], %[x], %[t]\n\t"                                                  \
  "adc %[x], %[x], %[v]\n\t"                                                   \
  "ssat %[x], #8, %[x]\n\t"
#endif

/// Stores the outputs of a row from y up to `stop`, c bytes apart, with a
/// stride of 1. `first` and `second` are the sums of the windows that begin two
/// columns and one column before p; returns that of the next window.
NNC_INLINE int32_t dsp_three_steps(const dsp_three_taps &s, const int8_t *p,
                                   int c, int down, int32_t first,
                                   int32_t second, int8_t *y, int8_t *stop) {
#if defined(NNC_ARM_DSP_LOOPS)
  const dsp_three_weights &k = s.weights;
  struct {
    int32_t bias, nudge;
  } const addends = {s.bias, 1 << 30};
  struct {
    int32_t right, zero;
  } const ends = {s.right, s.zero};
  // The output is a constant distance from the column of the image.
  struct {
    uintptr_t distance;
    int step;
  } const moves = {
      reinterpret_cast<uintptr_t>(y) - reinterpret_cast<uintptr_t>(p), c};
  const uintptr_t last = reinterpret_cast<uintptr_t>(stop) - moves.distance;
  uint32_t x, t, v;
  __asm__ volatile(
      "1:\n\t" NNC_COLUMN //
      "smlad %[t], %[x], %[w2], %[first]\n\t"
      "smlad %[first], %[x], %[w1], %[second]\n\t"
      "smuad %[second], %[x], %[w0]\n\t"
      "smlabb %[t], %[v], %[w4], %[t]\n\t"
      "smlabt %[first], %[v], %[w3], %[first]\n\t"
      "smlabb %[second], %[v], %[w3], %[second]\n\t" //
      NNC_OUTPUT                                     //
      "ldrd %[t], %[v], %[moves]\n\t"
      "strb %[x], [%[p], %[t]]\n\t"
      "add %[p], %[p], %[v]\n\t"
      "ldr %[t], %[last]\n\t"
      "cmp %[p], %[t]\n\t"
      "bne 1b"
      : [p] "+&r"(p), [first] "+&r"(first), [second] "+&r"(second),
        [x] "=&r"(x), [t] "=&r"(t), [v] "=&r"(v)
      : [w0] "r"(k.pairs[0]), [w1] "r"(k.pairs[1]), [w2] "r"(k.pairs[2]),
        [w3] "r"(k.first_two), [w4] "r"(k.last), [down] "r"(down),
        [m] "r"(s.multiplier), [addends] "m"(addends), [ends] "m"(ends),
        [moves] "m"(moves), [last] "m"(last)
      : "cc", "memory");
#else
  NNC_KEEP_LOOP for (; y != stop; y += c, p += c) {
    const int32_t sum = first + s.column(2, p, down);
    first = second + s.column(1, p, down);
    second = s.column(0, p, down);
    *y = s.output(sum);
  }
#endif
  return first;
}

/// Does this with a stride of 2. `first` is the sum of the window that begins
/// one column before p.
NNC_INLINE int32_t dsp_three_strides(const dsp_three_taps &s, const int8_t *p,
                                     int c, int down, int32_t first, int8_t *y,
                                     int8_t *stop) {
#if defined(NNC_ARM_DSP_LOOPS)
  const dsp_three_weights &k = s.weights;
  struct {
    int32_t bias, nudge;
  } const addends = {s.bias, 1 << 30};
  struct {
    int32_t right, zero;
  } const ends = {s.right, s.zero};
  struct {
    int step;
    int8_t *stop;
  } const moves = {c, stop};
  const int32_t corner = k.last;
  uint32_t x, t, v;
  __asm__ volatile(
      "1:\n\t" NNC_COLUMN //
      "smlad %[first], %[x], %[w1], %[first]\n\t"
      "smlabt %[first], %[v], %[w3], %[first]\n\t"
      "ldr %[t], %[moves]\n\t"
      "add %[p], %[p], %[t]\n\t" //
      NNC_COLUMN                 //
      "smlad %[t], %[x], %[w2], %[first]\n\t"
      "smuad %[first], %[x], %[w0]\n\t"
      "ldr %[x], %[w4]\n\t"
      "smlabb %[t], %[v], %[x], %[t]\n\t"
      "smlabb %[first], %[v], %[w3], %[first]\n\t" //
      NNC_OUTPUT                                   //
      "ldrd %[t], %[v], %[moves]\n\t"
      "strb %[x], [%[y]]\n\t"
      "add %[p], %[p], %[t]\n\t"
      "add %[y], %[y], %[t]\n\t"
      "cmp %[y], %[v]\n\t"
      "bne 1b"
      : [p] "+&r"(p), [y] "+&r"(y), [first] "+&r"(first), [x] "=&r"(x),
        [t] "=&r"(t), [v] "=&r"(v)
      : [w0] "r"(k.pairs[0]), [w1] "r"(k.pairs[1]), [w2] "r"(k.pairs[2]),
        [w3] "r"(k.first_two), [w4] "m"(corner), [down] "r"(down),
        [m] "r"(s.multiplier), [addends] "m"(addends), [ends] "m"(ends),
        [moves] "m"(moves)
      : "cc", "memory");
#else
  NNC_KEEP_LOOP for (; y != stop; y += c, p += 2 * c) {
    const int32_t sum = first + s.column(1, p, down) + s.column(2, p + c, down);
    first = s.column(0, p + c, down);
    *y = s.output(sum);
  }
#endif
  return first;
}
#if defined(NNC_ARM_DSP_LOOPS)
#undef NNC_COLUMN
#undef NNC_OUTPUT
#endif

/// Returns true if windows are known to be 3 x 3 and not dilated.
template <class S> constexpr bool dsp_has_threes() {
  if constexpr (is_member_pointer<decltype(&S::kh)> ||
                is_member_pointer<decltype(&S::kw)> ||
                is_member_pointer<decltype(&S::dh)> ||
                is_member_pointer<decltype(&S::dw)>)
    return false;
  else
    return S::kh == 3 && S::kw == 3 && S::dh == 1 && S::dw == 1;
}

/// Returns true if dsp_three_row() can compute a layer: windows of 3 x 3 taps,
/// with at most one column of padding on the left and s.sw columns on the
/// right.
NNC_INLINE bool dsp_are_threes(const dsp_layer &s) {
  const dsp_window &d = s.window;
  return d.kh == 3 && d.kw == 3 && d.dh == 1 && d.dw == 1 && d.h >= 3 &&
         d.w >= 3 && s.sw <= 2 && s.pl <= 1 && s.pl >= 0 &&
         (s.ow - 1) * s.sw - s.pl + 3 - d.w <= s.sw;
}

/// Computes a row of channel k of any layer, whose first tap is in row `top` of
/// the image. This is for the few channels that dsp_three_row() does not take.
NNC_ONCE void dsp_depthwise_channel(const dsp_layer &s, const requantization &r,
                                    const int8_t *image, const int8_t *w,
                                    int8_t *y, int k, int top) {
  const dsp_window d = s.window;
  const int across = (d.kw - 1) * d.dw;
  const bool rowsInside = top >= 0 && top + (d.kh - 1) * d.dh < d.h;
  int left = -s.pl;
  for (int8_t *stop = y + s.ow * d.c; y != stop; y += d.c, left += s.sw) {
    int32_t sum = r.bias[k];
    const int8_t *tap = w + k, *row = image + (top * d.w + left) * d.c + k;
    const bool isInside = rowsInside && left >= 0 && left + across < d.w;
    NNC_KEEP_LOOP for (int i = 0; i < d.kh; ++i, row += d.dh * d.w * d.c) {
      const int8_t *p = row;
      const int iy = top + i * d.dh, step = d.dw * d.c;
      if (isInside) {
        NNC_KEEP_LOOP for (int j = d.kw; j > 0; --j, p += step, tap += d.c)
            sum = plus(sum, int32_t(*p * *tap));
        continue;
      }
      NNC_KEEP_LOOP for (int j = 0; j < d.kw; ++j, p += step, tap += d.c) {
        const int ix = left + j * d.dw;
        const bool isPixel = iy >= 0 && iy < d.h && ix >= 0 && ix < d.w;
        sum = plus(sum, int32_t((isPixel ? *p : d.fill) * *tap));
      }
    }
    const int32_t v = dsp_rescale(sum, r.multiplier[k], r.shift[k]) + r.zero;
    *y = static_cast<int8_t>(dsp_saturate(v));
  }
}

/// Computes a row of a channel. x is the first of the three rows that `t` is
/// for.
NNC_ONCE void dsp_three_row(const dsp_layer &s, const dsp_three_taps &t,
                            const int8_t *x, int8_t *y) {
  const int c = s.window.c, down = s.window.w * c;
  int columns = s.window.w - 1;
  int32_t first;
  if (s.pl == 0) {
    first = t.column(0, x, down);
    x += c;
  } else {
    first = t.outside[0];
    ++columns;
  }
  // x is at the second column of the first window, and `columns` are left.
  int whole = s.sw == 1 ? columns - 1 : columns / 2;
  if (whole > s.ow)
    whole = s.ow;
  int8_t *const stop = y + whole * c;
  if (s.sw == 1) {
    first += t.column(1, x, down);
    first = dsp_three_steps(t, x + c, c, down, first, t.column(0, x, down), y,
                            stop);
  } else {
    first = dsp_three_strides(t, x, c, down, first, y, stop);
    if (whole < s.ow)
      first += (columns & 1) != 0 ? t.column(1, x + (columns - 1) * c, down)
                                  : t.outside[1];
  }
  if (whole < s.ow)
    *stop = t.output(first + t.outside[2]);
}

/// Computes rows [begin, end) of all images, channel by channel.
NNC_ONCE void dsp_depthwise_threes(const dsp_layer &s, const requantization &r,
                                   const int8_t *x, const int8_t *w, int8_t *y,
                                   int begin, int end) {
  const int c = s.window.c, h = s.window.h, row = s.window.w * c;
  const bool areThrees = dsp_are_threes(s);
  dsp_three_taps t;
  t.zero = r.zero;
  for (int k = 0; k < c; ++k) {
    const bool isThree = areThrees && dsp_are_usual_channels(r, k, 1);
    t.multiplier = r.multiplier[k];
    t.right = dsp_upper_shift(r.shift[k]);
    const int8_t *image = x + begin / s.oh * h * row;
    int8_t *out = y + begin * s.ow * c + k;
    int oy = begin % s.oh, shift = -4;
    for (int i = begin; i < end; ++i, out += s.ow * c) {
      const int top = oy * s.sh - s.pt;
      if (!isThree) {
        dsp_depthwise_channel(s, r, image, w, out, k, top);
      } else {
        const int from = top < 0 ? 0 : top > h - 3 ? h - 3 : top;
        if (from - top != shift) {
          shift = from - top;
          t.set(w + k, c, shift, s.window.fill, r.bias[k]);
        }
        dsp_three_row(s, t, image + from * row + k, out);
      }
      if (++oy == s.oh) {
        oy = 0;
        image += h * row;
      }
    }
  }
  if (r.low > -128 || r.high < 127)
    dsp_clamp(y + begin * s.ow * c, (end - begin) * s.ow * c, r.low, r.high);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_THREES_H
