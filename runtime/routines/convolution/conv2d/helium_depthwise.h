//===- helium_depthwise.h - Depthwise convolution, M-profile vectors ------===//
//
// The layer of nhwc.h on x[n][h][w][c] of i8, with its weights w[kh][kw][c].
// Vectors are sixteen channels. A unit is a row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_DEPTHWISE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_DEPTHWISE_H

#include "runtime/routines/convolution/conv2d/helium_walk.h"
#include "runtime/routines/microcontrollers/helium_output.h"
#include "runtime/routines/microcontrollers/helium_products.h"
#include "runtime/routines/pooling/pool2d/window.h"

namespace nnc {

/// Computes the sums of all channels, from the taps at p and their weights at
/// q. Writes sums of whole vectors of sixteen channels.
NNC_NOINLINE inline void helium_sum_taps(const helium_taps &s, const int8_t *p,
                                         const int8_t *q, int32_t *sums) {
  for (int left = s.c; left > 0; left -= 16, p += 16, q += 16, sums += 16) {
#if defined(NNC_ARM_MVE)
    // A product of bytes has 16 bits. The sum of two products may exceed 16
    // bits, so that each product is widened to 32 bits. The sums of bytes 0, 1,
    // 2 and 3 of each word of channels are in q0, q1, q2 and q3, which the
    // stores interleave.
    const int8_t *x = p, *w = q;
    int rows = s.rows;
    __asm__ volatile("vctp.8 %[left]\n\t"
                     "vmov.i32 q0, #0\n\t"
                     "vmov.i32 q1, #0\n\t"
                     "vmov.i32 q2, #0\n\t"
                     "vmov.i32 q3, #0\n\t"
                     "b 4f\n"
                     "2:\n\t"
                     "ldr lr, [%[s], %[columns]]\n\t"
                     "wls lr, lr, 3f\n"
                     "1:\n\t"
                     "vpstt\n\t"
                     "vldrbt.8 q4, [%[x]]\n\t"
                     "vldrbt.8 q5, [%[w]]\n\t"
                     "add %[x], %[across]\n\t"
                     "vmullb.s8 q6, q4, q5\n\t"
                     "add %[w], %[c]\n\t"
                     "vmovlb.s16 q7, q6\n\t"
                     "vadd.i32 q0, q0, q7\n\t"
                     "vmovlt.s16 q7, q6\n\t"
                     "vadd.i32 q2, q2, q7\n\t"
                     "vmullt.s8 q6, q4, q5\n\t"
                     "vmovlb.s16 q7, q6\n\t"
                     "vadd.i32 q1, q1, q7\n\t"
                     "vmovlt.s16 q7, q6\n\t"
                     "vadd.i32 q3, q3, q7\n\t"
                     "le lr, 1b\n"
                     "3:\n\t"
                     "ldr lr, [%[s], %[down]]\n\t"
                     "add %[x], lr\n\t"
                     "ldr lr, [%[s], %[next]]\n\t"
                     "add %[w], lr\n"
                     "4:\n\t"
                     "subs %[rows], #1\n\t"
                     "bge 2b\n\t"
                     "vst40.32 {q0, q1, q2, q3}, [%[sums]]\n\t"
                     "vst41.32 {q0, q1, q2, q3}, [%[sums]]\n\t"
                     "vst42.32 {q0, q1, q2, q3}, [%[sums]]\n\t"
                     "vst43.32 {q0, q1, q2, q3}, [%[sums]]"
                     : [x] "+&r"(x), [w] "+&r"(w), [rows] "+&r"(rows)
                     : [left] "r"(left), [across] "r"(s.across), [c] "r"(s.c),
                       [sums] "r"(sums), [s] "r"(&s),
                       [columns] "i"(offsetof(helium_taps, columns)),
                       [down] "i"(offsetof(helium_taps, down)),
                       [next] "i"(offsetof(helium_taps, next))
                     : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr",
                       "cc", "memory");
#else
    for (int k = 0; k < 16 && k < left; ++k) {
      int32_t sum = 0;
      const int8_t *x = p + k, *w = q + k;
      for (int i = 0; i < s.rows; ++i, x += s.down, w += s.next)
        for (int j = 0; j < s.columns; ++j, x += s.across, w += s.c)
          sum += *x * *w;
      sums[k] = sum;
    }
#endif
  }
}

/// Adds the products of taps outside of the image to the sums.
NNC_NOINLINE inline void helium_add_fill(const helium_layer &s, const int8_t *w,
                                         const pool_range &rows,
                                         const pool_range &columns,
                                         int32_t *sums) {
  for (int i = 0; i < s.kh; ++i)
    for (int j = 0; j < s.kw; ++j, w += s.c)
      if (i < rows.from || i >= rows.to || j < columns.from || j >= columns.to)
        helium_add_multiple(s.fill, w, s.c, sums);
}

/// Computes the sums of the next pixel of a depthwise convolution, whose window
/// lies partly outside of the image.
NNC_NOINLINE inline void helium_sum_part(const helium_walk &walk) {
  const helium_layer &s = walk.s;
  const int c = s.c, top = walk.top, left = helium_left(walk);
  const pool_range rows(top, s.dh, s.kh, 0, s.h);
  const pool_range columns(left, s.dw, s.kw, 0, s.w);
  helium_taps part = walk.whole;
  part.rows = rows.count();
  part.columns = columns.count();
  part.next = (s.kw - part.columns) * c;
  part.down += (s.kw - part.columns) * part.across;
  helium_sum_taps(
      part,
      walk.image +
          ((top + rows.from * s.dh) * s.w + left + columns.from * s.dw) * c,
      walk.w + (rows.from * s.kw + columns.from) * c, walk.sums);
  if (s.fill != 0)
    helium_add_fill(s, walk.w, rows, columns, walk.sums);
}

/// Computes pixels [pixel, last) of a depthwise convolution and stores their
/// sums with `out`.
template <class Out>
NNC_NOINLINE void helium_depthwise(const helium_layer &s, const int8_t *x,
                                   const int8_t *w, unsigned char *scratch,
                                   int pixel, int last, const Out &out) {
  helium_walk walk = helium_start(s, x, w, scratch, pixel, last);
  for (; pixel < last; ++pixel) {
    if (const int8_t *window = helium_whole_window(walk))
      helium_sum_taps(walk.whole, window, w, walk.sums);
    else
      helium_sum_part(walk);
    helium_advance(walk);
    out.store(walk.sums, 0, s.c, ptrdiff_t(pixel) * s.c);
  }
}

template <class S, class Epi> struct conv2d_i32_nhwc_depthwise_helium {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    helium_depthwise(make_helium_layer(s), x, w, scratch, begin * s.ow,
                     end * s.ow,
                     make_helium_output<has_whole_vectors(&S::k)>(epi, y));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_DEPTHWISE_H
