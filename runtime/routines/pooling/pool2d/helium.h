//===- helium.h - 2-D pooling of bytes with Arm's M-profile vectors -------===//
//
// The layers of nhwc.h on x[n][h][w][c] of i8, sixteen channels at a time. A
// unit is a row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_HELIUM_H
#define NNC_ROUTINES_POOLING_POOL2D_HELIUM_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/helium_products.h"
#include "runtime/routines/pooling/pool2d/taps.h"

namespace nnc {

/// Taps of a window that lie in the image: `rows` rows of `columns` taps, at
/// least one of each. `across` is the distance of taps, `down` the distance
/// from the end of a row to the next row, in bytes.
struct helium_pool {
  int rows, columns, across, down;
};
template <class S>
NNC_INLINE helium_pool make_helium_pool(const S &s, const pool_taps &taps) {
  const int columns = taps.columns.count();
  return {taps.rows.count(), columns, s.dw * s.c,
          (s.dh * s.w - columns * s.dw) * s.c};
}
/// Returns the first tap of a window that lies in the image.
template <class S>
NNC_INLINE const int8_t *first_tap(const S &s, const int8_t *image,
                                   const pool_taps &taps) {
  const int row = taps.top + taps.rows.from * s.dh;
  const int column = taps.left + taps.columns.from * s.dw;
  return image + ptrdiff_t(row * s.w + column) * s.c;
}

/// Stores the largest of the taps at x for `channels` channels, up to sixteen.
NNC_NOINLINE inline void helium_largest(const helium_pool &s, const int8_t *x,
                                        int channels, int8_t *to) {
#if defined(NNC_ARM_MVE)
  int rows = s.rows;
  __asm__ volatile("vctp.8 %[channels]\n\t"
                   "vmov.i8 q0, #128\n"
                   "2:\n\t"
                   "dls lr, %[columns]\n"
                   "1:\n\t"
                   "vpst\n\t"
                   "vldrbt.8 q1, [%[x]]\n\t"
                   "add %[x], %[across]\n\t"
                   "vmax.s8 q0, q0, q1\n\t"
                   "le lr, 1b\n\t"
                   "add %[x], %[down]\n\t"
                   "subs %[rows], #1\n\t"
                   "bne 2b\n\t"
                   "vpst\n\t"
                   "vstrbt.8 q0, [%[to]]"
                   : [x] "+&r"(x), [rows] "+&r"(rows)
                   : [channels] "r"(channels), [columns] "r"(s.columns),
                     [across] "r"(s.across), [down] "r"(s.down), [to] "r"(to)
                   : "q0", "q1", "lr", "cc", "memory");
#else
  for (int c = 0; c < channels && c < 16; ++c) {
    const int8_t *p = x + c;
    int8_t best = -128;
    for (int i = 0; i < s.rows; ++i, p += s.down)
      for (int j = 0; j < s.columns; ++j, p += s.across)
        best = *p > best ? *p : best;
    to[c] = best;
  }
#endif
}

/// Stores the sums of the taps at x, of which there are up to 256, for up to
/// sixteen of `channels` channels. Sums of whole vectors are written.
NNC_NOINLINE inline void helium_sum_pool(const helium_pool &s, const int8_t *x,
                                         int channels, int16_t *sums) {
#if defined(NNC_ARM_MVE)
  // Even channels are in one register, odd ones in the other.
  int rows = s.rows;
  __asm__ volatile(
      "vctp.8 %[channels]\n\t"
      "vmov.i32 q0, #0\n\t"
      "vmov.i32 q1, #0\n"
      "2:\n\t"
      "dls lr, %[columns]\n"
      "1:\n\t"
      "vpst\n\t"
      "vldrbt.8 q2, [%[x]]\n\t"
      "add %[x], %[across]\n\t"
      "vmovlb.s8 q3, q2\n\t"
      "vadd.i16 q0, q0, q3\n\t"
      "vmovlt.s8 q3, q2\n\t"
      "vadd.i16 q1, q1, q3\n\t"
      "le lr, 1b\n\t"
      "add %[x], %[down]\n\t"
      "subs %[rows], #1\n\t"
      "bne 2b\n\t"
      "vst20.16 {q0, q1}, [%[sums]]\n\t"
      "vst21.16 {q0, q1}, [%[sums]]"
      : [x] "+&r"(x), [rows] "+&r"(rows)
      : [channels] "r"(channels), [columns] "r"(s.columns),
        [across] "r"(s.across), [down] "r"(s.down), [sums] "r"(sums)
      : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
#else
  for (int c = 0; c < channels && c < 16; ++c) {
    const int8_t *p = x + c;
    int sum = 0;
    for (int i = 0; i < s.rows; ++i, p += s.down)
      for (int j = 0; j < s.columns; ++j, p += s.across)
        sum += *p;
    sums[c] = static_cast<int16_t>(sum);
  }
#endif
}

/// Calls each(taps, image, at) for each pixel of rows [begin, end) of y, whose
/// first channel is y[at].
template <class S, class F>
NNC_INLINE void for_each_pooled(const S &s, const int8_t *x, int begin, int end,
                                const F &each) {
  for (int unit = begin; unit < end; ++unit) {
    const int8_t *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
    const int top = unit % s.oh * s.sh - s.pt;
    ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.c;
    for (int ox = 0; ox < s.ow; ++ox, at += s.c)
      each(pool_taps(s, top, ox * s.sw - s.pl), image, at);
  }
}

template <class S, class Epi> struct max_pool2d_nhwc_helium {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  static void run(const S &s, const int8_t *x, int8_t *y, const Epi &epi,
                  int begin, int end) {
    for_each_pooled(
        s, x, begin, end,
        [&](const pool_taps &taps, const int8_t *image, ptrdiff_t at) {
          const helium_pool pool = make_helium_pool(s, taps);
          const bool is_empty = pool.rows == 0 || pool.columns == 0;
          for (int c = 0; c < s.c; c += 16) {
            const int8_t *first = first_tap(s, image, taps) + c;
            if (is_same<Epi, none>::value && !is_empty) {
              helium_largest(pool, first, s.c - c, y + at + c);
              continue;
            }
            int8_t largest[16] = {};
            if (!is_empty)
              helium_largest(pool, first, s.c - c, largest);
            for (int i = 0; i < 16 && c + i < s.c; ++i)
              y[at + c + i] =
                  epi(largest[i], position<true>{at + c + i, c + i});
          }
        });
  }
};

/// Means of type T, like those of avg_pool2d_portable, of up to 256 taps.
template <class T, class S, class Epi> struct avg_pool2d_helium_t {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, Y *y, const Epi &epi, int begin,
                  int end) {
    for_each_pooled(
        s, x, begin, end,
        [&](const pool_taps &taps, const int8_t *image, ptrdiff_t at) {
          const helium_pool pool = make_helium_pool(s, taps);
          const bool is_empty = pool.rows == 0 || pool.columns == 0;
          const int count = taps.count(s);
          for (int c = 0; c < s.c; c += 16) {
            int16_t sums[16] = {};
            if (!is_empty)
              helium_sum_pool(pool, first_tap(s, image, taps) + c, s.c - c,
                              sums);
            for (int i = 0; i < 16 && c + i < s.c; ++i)
              y[at + c + i] = epi(mean_of_taps<T>(int32_t(sums[i]), count),
                                  position<true>{at + c + i, c + i});
          }
        });
  }
};

template <class S, class Epi>
using avg_pool2d_i32_nhwc_helium = avg_pool2d_helium_t<float, S, Epi>;
template <class S, class Epi>
using avg_pool2d_rounded_nhwc_helium = avg_pool2d_helium_t<int32_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_HELIUM_H
