//===- helium_walk.h - Pixel iteration of helium convolutions -------------===//
//
// Parts that the routines of conv2d/helium.h and helium_depthwise.h share.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_WALK_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_WALK_H

#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/helium_plan.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_portable.h"

namespace nnc {

/// The sizes of a convolution as 16-bit run-time values. fits_helium_layer()
/// has checked that they fit.
struct helium_layer {
  int16_t h, w, c, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, fill;
};
template <class S> constexpr helium_layer make_helium_layer(const S &s) {
  return {int16_t(s.h),  int16_t(s.w),  int16_t(s.c),   int16_t(s.k),
          int16_t(s.kh), int16_t(s.kw), int16_t(s.sh),  int16_t(s.sw),
          int16_t(s.dh), int16_t(s.dw), int16_t(s.pt),  int16_t(s.pl),
          int16_t(s.oh), int16_t(s.ow), int16_t(s.fill)};
}

/// Taps of a window that lie in the image: `rows` rows of `columns` taps, of c
/// channels each. `across` is the distance of columns in the image. `down` and
/// `next` are the distances from the end of a row to the next row, in the image
/// and in the weights. All are in bytes.
struct helium_taps {
  int c, rows, columns, across, down, next;
};

/// An iteration over pixels of y. The next pixel is in column `ox` of row
/// `unit`, and the first row of its window is row `top` of `image`.
struct helium_walk {
  const helium_layer &s;
  const int8_t *x, *w;
  int32_t *sums;  ///< sums of one or two pixels, `rows` apart
  int rows, taps; ///< sums per pixel, and bytes per window
  int pixel, last, unit, ox, top;
  const int8_t *image;
  // The last row and column at which the first tap of a window may lie so that
  // the whole window lies in the image.
  int last_top, last_left;
  // is_flat: each pixel of y reads only the pixel of x at its own position, so
  // that windows are contiguous. has_runs: each row of a window is contiguous
  // in the image.
  bool is_flat, has_runs;
  helium_taps whole; ///< taps of a window that lies in the image
};

NNC_INLINE void helium_start_row(helium_walk &walk) {
  const helium_layer &s = walk.s;
  walk.top = walk.unit % s.oh * s.sh - s.pt;
  walk.image = walk.x + ptrdiff_t(walk.unit / s.oh) * s.h * s.w * s.c;
}
NNC_NOINLINE inline helium_walk helium_start(const helium_layer &s,
                                             const int8_t *x, const int8_t *w,
                                             unsigned char *scratch, int pixel,
                                             int last) {
  const helium_plan p = plan_conv2d_helium(s);
  const int c = s.c;
  helium_walk walk = {
      s,
      x,
      w,
      static_cast<int32_t *>(static_cast<void *>(scratch)),
      p.rows,
      p.taps,
      pixel,
      last,
      pixel / s.ow,
      pixel % s.ow,
      0,
      x,
      s.h - 1 - (s.kh - 1) * s.dh,
      s.w - 1 - (s.kw - 1) * s.dw,
      s.kh == 1 && s.kw == 1 && s.oh == s.h && s.ow == s.w && s.sh == 1 &&
          s.sw == 1 && s.pt == 0 && s.pl == 0,
      s.dw == 1 || s.kw == 1,
      {c, s.kh, s.kw, s.dw * c, (s.dh * s.w - s.kw * s.dw) * c, 0}};
  helium_start_row(walk);
  return walk;
}

/// The first column of the window of the next pixel.
NNC_INLINE int helium_left(const helium_walk &walk) {
  return walk.ox * walk.s.sw - walk.s.pl;
}
/// The window of the next pixel if it lies in the image, else null.
NNC_INLINE const int8_t *helium_whole_window(const helium_walk &walk) {
  const int top = walk.top, left = helium_left(walk);
  const bool is_inside =
      top >= 0 && top <= walk.last_top && left >= 0 && left <= walk.last_left;
  return is_inside ? walk.image + (top * walk.s.w + left) * walk.s.c : nullptr;
}
NNC_INLINE void helium_advance(helium_walk &walk) {
  if (++walk.ox < walk.s.ow)
    return;
  walk.ox = 0;
  ++walk.unit;
  helium_start_row(walk);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_WALK_H
