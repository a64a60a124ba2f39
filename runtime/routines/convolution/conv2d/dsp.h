//===- dsp.h - 2-D convolution of bytes with Arm's DSP extension ----------===//
//
// The layer of nhwc.h on x[n][h][w][c] of i8. The window of each of two pixels
// of a row is copied to a column of pairs, which all filters read. Weights of
// filters in twos are w[k / 2][kh][kw][c / 4][2][4]; those of depthwise
// convolutions are w[kh][kw][k]. A unit is a row of the output.
//
// The inner loops have run-time sizes and are shared by all layers of a module;
// each layer has its own code to store the results.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/dsp_threes.h"
#include "runtime/routines/convolution/conv2d/dsp_window.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/microcontrollers/dsp_plan.h"
#include "runtime/routines/microcontrollers/dsp_products.h"
#include "runtime/routines/pooling/pool2d/window.h"

namespace nnc {

/// The routine. With one channel, filters are stored as w[k / 2][kh][kw /
/// 4][2][4].
template <class S, class Epi> struct conv2d_i32_nhwc_armdsp {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    run_filters(s, x, w, y, scratch, epi, begin, end, all_filters(s));
  }

  /// Computes the channels of some filters. w holds only the weights of these.
  template <class Y>
  static NNC_INLINE void run_filters(const S &s, const int8_t *x,
                                     const int8_t *w, Y *y,
                                     unsigned char *scratch, const Epi &epi,
                                     int begin, int end, filter_range filters) {
    const dsp_plan p = plan_conv2d_dsp(s, filters.count);
    auto *columns = static_cast<uint32_t *>(static_cast<void *>(scratch));
    if constexpr (requantizes<Epi>::value) {
      with_dsp_layer<Epi>(s, [&](const dsp_layer &layer) {
        const requantization r = make_requantization(epi);
        const int first = filters.first;
        dsp_convolve(layer, r.bias + first, r.multiplier + first,
                     r.shift + first, x, w, y + first, columns, filters.count,
                     begin, end);
      });
      return;
    }
    const dsp_window window = make_dsp_window(s);
    auto *sums = static_cast<int32_t *>(
        static_cast<void *>(scratch + 2 * p.column_bytes()));
    // Pairs of pixels may extend across rows.
    const int last = end * s.ow;
    for (int pixel = begin * s.ow; pixel < last; pixel += 2) {
      const int pixels = last - pixel < 2 ? 1 : 2;
      for (int i = 0; i < pixels; ++i) {
        const int unit = (pixel + i) / s.ow, ox = (pixel + i) % s.ow;
        dsp_gather(window, x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c,
                   unit % s.oh * s.sh - s.pt, ox * s.sw - s.pl,
                   columns + 2 * i);
      }
      dsp_multiply_two(columns, w, filters.count, p.words, sums, p.rows);
      for (int i = 0; i < pixels; ++i)
        dsp_store(epi, sums + i * p.rows, filters.first, filters.count, y,
                  ptrdiff_t(pixel + i) * s.k + filters.first);
    }
  }
};

template <class S, class Epi>
using conv2d_i32_nhwc_first_armdsp = conv2d_i32_nhwc_armdsp<S, Epi>;

/// Adds the products of four channels of `count` neighbouring taps, at least
/// one. The pixels at p are `across` bytes apart, the weights at q `step`
/// bytes.
NNC_INLINE void dsp_add_taps(const int8_t *p, const int8_t *q, int across,
                             int step, int count, int32_t (&s)[4]) {
#if defined(NNC_ARM_DSP_LOOPS)
  uint32_t a, b, t, u;
  __asm__ volatile(
      "1:\n\t"
      "ldr %[a], [%[p]]\n\tldr %[b], [%[q]]\n\t"
      "add %[p], %[across]\n\tadd %[q], %[step]\n\t"
      "sxtb16 %[t], %[a]\n\tsxtb16 %[u], %[b]\n\t"
      "sxtb16 %[a], %[a], ror #8\n\tsxtb16 %[b], %[b], ror #8\n\t"
      "smlabb %[s0], %[t], %[u], %[s0]\n\tsmlatt %[s2], %[t], %[u], %[s2]\n\t"
      "smlabb %[s1], %[a], %[b], %[s1]\n\tsmlatt %[s3], %[a], %[b], %[s3]\n\t"
      "subs %[count], #1\n\t"
      "bne 1b"
      : [s0] "+&r"(s[0]), [s1] "+&r"(s[1]), [s2] "+&r"(s[2]), [s3] "+&r"(s[3]),
        [p] "+&r"(p), [q] "+&r"(q), [count] "+&r"(count), [a] "=&r"(a),
        [b] "=&r"(b), [t] "=&r"(t), [u] "=&r"(u)
      : [across] "r"(across), [step] "r"(step)
      : "cc", "memory");
#else
  for (; count > 0; --count, p += across, q += step) {
#if defined(NNC_ARM_DSP)
    const uint32_t v = load_word(p), w = load_word(q);
    const uint32_t even = even_bytes(v), odd = odd_bytes(v);
    s[0] = add_low_product(s[0], even, even_bytes(w));
    s[2] = add_high_product(s[2], even, even_bytes(w));
    s[1] = add_low_product(s[1], odd, odd_bytes(w));
    s[3] = add_high_product(s[3], odd, odd_bytes(w));
#else
    NNC_UNROLL for (int i = 0; i < 4; ++i) s[i] = add_product(s[i], p[i], q[i]);
#endif
  }
#endif
}

/// Taps of a window that lie in the image: `rows` rows of `columns` taps, of c
/// channels each. `across` and `down` are the distances of columns and rows in
/// the image, c and `next` those in the weights, in bytes.
struct dsp_taps {
  int c, rows, columns, across, down, next;
};

/// Computes the sums of all channels, from the taps at p and their weights at
/// q.
NNC_ONCE void dsp_sum_taps(const dsp_taps &s, const int8_t *p, const int8_t *q,
                           int32_t *sums) {
  for (int32_t *end = sums + s.c; sums != end; sums += 4, p += 4, q += 4) {
    int32_t four[4] = {};
    const int8_t *x = p, *w = q;
    for (int i = s.columns > 0 ? s.rows : 0; i > 0; --i) {
      dsp_add_taps(x, w, s.across, s.c, s.columns, four);
      x += s.down, w += s.next;
    }
    NNC_UNROLL for (int i = 0; i < 4; ++i) sums[i] = four[i];
  }
}

/// Adds the products of taps outside of the image to the sums.
NNC_ONCE void dsp_add_fill(const dsp_window &s, const int8_t *w,
                           const pool_range &rows, const pool_range &columns,
                           int32_t *sums) {
  for (int i = 0; i < s.kh; ++i)
    for (int j = 0; j < s.kw; ++j, w += s.c)
      if (i < rows.from || i >= rows.to || j < columns.from || j >= columns.to)
        for (int c = 0; c < s.c; ++c)
          sums[c] += s.fill * w[c];
}

/// Computes the sums of all channels, a multiple of four, of a pixel of a
/// depthwise convolution.
NNC_ONCE void dsp_depthwise(const dsp_window &s, const int8_t *image,
                            const int8_t *w, int top, int left, int32_t *sums) {
  const int c = s.c;
  const pool_range rows(top, s.dh, s.kh, 0, s.h);
  const pool_range columns(left, s.dw, s.kw, 0, s.w);
  const int8_t *p =
      image + ((top + rows.from * s.dh) * s.w + left + columns.from * s.dw) * c;
  const int8_t *q = w + (rows.from * s.kw + columns.from) * c;
  const dsp_taps taps = {c,        rows.count(),   columns.count(),
                         s.dw * c, s.dh * s.w * c, s.kw * c};
  dsp_sum_taps(taps, p, q, sums);
  if (s.fill != 0 && (rows.count() < s.kh || columns.count() < s.kw))
    dsp_add_fill(s, w, rows, columns, sums);
}

/// Computes rows [begin, end) of all images of a depthwise convolution with a
/// requantization. `sums` is memory for a sum of each channel.
NNC_ONCE void dsp_depthwise_rows(const dsp_layer &s, const requantization &r,
                                 const int8_t *x, const int8_t *w, int8_t *y,
                                 int32_t *sums, int begin, int end) {
  const dsp_window &d = s.window;
  y += begin * s.ow * d.c;
  for (int unit = begin; unit < end; ++unit) {
    const int top = unit % s.oh * s.sh - s.pt;
    const int8_t *image = x + unit / s.oh * d.h * d.w * d.c;
    for (int ox = 0; ox < s.ow; ++ox, y += d.c) {
      dsp_depthwise(d, image, w, top, ox * s.sw - s.pl, sums);
      dsp_requantize(sums, 0, d.c, r, y);
    }
  }
}

/// The routine for windows of any size.
template <class S, class Epi> struct conv2d_i32_nhwc_depthwise_taps_armdsp {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    auto *sums = static_cast<int32_t *>(static_cast<void *>(scratch));
    if constexpr (requantizes<Epi>::value) {
      with_dsp_layer<Epi>(s, [&](const dsp_layer &layer) {
        const requantization r = make_requantization(epi);
        dsp_depthwise_rows(layer, r, x, w, y, sums, begin, end);
      });
      return;
    }
    const dsp_window window = make_dsp_window(s);
    for (int unit = begin; unit < end; ++unit) {
      const int top = unit % s.oh * s.sh - s.pt;
      const int8_t *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.k;
      for (int ox = 0; ox < s.ow; ++ox) {
        dsp_depthwise(window, image, w, top, ox * s.sw - s.pl, sums);
        dsp_store(epi, sums, 0, s.k, y, at);
        at += s.k;
      }
    }
  }
};

/// The routine for windows for which are_dsp_threes() holds.
template <class S, class Epi> struct conv2d_i32_nhwc_depthwise_armdsp {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    if constexpr (requantizes<Epi>::value) {
      with_dsp_layer<Epi>(s, [&](const dsp_layer &layer) {
        const requantization r = make_requantization(epi);
        dsp_depthwise_threes(layer, r.bias, r.multiplier, r.shift, x, w, y,
                             begin, end);
      });
    } else {
      using any = conv2d_i32_nhwc_depthwise_taps_armdsp<S, Epi>;
      any::run(s, x, w, y, scratch, epi, begin, end);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_H
