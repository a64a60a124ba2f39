//===- helium.h - 2-D convolution of bytes with Arm's M-profile vectors ---===//
//
// The layer of nhwc.h on x[n][h][w][c] of i8, with its weights w[k][kh][kw][c].
// The window of each of two pixels is one run of bytes, in the image or in a
// copy, and all filters read both. A unit is a row of the output.
//
// The inner loops have run-time sizes and are shared by all layers of a module;
// each layer has its own code to store the results.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_H

#include "runtime/routines/convolution/conv2d/helium_walk.h"
#include "runtime/routines/microcontrollers/helium_output.h"
#include "runtime/routines/microcontrollers/helium_products.h"
#include "runtime/routines/pooling/pool2d/window.h"

namespace nnc {

/// Copies the window whose first tap is at (top, left) to one run of bytes.
NNC_NOINLINE inline void helium_copy_window(const helium_layer &s,
                                            const int8_t *image, int top,
                                            int left, int8_t *to) {
  const int c = s.c;
  const pool_range taps(left, s.dw, s.kw, 0, s.w);
  for (int i = 0; i < s.kh; ++i) {
    const int y = top + i * s.dh;
    const bool outside = y < 0 || y >= s.h;
    to = helium_fill(to, s.fill, (outside ? s.kw : taps.from) * c);
    if (outside)
      continue;
    const int8_t *from = image + (y * s.w + left + taps.from * s.dw) * c;
    if (s.dw == 1)
      to = helium_copy(to, from, taps.count() * c);
    else
      for (int j = taps.count(); j > 0; --j, from += s.dw * c)
        to = helium_copy(to, from, c);
    to = helium_fill(to, s.fill, (s.kw - taps.to) * c);
  }
}

/// Returns the window of the next pixel: in the image if it lies there as one
/// run of bytes, else the copy that is made at `copy`.
NNC_NOINLINE inline const int8_t *helium_next_window(helium_walk &walk,
                                                     int8_t *copy) {
  const helium_layer &s = walk.s;
  const int8_t *window = helium_whole_window(walk);
  if (!walk.has_runs || !window)
    helium_copy_window(s, walk.image, walk.top, helium_left(walk), copy);
  else if (s.kh > 1)
    helium_copy_rows(copy, window, s.kh, s.kw * s.c, s.dh * s.w * s.c);
  const bool is_copied = !walk.has_runs || !window || s.kh > 1;
  helium_advance(walk);
  return is_copied ? copy : window;
}

/// Computes the sums of the next two pixels, or of the last one. Pairs may
/// extend across rows. Returns the number of pixels.
NNC_NOINLINE inline int helium_next_sums(helium_walk &walk) {
  const int left = walk.last - walk.pixel, pixels = left < 2 ? left : 2;
  if (pixels == 0)
    return 0;
  const int taps = walk.taps;
  const int8_t *first, *second;
  if (walk.is_flat) {
    first = walk.x + ptrdiff_t(walk.pixel) * taps;
    second = first + (pixels - 1) * taps;
  } else {
    // Copies of windows lie behind the sums of two pixels.
    auto *copy =
        static_cast<int8_t *>(static_cast<void *>(walk.sums + 2 * walk.rows));
    first = second = helium_next_window(walk, copy);
    if (pixels == 2)
      second = helium_next_window(walk, copy + taps);
  }
  walk.pixel += pixels;
  helium_multiply_two(first, second, walk.w, walk.s.k, taps, walk.sums,
                      walk.rows);
  return pixels;
}

/// Computes pixels [pixel, last) and stores their sums with `out`.
template <class Out>
NNC_NOINLINE void helium_convolve(const helium_layer &s, const int8_t *x,
                                  const int8_t *w, unsigned char *scratch,
                                  int pixel, int last, const Out &out) {
  helium_walk walk = helium_start(s, x, w, scratch, pixel, last);
  ptrdiff_t at = ptrdiff_t(pixel) * s.k;
  while (const int pixels = helium_next_sums(walk)) {
    const int32_t *sums = walk.sums;
    for (int i = 0; i < pixels; ++i, at += s.k, sums += walk.rows)
      out.store(sums, 0, s.k, at);
  }
}

template <class S, class Epi> struct conv2d_i32_nhwc_helium {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    helium_convolve(make_helium_layer(s), x, w, scratch, begin * s.ow,
                    end * s.ow,
                    make_helium_output<has_whole_vectors(&S::k)>(epi, y));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_HELIUM_H
